"""Exports: each level is a module that yields rows; `write` turns them into a file with a manifest."""
