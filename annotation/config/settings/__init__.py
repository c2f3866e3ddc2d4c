"""One module per place that Coverdict runs in: local, demo, test and production, all on top of base."""
