"""Criteria as lines of text, for forms."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from django import forms

from evaluation.metrics import Criterion, counted

HELP = (
    "One question per line: name, question and answers, as in “clear: Is it clear? | no | partly | yes”. Answers are "
    "numbered from 0; “clear (1): …” starts at 1. Without answers it is yes or no; “| percent” takes 0 to 100. In "
    "brackets also: after (asked once the reference units are judged), lower is better, with reference, with source, "
    "unmarked units. A changed question starts over; answers to the old one are kept in exports."
)
PERCENT = "percent"
_OPTIONS: dict[str, dict[str, Any]] = {
    "lower is better": {"higher_is_better": False},
    "after": {"asked": "after"},
    "with reference": {"reads": "reference"},
    "with source": {"reads": "source"},
    "unmarked units": {"reads": "unmarked"},
}
_LINE = re.compile(r"(?P<name>[^:(]*?)\s*(?:\((?P<options>[^)]*)\))?\s*:(?P<rest>.*)")
_BAR = re.compile(r"(?<!\\)\|")
_PERCENT = re.compile(r"(\d{1,3}) %")


def as_lines(criteria: Iterable[Criterion]) -> str:
    r"""Write criteria as lines that `from_lines` reads back. A bar within a text is written as \|.

    >>> as_lines([Criterion("clear", "Is it clear?", points=((1, "no"), (2, "yes")), asked="after")])
    'clear (1, after): Is it clear? | no | yes'
    """
    return "\n".join(map(_as_line, criteria))


def from_lines(text: str) -> list[Criterion]:
    """Read criteria from lines. Raises ValidationError with the number of the line.

    >>> from_lines("clear: Is it clear?")[0].choices
    ((0, 'no'), (1, 'yes'))
    """
    return [
        _criterion(number, line) for number, line in enumerate(text.splitlines(), start=1) if line.strip()
    ]


class CriterionLines(forms.CharField):
    """A form field that shows each criterion as one line."""

    widget = forms.Textarea(attrs={"rows": 5, "spellcheck": "false"})

    def prepare_value(self, value: Any) -> Any:
        return value if isinstance(value, str) else as_lines(value or [])

    def to_python(self, value: Any) -> Any:
        return from_lines(super().to_python(value) or "")

    def has_changed(self, initial: Any, data: Any) -> bool:
        return bool(self.prepare_value(initial) != (data or "").replace("\r\n", "\n"))


def _as_line(criterion: Criterion) -> str:
    choices = criterion.choices if criterion.scale != "yes_no" else ()
    options = [name for name, given in _OPTIONS.items() if replace(criterion, **given) == criterion]
    if criterion.scale == "points" and choices[0][0]:
        options.insert(0, str(choices[0][0]))
    answers = [PERCENT] if criterion.scale == "percent" and not choices else [words for _, words in choices]
    words = (" ".join(each.split()).replace("|", r"\|") for each in (criterion.question, *answers))
    head = f"{criterion.name} ({', '.join(options)})" if options else criterion.name
    return f"{head}: {' | '.join(words)}"


def _criterion(number: int, line: str) -> Criterion:
    read = _LINE.fullmatch(line.strip())
    if read is None:
        raise forms.ValidationError(f"Line {number} has no name: write “name: question | answer | answer”.")
    question, *answers = (part.strip().replace(r"\|", "|") for part in _BAR.split(read["rest"]))
    first = 0
    columns: dict[str, Any] = {}
    for option in filter(None, (each.strip() for each in (read["options"] or "").split(","))):
        if option.isdecimal():
            first = int(option)
        elif option in _OPTIONS:
            columns |= _OPTIONS[option]
        else:
            raise forms.ValidationError(f"Line {number}: “{option}” is not known; use {', '.join(_OPTIONS)}.")
    percents = [_PERCENT.fullmatch(answer) for answer in answers]
    if not answers:
        columns["scale"] = "yes_no"
    elif answers == [PERCENT]:
        columns["scale"] = "percent"
    elif all(percents):
        columns |= {"scale": "percent", "points": tuple((int(each[1]), "") for each in percents if each)}
    else:
        columns["points"] = counted(tuple(answers), first)
    return Criterion(read["name"], question, **columns)
