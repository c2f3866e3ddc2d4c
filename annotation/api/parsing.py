"""Reading JSON bodies."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from rest_framework.exceptions import ParseError
from rest_framework.parsers import JSONParser

MOST_LEVELS = 50
"""The maximum nesting of objects and lists."""
TOO_DEEP = f"The JSON is nested more than {MOST_LEVELS} levels deep."


class PlainJSONParser(JSONParser):
    """A JSON parser that refuses nesting beyond MOST_LEVELS, NaN, infinite numbers (1e999), and lone surrogates
    (U+D800).

    The refusal is 400 `parse_error`.
    """

    def parse(
        self, stream: Any, media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Any:
        try:
            body = super().parse(stream, media_type, parser_context)
        except RecursionError:
            raise ParseError(TOO_DEEP) from None
        for part in _parts(body):
            _refuse_unfit(part)
        return body


def _parts(body: Any) -> Iterator[Any]:
    waiting = [(body, 1)]
    while waiting:
        value, level = waiting.pop()
        if not isinstance(value, dict | list):
            yield value
            continue
        if level > MOST_LEVELS:
            raise ParseError(TOO_DEEP)
        if isinstance(value, dict):
            yield from value
        inner = value.values() if isinstance(value, dict) else value
        waiting += [(part, level + 1) for part in inner]


def _refuse_unfit(value: Any) -> None:
    if isinstance(value, float) and not math.isfinite(value):
        raise ParseError("The JSON contains a number that is too large.")
    if isinstance(value, str) and not _is_whole(value):
        raise ParseError("The JSON contains half of a character, such as a lone U+D800.")


def _is_whole(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
