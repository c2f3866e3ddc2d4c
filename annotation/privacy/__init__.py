"""Erasing a person, removing deleted projects, and how long things are kept: the exceptions to keeping everything."""
