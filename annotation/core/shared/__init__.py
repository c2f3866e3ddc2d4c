"""State shared by processes and hosts (files, limits, the clock), and the clients of requests."""
