"""Serve the documentation of `docs/` under /help/."""
