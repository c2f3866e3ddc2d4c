"""Convert facts to JSON and back: the types of a frozen dataclass are the only declaration of its figures."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, TypeVar, cast

from pydantic import TypeAdapter

Shape = TypeVar("Shape")


@cache
def adapter_of(shape: Any) -> TypeAdapter[Any]:
    """The adapter that reads, writes and describes facts of that type."""
    return TypeAdapter(shape)


def plain(facts: Any) -> Any:
    """Convert facts, or a list of them, to JSON values."""
    if isinstance(facts, list):
        return [plain(each) for each in facts]
    return adapter_of(cast("Any", type(facts))).dump_python(facts, mode="json")


def read(shape: type[Shape], stored: Mapping[str, Any]) -> Shape:
    """Read facts of that type from JSON values."""
    made: Shape = adapter_of(cast("Any", shape)).validate_python(stored)
    return made
