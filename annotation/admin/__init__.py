"""The admin door: Django's own admin, one module a noun, limited to one's projects."""

from annotation.admin import (
    adjudication,
    assignment,
    claim,
    document,
    event,
    judge,
    judgment,
    membership,
    project,
    prompt,
    published,
    question,
    run,
    score,
    summary,
)

__all__ = [
    "adjudication",
    "assignment",
    "claim",
    "document",
    "event",
    "judge",
    "judgment",
    "membership",
    "project",
    "prompt",
    "published",
    "question",
    "run",
    "score",
    "summary",
]
