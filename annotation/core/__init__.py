"""Modules that at least four subjects of the application use."""
