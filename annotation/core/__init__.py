"""Modules that several packages share."""
