"""Read SEE HTML: a summary in numbered units, each in an anchor.

    <a name="1">[1]</a> <a href="#1" id=1>The first unit.</a>

Real files also have units over several lines, unclosed anchors, and unescaped "<".
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

from annotation.imports.tools.names import UnfitFile

_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]{0,20})\b([^<>]{0,500})>")
_ID = re.compile(r"""\bid\s*=\s*["']?\d{1,9}["']?""", re.IGNORECASE)
_ANY_TAG = re.compile(r"</?[a-zA-Z!][^<>]{0,500}>")
_INVISIBLE = tuple(
    (re.compile(opening, re.IGNORECASE), re.compile(closing, re.IGNORECASE))
    for opening, closing in (
        (r"<!--", r"-->"),
        (r"<head\b", r"</head\s*>"),
        (r"<script\b", r"</script\s*>"),
        (r"<style\b", r"</style\s*>"),
    )
)


def looks_like_see(head: str) -> bool:
    """True if the file begins like HTML."""
    start = head.lstrip()[:64].lower()
    return start.startswith(("<html", "<!doctype html", "<a name", "<head", "<body"))


def read_see(content: str) -> tuple[str, ...]:
    """Return the texts of the units in order; in plain text, each line is a unit.

    Raises UnfitFile for HTML without units.
    """
    found = _anchored(_visible(content)) if _ANY_TAG.search(content) else content.splitlines()
    units = (" ".join(unit.split()) for unit in found)
    return tuple(filter(None, units))


def _visible(content: str) -> str:
    """Remove comments, head, scripts and styles, in linear time."""
    for opening, closing in _INVISIBLE:
        kept: list[str] = []
        at = 0
        while (start := opening.search(content, at)) and (end := closing.search(content, start.end())):
            kept.append(content[at : start.start()])
            at = end.end()
        content = " ".join([*kept, content[at:]])
    return content


def _anchored(content: str) -> Iterator[str]:
    """Yield the contents of anchors with an id; the next anchor ends an unclosed one."""
    opened: int | None = None
    has_units = False
    for tag in _TAG.finditer(content):
        if tag[2].lower() not in ({"a"} if opened is None else {"a", "body", "html"}):
            continue
        if opened is not None:
            yield _text(content[opened : tag.start()])
        opened = tag.end() if not tag[1] and _ID.search(tag[3]) else None
        has_units = has_units or opened is not None
    if opened is not None:
        yield _text(content[opened:])
    elif not has_units and _text(content).strip():
        raise UnfitFile(
            "holds text and no numbered unit such as "
            '<a name="1">[1]</a> <a href="#1" id=1>text</a>, so it is not SEE HTML.'
        )


def _text(raw: str) -> str:
    return html.unescape(_ANY_TAG.sub(" ", raw))
