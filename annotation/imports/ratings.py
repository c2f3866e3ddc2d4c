"""Read people's ratings of summaries from columns and objects."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from annotation.core.text_faults import printable, text_fault
from annotation.imports.layout import CRITERIA, indexed, plain
from annotation.imports.row import MAX_NAME_CHARACTERS, RATER, RATER_NAMES, RatingData, opened, shown

MAX_CRITERION_CHARACTERS = 40
_WHO = r"(?:(?:expert|annotator|rater|worker|turker|crowd|human)s?|[a-z](?=\d))"
_RATER_FIRST = re.compile(rf"(?P<who>{_WHO}[\s_.\-]*\d*)[\s_.\-]+(?P<what>.+)", re.IGNORECASE)
_RATER_LAST = re.compile(rf"(?P<what>.+?)[\s_.\-]+(?P<who>{_WHO}[\s_.\-]*\d*)", re.IGNORECASE)
_RATER_IN = re.compile(rf"(?P<what>.+?)[\s_]*[(\[](?P<who>{_WHO}[\s_.\-]*\d*|[^\W\d_]+)[)\]]", re.IGNORECASE)
"""A criterion with a rater in brackets, as in `fluency (anna)`."""
_NO_RATER = re.compile(
    r"mean|average|avg|median|total|score|scale|likert|points|percent|(llm|gpt)\b.*", re.IGNORECASE
)
_NONE = {"", "-", "nan", "none", "null", "(null)", "n/a", "na", "<na>", "#n/a", "nat", "undefined"}
_NOT_GIVEN = {"discarded", "draft", "pending"}
"""States of answers in Argilla that do not count."""
_WORDS = {"yes": 1.0, "no": 0.0, "true": 1.0, "false": 0.0}
_NUMBER = re.compile(r"([0-9]{1,3}(?:[.,][0-9]{1,6})?)(?:\s*[-–—:=(]\s*[^\W\d].*)?", re.DOTALL)
"""A number, which may have a decimal comma, and words that explain it, as in "4 - good"."""

Given = tuple[str, str, object]
"""Criterion, rater and value."""
_UNKNOWN = object()
"""The value of a rating whose criterion is not known."""


def rating_value(value: object) -> float | None:
    """Convert a rating to a number from 0 to 100; None for other values.

    Yes and true are 1, no and false are 0.
    """
    if isinstance(value, bool | int | float) and 0 <= value <= 100:
        return float(value)
    text = str(value).strip().casefold() if isinstance(value, str) else ""
    found = _NUMBER.fullmatch(text)
    number = float(found[1].replace(",", ".")) if found else 101
    return _WORDS.get(text, number if number <= 100 else None)


def is_no_rating(value: object) -> bool:
    """Return True for an empty cell, a usual mark of a missing value, and `_UNKNOWN`."""
    is_mark = isinstance(value, str) and value.strip().casefold() in _NONE
    return value is None or value is _UNKNOWN or is_mark


def _criterion_and_rater(column: str) -> tuple[str, str]:
    for pattern in (_RATER_FIRST, _RATER_LAST, _RATER_IN):
        if (found := pattern.fullmatch(column)) and plain(found["what"]) in CRITERIA:
            return (column, "") if _NO_RATER.fullmatch(found["who"]) else (found["what"], found["who"])
    numbered = indexed(column)
    if numbered and plain(numbered[0].rpartition(".")[2]) in CRITERIA:
        return numbered[0].rpartition(".")[2], RATER.format(numbered[1])
    return column.rpartition(".")[2], ""


def ratings_in(column: str, value: object, rater: str) -> Iterator[Given]:
    """Yield ratings in a value of a column as criterion, rater and value; `rater` is the rater of the row.

    The value may be missing or unusable.
    """
    criterion, named = _criterion_and_rater(column)
    value = opened(value)
    if isinstance(value, list):
        who = f"{named or re.sub('(?i)[^a-z]*(annotation|rating|score)s?', '', column) or 'rater'} {{}}"
        for place, given in enumerate(value, start=1):
            if isinstance(given, dict) and given.get("status") in _NOT_GIVEN:
                continue
            if not isinstance(given, dict):
                yield criterion, (who if named else RATER).format(place), given
                continue
            inner = (item for part in given.values() if isinstance(part, dict) for item in part.items())
            one = given | {name: part for name, part in inner if plain(name) in CRITERIA}
            names = (str(one[name]) for name in one if plain(name) in RATER_NAMES and one[name] is not None)
            told = next(names, "")
            rated = [name for name in one if plain(name) in CRITERIA]
            yield from ((name, told or who.format(place), one[name]) for name in rated)
            rest = [name for name in given if rated and name not in rated and plain(name) not in RATER_NAMES]
            yield from ((name, told, _UNKNOWN) for name in rest if rating_value(given[name]) is not None)
            if "criterion" in one:
                yield str(one["criterion"]), told, one.get("value")
            elif "value" in one:
                yield criterion, told or RATER.format(place), one["value"]
    elif isinstance(value, dict):
        for name, held in value.items():
            if isinstance(held, list):
                yield from ratings_in(name, held, rater)
            elif isinstance(held, dict):
                # Names of criteria inside mean that the object is by rater.
                is_by_rater = plain(name) not in CRITERIA and any(plain(each) in CRITERIA for each in held)
                pairs = ((each, name) if is_by_rater else (name, str(each)) for each in held)
                yield from ((*pair, one) for pair, one in zip(pairs, held.values(), strict=True))
            else:
                yield (name, rater, held) if plain(name) in CRITERIA else (criterion, str(name), held)
    else:
        yield criterion, named or rater, value


def read_ratings(given: Iterable[Given]) -> tuple[list[RatingData], list[str]]:
    """Return the usable ratings, and remarks on others."""
    found: list[RatingData] = []
    left: list[str] = []
    for criterion, rater, value in given:
        number, named, fault = rating_value(value), f"`{printable(criterion)}`", text_fault(rater)
        if value is _UNKNOWN:
            left.append(f"{named} stands beside ratings and is not read: it is no known criterion.")
        elif (fault or _NO_RATER.fullmatch(rater.strip())) and number is not None:
            left.append(f"Ratings by `{printable(rater)}` are left out: that is no person.")
        elif number is not None:
            name = re.sub(r"[^\w-]+", "_", criterion.strip()).strip("_")[:MAX_CRITERION_CHARACTERS]
            found.append((name or "rating", rater.strip()[:MAX_NAME_CHARACTERS], number))
        elif not is_no_rating(value):
            left.append(f"{named} is {shown(value)} and left out: a rating is a number up to 100, yes or no.")
    return found, left
