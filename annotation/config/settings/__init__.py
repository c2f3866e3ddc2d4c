"""Settings: a module per environment (local, demo, test, production), each based on base."""
