"""Values inside of values: `input.article`, `messages[-1].content`, `sentences[].text`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress

DEEPEST = 4

_STEP = re.compile(r"[^.\[\]]+|\[(?:-?[0-9]{1,6})?\]")


def pick(values: Mapping[str, object], path: str) -> object:
    """The value under a name or, where there is no such name, at the end of a path; None where it leads nowhere.

    `[]` goes on in each item of a list and gives a list, `[0]` and `[-1]` in one. Texts that hold JSON are opened.
    """
    if path in values or not ("." in path or "[" in path):
        return values.get(path)
    return _walk(values, _STEP.findall(path))


def root(path: str) -> str:
    """The name at which a path begins."""
    return re.split(r"[.\[]", path, maxsplit=1)[0]


def text_paths(values: Mapping[str, object]) -> Iterator[str]:
    """Every name of a record, each followed by the paths to the texts inside of its value."""
    for name, value in values.items():
        yield name
        yield from _inside(name, opened(value), 1)


def opened(value: object) -> object:
    """What a text holds as JSON, where it is an object or a list; else the value itself."""
    if isinstance(value, str) and value.lstrip()[:1] in {"{", "["}:
        with suppress(ValueError, RecursionError):
            return json.loads(value)
    return value


def _inside(path: str, value: object, depth: int) -> Iterator[str]:
    if depth > DEEPEST:
        return
    if isinstance(value, dict):
        for name, part in value.items():
            yield from _leaf(f"{path}.{name}", part, depth)
    elif isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
        # Of a conversation, what was said last; of other lists, all of it.
        step = "[-1]" if {"role", "content"} <= value[-1].keys() else "[]"
        for name, part in value[-1].items():
            if "[]" not in path:
                yield from _leaf(f"{path}{step}.{name}", part, depth)
    elif isinstance(value, list) and value and all(isinstance(item, str) for item in value):
        yield f"{path}[]"


def _leaf(path: str, value: object, depth: int) -> Iterator[str]:
    if isinstance(value, str):
        yield path
    else:
        yield from _inside(path, value, depth + 1)


def _walk(value: object, steps: list[str]) -> object:
    for number, step in enumerate(steps):
        value = opened(value)
        if step == "[]":
            rest = steps[number + 1 :]
            return [_walk(item, rest) for item in value] if isinstance(value, list) else None
        if step.startswith("["):
            place = int(step[1:-1])
            is_there = isinstance(value, list) and -len(value) <= place < len(value)
            value = value[place] if is_there and isinstance(value, list) else None
        else:
            value = value.get(step) if isinstance(value, Mapping) else None
    return value
