"""Trials of new guidelines: checks are answered again, and the change of answers is measured before it counts."""
