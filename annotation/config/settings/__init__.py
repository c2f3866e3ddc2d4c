"""One settings module per environment (local, demo, test, production), all based on base."""
