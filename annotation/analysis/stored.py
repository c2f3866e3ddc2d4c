"""Frozen dataclasses from the plain values that `asdict` and JSON made of them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import fields, is_dataclass
from datetime import date
from functools import cache
from types import UnionType
from typing import Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

Shape = TypeVar("Shape")
Reader = Callable[[Any], Any]

CONTAINERS = (dict, Mapping)


def read(shape: type[Shape], stored: Mapping[str, Any]) -> Shape:
    """The dataclass of that shape. Knows dataclasses, tuples, mappings, dates, and what may be None, in one another."""
    reader = _reader(cast("Hashable", shape))
    assert reader is not None, "it is a dataclass"
    return cast("Shape", reader(stored))


@cache
def _reader(hint: Any) -> Reader | None:
    """What makes a value of that type; None where JSON has kept it as it was."""
    if is_dataclass(hint):
        return _of_dataclass(cast("type[Any]", hint))
    if hint is date:
        return date.fromisoformat
    kind, parts = get_origin(hint), get_args(hint)
    if kind in (Union, UnionType):
        readers = [reader for part in parts if (reader := _reader(part))]
        return _or_none(readers[0]) if len(readers) == 1 else None
    if kind is tuple:
        return _of_tuple(_reader(parts[0]))
    if kind in CONTAINERS:
        return _of_mapping(parts[0], _reader(parts[1]))
    return None


def _of_dataclass(shape: type[Any]) -> Reader:
    hints = get_type_hints(shape)
    readers = {field.name: reader for field in fields(shape) if (reader := _reader(hints[field.name]))}
    if not readers:
        return lambda stored: shape(**stored)
    return lambda stored: shape(
        **{name: readers[name](value) if name in readers else value for name, value in stored.items()}
    )


def _or_none(reader: Reader) -> Reader:
    return lambda stored: None if stored is None else reader(stored)


def _of_tuple(reader: Reader | None) -> Reader:
    return (lambda stored: tuple(map(reader, stored))) if reader else tuple


def _of_mapping(key: Any, reader: Reader | None) -> Reader | None:
    of_key = _reader(key)
    if reader is None and of_key is None:
        return None
    return lambda stored: {
        of_key(name) if of_key else name: reader(value) if reader else value for name, value in stored.items()
    }
