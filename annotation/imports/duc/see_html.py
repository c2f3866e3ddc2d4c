"""SEE's HTML files: one summary, cut into numbered units, in an anchor each.

    <a name="1">[1]</a> <a href="#1" id=1>The first unit.</a>

Strict about what a file is and lenient about how well it is written: real files have units over several
lines, anchors that are never closed, numbers that repeat, or no anchors at all. What was repaired is told.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from annotation.core.squeezed import Stretch
from annotation.core.text_faults import text_fault
from annotation.imports.dataset import Dataset, PeerData, Text
from annotation.imports.duc.duc_names import EXAMPLE, DucName, duc_name, reference_by, set_of
from annotation.imports.packages import PackedFile, UnfitFile, as_text
from annotation.imports.problems import Remarks

_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]{0,20})\b([^<>]{0,500})>")
_ID = re.compile(r"""\bid\s*=\s*["']?(\d{1,9})["']?""", re.IGNORECASE)
_ANY_TAG = re.compile(r"</?[a-zA-Z!][^<>]{0,500}>")
_INVISIBLE = tuple(
    (re.compile(opening, re.IGNORECASE), re.compile(closing, re.IGNORECASE))
    for opening, closing in (
        (r"<!--", r"-->"),
        (r"<head\b", r"</head\s*>"),
        (r"<title\b", r"</title\s*>"),
        (r"<script\b", r"</script\s*>"),
        (r"<style\b", r"</style\s*>"),
    )
)

MAX_SEE_BYTES = 4 * 1024 * 1024
"""Far above any summary."""

UNIT_BREAK = " "
"""Between two units where they are read as one text."""


@dataclass(frozen=True, slots=True)
class SeeFile:
    """One summary: its units' texts in order, and what was repaired to read them."""

    units: tuple[str, ...]
    repaired: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        return UNIT_BREAK.join(self.units)

    @property
    def stretches(self) -> tuple[Stretch, ...]:
        """Where each unit stands in the text."""
        found: list[Stretch] = []
        at = 0
        for unit in self.units:
            found.append((at, at + len(unit)))
            at += len(unit) + len(UNIT_BREAK)
        return tuple(found)


def looks_like_see(head: bytes) -> bool:
    """Whether the first bytes of a file are those of HTML."""
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()[:64].lower()
    return start.startswith((b"<html", b"<!doctype html", b"<a name", b"<a size", b"<head", b"<body"))


def read_see(data: bytes) -> SeeFile:
    """The units of a file. Raises UnfitFile for one with text and no units to be found in it."""
    if len(data) > MAX_SEE_BYTES:
        raise UnfitFile(f"is larger than {MAX_SEE_BYTES // 1024**2} MB, which no summary is.")
    content, is_utf8 = as_text(data)
    repairs = _Repairs()
    if not is_utf8:
        repairs.note("is not UTF-8: read as Windows-1252")
    if _ANY_TAG.search(content):
        units = [_spaced(unit) for unit in _anchored(_visible(content), repairs)]
        if "" in units:
            repairs.note("has an empty unit, left out")
    else:
        repairs.note("has no tags: each line was taken for a unit")
        units = [_spaced(line) for line in content.splitlines()]
    return SeeFile(units=tuple(filter(None, units)), repaired=tuple(repairs.notes))


def _spaced(text: str) -> str:
    return " ".join(text.split())


def _visible(content: str) -> str:
    """The content without comments, head and scripts. Time grows with its length alone."""
    for opening, closing in _INVISIBLE:
        kept: list[str] = []
        at = 0
        while (start := opening.search(content, at)) and (end := closing.search(content, start.end())):
            kept.append(content[at : start.start()])
            at = end.end()
        content = " ".join([*kept, content[at:]])
    return content


@dataclass(slots=True)
class _Repairs:
    notes: list[str] = field(default_factory=list)

    def note(self, remark: str) -> None:
        if remark not in self.notes:
            self.notes.append(remark)


def _anchored(content: str, repairs: _Repairs) -> Iterator[str]:
    """What stands in anchors with an id, each up to its end; the next anchor ends one that is never closed."""
    numbers: list[int] = []
    opened: int | None = None
    seen = 0
    for tag in _TAG.finditer(content):
        is_end, name = bool(tag[1]), tag[2].lower()
        if name != "a" and not (opened is not None and name in {"body", "html"}):
            continue
        if opened is not None:
            if not (is_end and name == "a"):
                repairs.note(
                    "has a unit whose anchor is never closed: it ends where the next one, or the page, does"
                )
            yield _unit_text(content[opened : tag.start()], repairs)
            opened = None
        number = None if is_end else _ID.search(tag[3])
        if number is not None:
            numbers.append(int(number[1]))
            opened = tag.end()
        seen = tag.end()
    if opened is not None:
        repairs.note("ends within a unit")
        yield _unit_text(content[opened:], repairs)
    elif not numbers and html.unescape(_ANY_TAG.sub(" ", content[seen:] if seen else content)).strip():
        raise UnfitFile(
            "holds text and no numbered unit such as "
            '<a name="1">[1]</a> <a href="#1" id=1>text</a>, so it is not SEE HTML.'
        )
    if numbers != list(range(1, len(numbers) + 1)):
        repairs.note("numbers its units otherwise than 1, 2, 3 …: they were numbered again")


def _unit_text(raw: str, repairs: _Repairs) -> str:
    """A unit's characters. A "<" of the text that was never escaped stays; real tags inside go."""
    plain = _ANY_TAG.sub(" ", raw)
    if plain != raw:
        repairs.note("has tags within a unit, left out")
    if "<" in plain:
        repairs.note('has a "<" that is not escaped, kept as text')
    if "\n" in plain.strip():
        repairs.note("has a unit over several lines, joined with spaces")
    return html.unescape(plain)


def take_see(member: PackedFile, dataset: Dataset, remarks: Remarks) -> None:
    """Add a file's summary to the data set; what was repaired becomes a remark. Raises UnfitFile."""
    name = duc_name(member.stem)
    if name is None:
        raise UnfitFile(f"has a name that does not say whose summary it is. Call it like {EXAMPLE}.")
    read = read_see(member.data)
    if fault := text_fault(read.text):
        raise UnfitFile(fault)
    for remark in read.repaired:
        remarks.add(member.name, remark)
    if not read.units:
        remarks.add(member.name, "has no units: the summary is empty")
    _take(member, name, read, dataset, remarks)


def _take(member: PackedFile, name: DucName, read: SeeFile, dataset: Dataset, remarks: Remarks) -> None:
    one = set_of(dataset, name)
    text = Text(read.text, None, file=member.name, units=read.stretches, is_loose=True)
    if name.is_person:
        dataset.people.add(name.summariser)
    is_model = _is_model(member, name)
    if is_model and not read.units:
        raise UnfitFile("is a model summary without units. It cannot be compared with.")
    if is_model:
        before = reference_by(one, name).texts.setdefault(name.target, text)
    else:
        metadata = {"selector": name.selector}
        before = one.peers.setdefault((name.summariser, name.target), PeerData(text, metadata)).text
    if before is text:
        return
    if before.text == text.text and before.units == text.units:
        remarks.add(member.name, f"says the same as {before.file}")
        return
    role = "model" if is_model else "peer"
    raise UnfitFile(
        f"is another {role} summary of {name.document_id!r} by {name.summariser!r} than {before.file}."
    )


def _is_model(member: PackedFile, name: DucName) -> bool:
    """Its folder says so, else the summariser: letters are people, who write models; numbers are systems.

    A person's summary may be a peer, too, which only a folder of peers can tell.
    """
    for folder in reversed(member.folders):
        if "model" in folder:
            return True
        if "peer" in folder:
            return False
    return name.is_person
