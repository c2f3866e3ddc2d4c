"""Judges compared with people."""
