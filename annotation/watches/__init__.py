"""Watches of streams of summaries."""
