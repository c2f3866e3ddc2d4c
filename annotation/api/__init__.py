"""Shared parts of the JSON API."""
