"""Erasing a person, removing deleted projects, and applying retention periods."""
