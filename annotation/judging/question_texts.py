"""Rules for closed questions about a document set."""

from __future__ import annotations

from collections.abc import Sequence

from annotation.core.text_faults import text_fault

MAX_QUESTION_CHARACTERS = 1000
MOST_QUESTIONS = 100
"""The maximum length of a question, and number of active questions of a document set."""


def question_key(text: str) -> str:
    """A key that is equal for questions that differ only in spacing and capitals."""
    return " ".join(text.split()).casefold()


def questions_fault(texts: Sequence[str]) -> str:
    """Describe the fault of a list of questions about a document set; "" if there is none.

    The result continues a sentence that begins with the name of the list.
    Example: `questions_fault(["Did it rain?", ""])` is "holds a question, number 2, that contains no words."
    """
    if len(texts) > MOST_QUESTIONS:
        return f"holds {len(texts):,} questions; a document set may have {MOST_QUESTIONS}."
    places: dict[str, int] = {}
    for place, text in enumerate(texts, start=1):
        reason = _fault(text)
        if reason:
            return f"holds a question, number {place}, that {reason}"
        before = places.setdefault(question_key(text), place)
        if before != place:
            return f"holds the same question twice, as number {before} and number {place}."
    return ""


def _fault(text: str) -> str:
    if not any(character.isalnum() for character in text):
        return "contains no words."
    if len(text) > MAX_QUESTION_CHARACTERS:
        return f"has {len(text):,} characters; a question may have {MAX_QUESTION_CHARACTERS:,}."
    return text_fault(text)
