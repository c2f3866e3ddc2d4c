"""The program `coverdict` and the pytest plugin. Django is imported only by commands that need it."""
