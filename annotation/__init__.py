"""Coverdict's Django app: models, pages, API, admin, tasks and exports around the library `evaluation`."""

__version__ = "0.1.0"
