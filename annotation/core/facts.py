"""Converting facts, which are dataclasses, to JSON and back."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, TypeVar, cast

from pydantic import TypeAdapter

Shape = TypeVar("Shape")


@cache
def adapter_of(shape: Any) -> TypeAdapter[Any]:
    """Return the adapter that reads, writes and describes facts of this type. Adapters are cached."""
    return TypeAdapter(shape)


def plain(facts: Any) -> Any:
    """Convert facts, or a list of them, to JSON values."""
    if isinstance(facts, list):
        return [plain(each) for each in facts]
    return adapter_of(cast("Any", type(facts))).dump_python(facts, mode="json")


def read(shape: type[Shape], stored: Mapping[str, Any]) -> Shape:
    """Read facts of this type from stored JSON values. Raises pydantic's ValidationError if they do not fit."""
    made: Shape = adapter_of(cast("Any", shape)).validate_python(stored)
    return made
