"""What every subject stands on."""
