"""Erase a person, remove deleted projects, and apply retention periods."""
