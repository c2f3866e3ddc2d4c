"""Watches: streams of pushed summaries that are judged by period and compared with a reference."""
