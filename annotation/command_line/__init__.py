"""The program `coverdict` and the pytest plugin. Only commands that need Django import it."""
