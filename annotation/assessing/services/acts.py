"""Acts of the SEE form, read from JSON.

An act sets one answer. `follows` is the version that the act changes, 0 if there is no answer yet. An act with None
changes any version; `read_acts` makes no such act.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from annotation.core.refusals import Invalid

MOST_ACTS = 200
MOST_MARKS = 2000
LARGEST_NUMBER = 2_147_483_647
_PUBLIC_ID = re.compile(r"[a-z0-9]{1,32}")
_SHARED_KEYS = frozenset({"kind", "reading", "follows", "ms"})
_OWN_KEYS = {
    "unit": {"unit", "percent", "marks", "note"},
    "rating": {"criterion", "value"},
}


@dataclass(frozen=True, slots=True)
class UnitAct:
    """The percent (0 to 100; None in a draft), marks and note of a reference unit, or of a claim that replaces one.

    `marks` has numbers of summary units, and `active_ms` is the time spent, in milliseconds.
    """

    reading_id: str
    unit_id: str
    percent: int | None
    marks: Sequence[int] = ()
    note: str = ""
    active_ms: int = 0
    follows: int | None = field(default=None, kw_only=True)


@dataclass(frozen=True, slots=True)
class RatingAct:
    """The answer to one criterion about the summary of a reading. The value None withdraws the answer."""

    reading_id: str
    criterion_id: str
    value: int | None
    active_ms: int = 0
    follows: int | None = field(default=None, kw_only=True)


Act = UnitAct | RatingAct


def read_acts(given: object) -> list[Act]:
    """Read acts from JSON objects with `kind`, `follows` and the fields of the kind.

    Only the form of the values is checked; `save_acts` checks the values. Raises Invalid for a wrong form and names the
    act and the field.
    """
    if not isinstance(given, list) or not 1 <= len(given) <= MOST_ACTS:
        raise Invalid(f"acts is a list of 1 to {MOST_ACTS} acts.", field="acts")
    return [_read(entry, f"acts.{place}") for place, entry in enumerate(given)]


def _read(entry: object, where: str) -> Act:
    if not isinstance(entry, Mapping) or entry.get("kind") not in _OWN_KEYS:
        raise Invalid(f"{where} needs a kind: {', '.join(_OWN_KEYS)}.", field=f"{where}.kind")
    kind = str(entry["kind"])
    unknown = sorted(str(key) for key in set(entry) - _SHARED_KEYS - _OWN_KEYS[kind])
    if unknown:
        raise Invalid(f"An act of kind {kind} has no {unknown[0]!r}.", field=f"{where}.{unknown[0]}")

    def at(name: str) -> str:
        return f"{where}.{name}"

    reading = _id(entry.get("reading"), at("reading"))
    follows = _number(entry.get("follows"), at("follows"))
    active_ms = _number(entry.get("ms", 0), at("ms"))
    if kind == "rating":
        criterion = _id(entry.get("criterion"), at("criterion"))
        return RatingAct(
            reading, criterion, _optional(entry.get("value"), at("value")), active_ms, follows=follows
        )
    percent = _optional(entry.get("percent"), at("percent"))
    unit = _id(entry.get("unit"), at("unit"))
    marks = _marks(entry.get("marks", []), at("marks"))
    note = _text(entry.get("note", ""), at("note"))
    return UnitAct(reading, unit, percent, marks, note, active_ms, follows=follows)


def _number(given: object, field: str) -> int:
    if not isinstance(given, int) or isinstance(given, bool) or not 0 <= given <= LARGEST_NUMBER:
        raise Invalid(f"{field} is a whole number from 0.", field=field)
    return given


def _optional(given: object, field: str) -> int | None:
    if given is None:
        return None
    if not isinstance(given, int) or isinstance(given, bool):
        raise Invalid(f"{field} is a whole number, or null.", field=field)
    return given


def _id(given: object, field: str) -> str:
    if not isinstance(given, str) or not _PUBLIC_ID.fullmatch(given):
        raise Invalid(f"{field} is an id of letters and digits.", field=field)
    return given


def _text(given: object, field: str) -> str:
    if not isinstance(given, str):
        raise Invalid(f"{field} must be text.", field=field)
    return given


def _marks(given: object, field: str) -> tuple[int, ...]:
    if not isinstance(given, list) or len(given) > MOST_MARKS:
        raise Invalid(f"{field} is a list of at most {MOST_MARKS} numbers of summary units.", field=field)
    return tuple(_number(mark, field) for mark in given)
