"""The documentation of `docs/`, served by the app itself under /help/."""
