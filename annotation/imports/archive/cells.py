"""Values of an archive's lines, checked and turned into those of columns."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from django.db import models

from annotation.core.text_faults import text_fault
from annotation.exports.archive.kinds import Cell, CellKind
from annotation.exports.archive.schema import choices_of
from annotation.models.base import ID_LENGTH, public_id_of

_ID = re.compile(rf"[a-z2-7]{{{ID_LENGTH}}}\Z")
_SHARED = 4
WORDS = frozenset({"reason", "note", "text", "because"})
"""Keys of the log under which people's words stand, of which none is an id whatever it looks like."""
_SHAPES = {"frame": list, "cells": list, "filters": dict}
"""Of columns of JSON without a default, which would tell."""
_LARGEST = {
    models.PositiveBigIntegerField: 2**63 - 1,
    models.BigIntegerField: 2**63 - 1,
    models.PositiveSmallIntegerField: 2**15 - 1,
}


class Ids:
    """The ids that rows have once restored: others than in the archive, so that one can be restored twice.

    They follow from the restored project's own id. Those that began alike do so again: neighbours in the archive are
    neighbours in the index.
    """

    def __init__(self, project: str) -> None:
        self._project = project
        self._heads: dict[str, str] = {}

    def mapped(self, old: str) -> str:
        head = self._heads.get(old[:_SHARED])
        if head is None:
            if len(self._heads) > 100_000:
                self._heads.clear()
            head = self._heads[old[:_SHARED]] = public_id_of(f"{self._project}:{old[:_SHARED]}")[:_SHARED]
        return head + public_id_of(f"{self._project}:{old}")[_SHARED:]

    def inside(self, value: Any) -> Any:
        """A JSON value with every id in it mapped."""
        match value:
            case str():
                return self.mapped(value) if _ID.match(value) else value
            case list():
                return [self.inside(each) for each in value]
            case dict():
                return {key: each if key in WORDS else self.inside(each) for key, each in value.items()}
        return value


Read = Callable[[Any], Any]


def reader(cell: Cell, ids: Ids) -> Read:
    """What checks and turns the cell's values; it raises ValueError with what is wrong.

    Of references and people it gives what they are called in the archive.
    """
    read = _typed(cell, ids)
    if cell.may_be_null:
        return lambda value: None if value is None else read(value)
    return read


def _typed(cell: Cell, ids: Ids) -> Read:
    if cell.kind is CellKind.ID:
        return lambda value: ids.mapped(_id(value))
    if cell.kind in _MADE:
        return _MADE[cell.kind](cell, ids)
    return _PLAIN[cell.kind]


def _id(value: Any) -> str:
    if not isinstance(value, str) or not _ID.match(value):
        raise ValueError("is not the id of a row")
    return value


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise ValueError("is not a list")
    return value


def _string(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("is not a text")
    if fault := text_fault(value):
        raise ValueError(fault)
    return value


def _text(cell: Cell, ids: Ids) -> Read:
    choices = frozenset(choices_of(cell))
    most = cell.field.max_length

    def read(value: Any) -> str:
        text = _string(value)
        if choices and text not in choices:
            raise ValueError(f"is {text[:40]!r}, which is none of {', '.join(sorted(filter(None, choices)))}")
        if most is not None and len(text) > most:
            raise ValueError(f"has {len(text)} characters, and {most} are the most")
        return ids.inside(text) if cell.holds_ids else text

    return read


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError("is neither true nor false")
    return value


def _whole(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise ValueError("is not a whole number")
    return value


def _integer(cell: Cell, _ids: Ids) -> Read:
    most = next((most for kind, most in _LARGEST.items() if isinstance(cell.field, kind)), 2**31 - 1)
    is_positive = isinstance(
        cell.field,
        models.PositiveIntegerField | models.PositiveSmallIntegerField | models.PositiveBigIntegerField,
    )
    least = 0 if is_positive else -most - 1

    def read(value: Any) -> int:
        number = _whole(value)
        if not least <= number <= most:
            raise ValueError(f"is {number}, and {least} to {most} are possible")
        return number

    return read


def _number(value: Any) -> float:
    with suppress(OverflowError):
        if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
            return float(value)
    raise ValueError("is not a number")


def _moment(value: Any) -> datetime:
    try:
        moment = datetime.fromisoformat(_string(value))
        in_utc = moment.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise ValueError("is not a moment such as 2026-01-31T12:00:00+00:00") from error
    if moment.tzinfo is None:
        raise ValueError("is a moment without a time zone")
    return in_utc


def _json_of(cell: Cell, ids: Ids) -> Read:
    default = cell.field.default
    shape = default if default in (dict, list) else _SHAPES.get(cell.name)

    def read(value: Any) -> Any:
        found = _json(value)
        if shape is not None and not isinstance(found, shape):
            raise ValueError(f"is not a JSON {'object' if shape is dict else 'list'}")
        return ids.inside(found) if cell.holds_ids else found

    return read


def _json(value: Any) -> Any:
    try:
        return json.loads(value, parse_constant=_no_number)
    except (json.JSONDecodeError, RecursionError, TypeError) as error:
        raise ValueError("is not JSON written as a text") from error


def _no_number(word: str) -> None:
    raise ValueError(f"holds {word}, which is no number")


_MADE: dict[CellKind, Callable[[Cell, Ids], Read]] = {
    CellKind.TEXT: _text,
    CellKind.INTEGER: _integer,
    CellKind.JSON: _json_of,
}
_PLAIN: dict[CellKind, Read] = {
    CellKind.REFERENCE: _id,
    CellKind.REFERENCES: lambda value: [_id(each) for each in _list(value)],
    CellKind.PERSON: _string,
    CellKind.PEOPLE: lambda value: [_string(each) for each in _list(value)],
    CellKind.TEXTS: lambda value: [_string(each) for each in _list(value)],
    CellKind.INTEGERS: lambda value: [_whole(each) for each in _list(value)],
    CellKind.FLAG: _flag,
    CellKind.NUMBER: _number,
    CellKind.MOMENT: _moment,
}
