"""Modules that at least four other subjects (packages of this application) use."""
