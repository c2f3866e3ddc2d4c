"""Modules that at least four subjects use."""
