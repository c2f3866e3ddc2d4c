"""Systems compared with each other."""
