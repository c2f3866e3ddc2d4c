"""A whole project as one file that can be restored."""
