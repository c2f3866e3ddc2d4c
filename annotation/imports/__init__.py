"""Imports: read files and pushed rows into typed rows, check them, and write them in one transaction."""
