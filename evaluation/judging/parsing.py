"""From what an LLM wrote to answers by id.

Nothing here raises on any reply, and nothing guesses: an answer counts only if it stands in JSON, names a
known id once (or several times alike) and carries a label that can be read one way only. What is certain is
repaired: code fences and prose around the JSON, letter case, "Yes.", numbers written as strings.
"""

import json
import math
import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

from evaluation._labels import Label

LONGEST_REASON = 500
LONGEST_CLAIM = 2000

# A reply of nothing but brackets must not cost a parse from each of them.
_MOST_STARTS = 200
_START = re.compile(r"[{\[]")
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff\s]+")
_UNSTORABLE = re.compile(r"[\x00\ud800-\udfff]")
_AROUND_LABEL = " \t\r\n.,;:!?\"'`*_()[]"
_LABELS: dict[str, Label] = {"yes": "yes", "no": "no", "unsure": "unsure"}

_A = TypeVar("_A")


@dataclass(frozen=True, slots=True)
class Answer:
    """A usable answer to one check; its fields as in `Verdict`."""

    label: Label
    probability: float | None = None
    evidence: tuple[int, ...] = ()
    reason: str = ""


def parse_verdicts(reply: str, ids: Collection[str], units: int) -> dict[str, Answer]:
    """The usable answers of a reply by the id of their claim; an id without one is absent.

    `units` is the number of units of the text: evidence beyond it is dropped. An id that is answered twice
    with different labels counts as not answered.
    Example: `parse_verdicts('{"verdicts": [{"id": "c1", "label": "Yes."}]}', ["c1"], 3)` has the label "yes"
    for c1.
    """
    known = {identity.casefold(): identity for identity in ids}

    def read(entry: dict[str, Any]) -> tuple[str, Answer] | None:
        identity = known.get(_text(entry.get("id")).strip().casefold())
        label = read_label(entry.get("label"))
        if identity is None or label is None:
            return None
        return identity, Answer(
            label,
            _probability(entry.get("probability"), label),
            _unit_numbers(entry.get("evidence"), units),
            one_line(_text(entry.get("reason")), LONGEST_REASON),
        )

    return _by_key(_entries(reply, "verdicts"), read, lambda answer: answer.label)


def parse_claims(reply: str, wanted: Collection[int]) -> dict[int, tuple[str, ...]]:
    """The claims of a reply by unit number; a wanted unit without a usable answer is absent.

    A unit with an empty list states nothing, which is an answer. A unit answered twice with different claims
    counts as not answered.
    Example: `parse_claims('{"units": [{"unit": "2", "claims": ["It rained."]}]}', [2])` is `{2: ("It
    rained.",)}`.
    """

    def read(entry: dict[str, Any]) -> tuple[int, tuple[str, ...]] | None:
        unit = _whole_number(entry.get("unit"))
        claims = entry.get("claims")
        if unit is None or unit not in wanted or not isinstance(claims, list):
            return None
        if not all(isinstance(claim, str) for claim in claims):
            return None
        lines = (one_line(claim, LONGEST_CLAIM) for claim in claims)
        return unit, tuple(dict.fromkeys(line for line in lines if line))

    return _by_key(_entries(reply, "units"), read, lambda claims: claims)


def read_label(value: object) -> Label | None:
    """The label that a value means beyond doubt, or None.

    Example: `read_label("Yes.")` and `read_label(True)` are "yes"; `read_label("not yes")` is None.
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if not isinstance(value, str):
        return None
    return _LABELS.get(unicodedata.normalize("NFKC", value[:40]).strip(_AROUND_LABEL).casefold())


def one_line(text: str, longest: int) -> str:
    """A text as one printable line of at most `longest` characters, fit for any database."""
    line = _UNPRINTABLE.sub(" ", text).strip()
    return line if len(line) <= longest else line[: longest - 1].rstrip() + "…"


def storable(text: str) -> str:
    """The text with NUL and lone surrogates, which databases refuse, replaced by U+FFFD."""
    return _UNSTORABLE.sub("\ufffd", text)


def _by_key(
    entries: Iterable[dict[str, Any]],
    read: Callable[[dict[str, Any]], "tuple[Any, _A] | None"],
    meaning: Callable[[_A], object],
) -> dict[Any, _A]:
    """The first reading per key, without the keys whose readings mean different things."""
    readings: dict[Any, _A] = {}
    contradicted: set[object] = set()
    for entry in entries:
        reading = read(entry)
        if reading is None:
            continue
        key, answer = reading
        first = readings.setdefault(key, answer)
        if meaning(first) != meaning(answer):
            contradicted.add(key)
    return {key: answer for key, answer in readings.items() if key not in contradicted}


def _entries(reply: str, field: str) -> Iterator[dict[str, Any]]:
    """The objects listed under `field`, in a bare list, or standing alone."""
    for value in _json_values(reply):
        listed = value[field] if isinstance(value, dict) and field in value else value
        for entry in listed if isinstance(listed, list) else [listed]:
            if isinstance(entry, dict):
                yield entry


class _DuplicateKey(ValueError):
    pass


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    # {"label": "no", "label": "yes"} has no one meaning, and the json module would quietly take the last.
    members = dict(pairs)
    if len(members) != len(pairs):
        raise _DuplicateKey
    return members


_DECODER = json.JSONDecoder(object_pairs_hook=_unique_keys)


def _json_values(reply: str) -> Iterator[Any]:
    """The outermost JSON objects and arrays in a text, in order."""
    position = 0
    for _ in range(_MOST_STARTS):
        start = _START.search(reply, position)
        if start is None:
            return
        try:
            value, position = _DECODER.raw_decode(reply, start.start())
        except _DuplicateKey:
            return
        # ValueError: not JSON here, or an integer too long to read; RecursionError: brackets nested too deep.
        except (ValueError, RecursionError):
            position = start.end()
            continue
        yield value


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _number(value: object) -> float | None:
    """A finite number, also one written as a string or a percentage."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    scale = 1.0
    if isinstance(value, str):
        value = value.strip()[:40]
        if value.endswith("%"):
            value, scale = value[:-1], 100.0
    try:
        number = float(value) / scale
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _whole_number(value: object) -> int | None:
    number = _number(value)
    return int(number) if number is not None and number.is_integer() else None


def _probability(value: object, label: Label) -> float | None:
    """A probability of yes that does not contradict the label."""
    number = _number(value)
    if number is None or not 0 <= number <= 1:
        return None
    if (label == "yes" and number < 0.5) or (label == "no" and number > 0.5):
        return None
    return number


def _unit_numbers(value: object, units: int) -> tuple[int, ...]:
    listed = value if isinstance(value, list) else [value]
    numbers = {_whole_number(item) for item in listed}
    return tuple(sorted(number for number in numbers if number is not None and 1 <= number <= units))
