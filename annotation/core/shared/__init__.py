"""State that processes and hosts share (files, limits, the clock), and the clients of requests."""
