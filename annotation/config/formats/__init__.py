"""Formats of dates and times by language, with 24 hours."""
