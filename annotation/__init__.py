"""Coverdict's one Django app: rows, forms, admin, API, tasks, exports around the pure `evaluation`."""

__version__ = "0.1.0"
