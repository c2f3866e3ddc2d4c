"""Acts of the SEE form as values, and as the JSON in which a form or a program sends them."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from annotation.core.refusals import Invalid

MOST_ACTS = 200
MOST_MARKS = 2000
LONGEST_CLIENT = 36
LARGEST_ACT_NUMBER = 2_147_483_647
_PUBLIC_ID = re.compile(r"[a-z0-9]{1,32}")
_CLIENT = re.compile(r"[A-Za-z0-9_-]{1,36}")
_SHARED_KEYS = frozenset({"seq", "kind", "reading", "ms"})
_ACT_KEYS = {
    "unit": _SHARED_KEYS | {"unit", "percent", "marks", "note"},
    "quality": _SHARED_KEYS | {"question", "answer"},
    "unmarked": _SHARED_KEYS | {"percent"},
}


@dataclass(frozen=True, slots=True)
class UnitAct:
    """The percent, marks and note of one model unit, or of a claim that stands in for one."""

    seq: int
    reading_id: str
    unit_id: str
    percent: int | None
    marks: Sequence[int] = ()
    note: str = ""
    active_ms: int = 0

    def as_json(self) -> dict[str, object]:
        return {
            "seq": self.seq,
            "kind": "unit",
            "reading": self.reading_id,
            "unit": self.unit_id,
            "percent": self.percent,
            "marks": list(self.marks),
            "note": self.note,
        }


@dataclass(frozen=True, slots=True)
class QualityAct:
    """One answer to one quality question; None takes it back."""

    seq: int
    reading_id: str
    question: str
    answer: int | None
    active_ms: int = 0

    def as_json(self) -> dict[str, object]:
        return {
            "seq": self.seq,
            "kind": "quality",
            "reading": self.reading_id,
            "question": self.question,
            "answer": self.answer,
        }


@dataclass(frozen=True, slots=True)
class UnmarkedAct:
    """The answer to the question of the unmarked peer units; None takes it back."""

    seq: int
    reading_id: str
    percent: int | None
    active_ms: int = 0

    def as_json(self) -> dict[str, object]:
        return {
            "seq": self.seq,
            "kind": "unmarked",
            "reading": self.reading_id,
            "percent": self.percent,
        }


Act = UnitAct | QualityAct | UnmarkedAct


@dataclass(frozen=True, slots=True)
class ActResult:
    """What became of one act. One that is refused has been heard: what follows it is not held up."""

    seq: int
    status: Literal["saved", "repeated", "refused"]
    code: str = ""
    message: str = ""


def read_acts(given: object) -> list[Act]:
    """The acts in what JSON holds: objects with `seq`, `kind` and what that kind of act needs.

    Only the shape is read here; whether an act makes sense is for the set that it is about. Raises Invalid
    with the place of the fault.
    """
    if not isinstance(given, list) or not 1 <= len(given) <= MOST_ACTS:
        raise Invalid(f"acts is a list of 1 to {MOST_ACTS} acts.", field="acts")
    acts = [_read(entry, f"acts.{place}") for place, entry in enumerate(given)]
    numbers = [act.seq for act in acts]
    if any(later <= earlier for earlier, later in itertools.pairwise(numbers)):
        raise Invalid("acts must be sorted by seq, strictly increasing.", field="acts")
    return acts


def read_client(given: object, field: str = "client") -> str:
    """The name that a form gave itself: 1 to 36 letters, digits, _ or -. Raises Invalid."""
    if not isinstance(given, str) or not _CLIENT.fullmatch(given):
        raise Invalid(
            f"{field} is the name of the form: 1 to {LONGEST_CLIENT} letters or digits.", field=field
        )
    return given


def _read(entry: object, where: str) -> Act:
    if not isinstance(entry, Mapping) or entry.get("kind") not in _ACT_KEYS:
        raise Invalid(f"{where} needs a kind: {', '.join(_ACT_KEYS)}.", field=f"{where}.kind")
    kind = str(entry["kind"])
    unknown = sorted(str(key) for key in set(entry) - _ACT_KEYS[kind])
    if unknown:
        raise Invalid(f"An act of kind {kind} has no {unknown[0]!r}.", field=f"{where}.{unknown[0]}")
    seq = _number(entry.get("seq"), f"{where}.seq", least=1)
    reading = _id(entry.get("reading"), f"{where}.reading")
    active_ms = _number(entry.get("ms", 0), f"{where}.ms")
    match kind:
        case "quality":
            question = entry.get("question")
            if not isinstance(question, str):
                raise Invalid(f"{where}.question is the id of a question.", field=f"{where}.question")
            answer = _optional(entry.get("answer"), f"{where}.answer")
            return QualityAct(seq, reading, question, answer, active_ms)
        case "unmarked":
            return UnmarkedAct(seq, reading, _optional(entry.get("percent"), f"{where}.percent"), active_ms)
        case _:
            return UnitAct(
                seq=seq,
                reading_id=reading,
                unit_id=_id(entry.get("unit"), f"{where}.unit"),
                percent=_optional(entry.get("percent"), f"{where}.percent"),
                marks=_marks(entry.get("marks", []), f"{where}.marks"),
                note=_text(entry.get("note", ""), f"{where}.note"),
                active_ms=active_ms,
            )


def _number(given: object, field: str, *, least: int = 0) -> int:
    if not isinstance(given, int) or isinstance(given, bool) or not least <= given <= LARGEST_ACT_NUMBER:
        raise Invalid(f"{field} is a whole number from {least}.", field=field)
    return given


def _optional(given: object, field: str) -> int | None:
    """A whole number, of any size: whether it makes sense here is for the act to be refused or not."""
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
        raise Invalid(f"{field} is text.", field=field)
    return given


def _marks(given: object, field: str) -> tuple[int, ...]:
    if not isinstance(given, list) or len(given) > MOST_MARKS:
        raise Invalid(f"{field} is a list of at most {MOST_MARKS} numbers of peer units.", field=field)
    return tuple(_number(mark, field) for mark in given)
