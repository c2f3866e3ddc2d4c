"""Webhooks: who is told by HTTP that a run, an export or a sample is finished."""
