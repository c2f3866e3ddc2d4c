"""A project's own quality questions as lines of text, which people write in place of JSON."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from django import forms

HELP = (
    "One question per line: name, question and answers, as in “clear: Is it clear? | no | yes”. Answers are "
    "numbered from 0; “clear (1): …” starts at 1."
)
_LINE = re.compile(r"(?P<id>[^:(]*?)\s*(?:\((?P<first>\d{1,3})\))?\s*:(?P<rest>.*)")
_BAR = re.compile(r"(?<!\\)\|")
Question = Mapping[str, Any]


def as_lines(questions: Iterable[Question]) -> str:
    r"""Questions as lines; `from_lines` reads them back. A bar inside of words is written as \|.

    >>> as_lines([{"id": "clear", "text": "Is it clear?", "answers": ["no", "yes"], "first": 1}])
    'clear (1): Is it clear? | no | yes'
    """
    return "\n".join(_as_line(question) for question in questions)


def from_lines(text: str) -> list[dict[str, Any]]:
    """What some lines say, as `own_questions` of evaluation takes it. Raises ValidationError with the line.

    >>> from_lines("clear: Is it clear? | no | yes")
    [{'id': 'clear', 'text': 'Is it clear?', 'answers': ['no', 'yes']}]
    """
    return [_question(number, line) for number, line in enumerate(text.splitlines(), start=1) if line.strip()]


class QuestionLines(forms.CharField):
    """The questions in a form, a line each."""

    widget = forms.Textarea(attrs={"rows": 5, "spellcheck": "false"})

    def prepare_value(self, value: Any) -> Any:
        return value if isinstance(value, str) else as_lines(value or [])

    def to_python(self, value: Any) -> Any:
        return from_lines(super().to_python(value) or "")

    def has_changed(self, initial: Any, data: Any) -> bool:
        return bool(self.prepare_value(initial) != (data or "").replace("\r\n", "\n"))


def _as_line(question: Question) -> str:
    words = (" ".join(each.split()).replace("|", r"\|") for each in (question["text"], *question["answers"]))
    first = f" ({question['first']})" if question.get("first") else ""
    return f"{question['id']}{first}: {' | '.join(words)}"


def _question(number: int, line: str) -> dict[str, Any]:
    read = _LINE.fullmatch(line.strip())
    if read is None:
        raise forms.ValidationError(f"Line {number} has no name: write “name: question | answer | answer”.")
    text, *answers = (part.strip().replace(r"\|", "|") for part in _BAR.split(read["rest"]))
    first = {"first": int(read["first"])} if read["first"] else {}
    return {"id": read["id"], "text": text, "answers": answers, **first}
