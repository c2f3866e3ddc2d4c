"""The program `coverdict` and the pytest plugin. Django is imported only where it is needed."""
