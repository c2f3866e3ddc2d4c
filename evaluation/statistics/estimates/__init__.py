"""What people would say of all, from what they said of a few."""
