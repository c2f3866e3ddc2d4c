"""The columns and rows of exported tables, for all formats."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Concatenate

if TYPE_CHECKING:
    from annotation.core.tables.pseudonyms import People
    from annotation.models import Project

Cell = str | int | float | bool | datetime | Sequence[object] | Mapping[str, object] | None
"""A value in a table. None is a missing value."""

TableRow = tuple[Cell, ...]


class ColumnKind(StrEnum):
    TEXT = "text"
    INTEGER = "integer"
    NUMBER = "number"
    FLAG = "flag"
    MOMENT = "moment"
    INTEGERS = "integers"
    TEXTS = "texts"
    JSON = "json"


@dataclass(frozen=True, slots=True)
class Column:
    name: str
    kind: ColumnKind = ColumnKind.TEXT


@dataclass(frozen=True, slots=True)
class Level:
    """A level of export: its columns, and a function that yields its rows.

    The function takes the project, the names of people, and the options of the level by name.
    """

    name: str
    columns: tuple[Column, ...]
    rows: Callable[Concatenate[Project, People, ...], Iterator[TableRow]]


HEAD = (
    Column("project"),
    Column("document_id"),
    Column("system"),
    Column("target_words", ColumnKind.INTEGER),
)
"""The first columns of most exported tables."""


def columns(named: str) -> tuple[Column, ...]:
    """Build columns from names separated by spaces. A colon and a kind may follow a name; the default kind is text.

    Example: `columns("claim_id unit:integer")`.
    """
    pairs = (name.partition(":") for name in named.split())
    return tuple(Column(name, ColumnKind(kind or ColumnKind.TEXT)) for name, _, kind in pairs)


def number(value: float | None) -> float | None:
    """Return the value if it is finite, otherwise None."""
    return value if value is not None and math.isfinite(value) else None
