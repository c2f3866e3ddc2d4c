"""Exports of a project."""
