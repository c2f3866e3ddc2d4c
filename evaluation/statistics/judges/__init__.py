"""Judges held against people."""
