"""The documentation of `docs/`, served under /help/."""
