"""Shared parts of pages."""
