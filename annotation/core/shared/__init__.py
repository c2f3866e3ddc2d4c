"""What processes and hosts share: files that outlast a request, and what is counted for a stretch of the clock."""
