"""Files of summaries and pushed rows: read into typed rows, checked, and written set by set in one transaction."""
