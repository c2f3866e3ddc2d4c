"""Import files and pushed rows."""
