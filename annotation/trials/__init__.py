"""Trials of new guidelines."""
