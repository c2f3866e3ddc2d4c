"""Archives of whole projects, checked and restored."""
