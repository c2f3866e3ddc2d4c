"""Exports: the module of each level yields rows, and `write` turns them into a file with a manifest."""
