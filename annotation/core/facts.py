"""Facts as plain JSON values and back: the types of a frozen dataclass are the only declaration of its figures."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, TypeVar, cast

from pydantic import TypeAdapter

Shape = TypeVar("Shape")


@cache
def adapter_of(shape: Any) -> TypeAdapter[Any]:
    """What reads, writes and describes facts of that shape."""
    return TypeAdapter(shape)


def plain(facts: Any) -> Any:
    """Facts, or a list of them, as JSON holds them."""
    if isinstance(facts, list):
        return [plain(each) for each in facts]
    return adapter_of(cast("Any", type(facts))).dump_python(facts, mode="json")


def read(shape: type[Shape], stored: Mapping[str, Any]) -> Shape:
    """The facts of that shape that were stored as JSON."""
    made: Shape = adapter_of(cast("Any", shape)).validate_python(stored)
    return made
