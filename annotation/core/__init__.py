"""Modules that at least four packages of the application use."""
