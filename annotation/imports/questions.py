"""The questions of a document in a file, and what is wrong with questions that people or files give."""

from __future__ import annotations

from collections.abc import Sequence

from annotation.imports.fields import Fields, printable, text_fault
from annotation.imports.streams import NotJson, load_json
from annotation.models.question import MAX_QUESTION_CHARACTERS, MOST_QUESTIONS, question_key

FIELD = "questions"


def read_questions(fields: Fields) -> tuple[str, ...]:
    """The closed questions of a record: a list of texts, a list written as JSON, or one a line.

    None where there are none; whatever is wrong with them is noted in `fields`.
    """
    value = fields.raw(FIELD)
    if isinstance(value, str):
        try:
            value = _from_text(value)
        except NotJson as error:
            fields.complain(FIELD, str(error))
            return ()
    if value is None:
        return ()
    if not isinstance(value, list | tuple):
        fields.complain(FIELD, f"is {_shown(value)}, not a list of questions.")
        return ()
    wrong = next((text for text in value if not isinstance(text, str)), None)
    texts = tuple(text.strip() for text in value if isinstance(text, str))
    reason = questions_fault(texts) if len(texts) == len(value) else f"holds {_shown(wrong)}, not a text."
    if reason:
        fields.complain(FIELD, reason)
        return ()
    return texts


def questions_fault(texts: Sequence[str]) -> str:
    """Why these cannot be the questions about one document set; "" where they can.

    The sentence goes on from the name of what holds them.
    Example: `questions_fault(["Did it rain?", ""])` is "holds a question, number 2, that is empty."
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


def _from_text(value: str) -> object:
    """The value of a cell: a list as JSON where it begins like one, else one question a line."""
    if value.lstrip().startswith(("[", "{")):
        return load_json(value)
    return [line for line in value.splitlines() if line.strip()]


def _fault(text: str) -> str:
    if not text.strip():
        return "is empty."
    if not any(character.isalnum() for character in text):
        return "holds no words."
    if len(text) > MAX_QUESTION_CHARACTERS:
        return f"has {len(text):,} characters; a question may have {MAX_QUESTION_CHARACTERS:,}."
    return text_fault(text)


def _shown(value: object) -> str:
    is_short = isinstance(value, bool | float) or (isinstance(value, int) and abs(value) < 10**18)
    return printable(repr(value)) if is_short else f"a {type(value).__name__}"
