"""By what an installed Coverdict is called: the program `coverdict` and pytest. Django is loaded where it is needed."""
