"""The admin door: Django's own admin, limited to one's projects; importing a module registers its rows."""

from annotation.admin import (
    accounts,
    adjudication,
    assessing,
    claim,
    dispute,
    judge,
    people,
    project,
    run,
    scores,
    texts,
)

__all__ = [
    "accounts",
    "adjudication",
    "assessing",
    "claim",
    "dispute",
    "judge",
    "people",
    "project",
    "run",
    "scores",
    "texts",
]
