"""Claims down, systems across: what each summary says of each claim, told by shape as well as by colour."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from annotation.analysis.pictures.charts.kit import (
    Drawing,
    Shape,
    label_mark,
    line,
    polygon,
    rectangle,
    words,
)
from annotation.analysis.pictures.charts.layout import clipped, clipped_within, counted, text_width
from annotation.analysis.pictures.charts.picture import Picture
from evaluation.judging import LABELS

CELL = 20
CLAIMS_FROM, CLAIMS_TO = 180, 420
"""How much room the claims are given: as much as the longest needs within these."""
CLAIM_SIZE = 11.5
LONGEST_SYSTEM = 170
TURNED = -60
LEAST_WIDTH = 520
HEAD_OF_SET = 22
WIDEST_FITTED = 1400
"""A wider picture keeps its size on a page, and is scrolled: fitted into a page its cells would be too small to see."""
KEY = (*LABELS, "unscored")
WORDS_OF_A_PERSON = "by a person"


@dataclass(frozen=True, slots=True)
class ClaimMark:
    """The answer to one claim of one system's summary: yes, no, unsure, or None where there is no usable one."""

    label: str | None
    by_person: bool
    href: str = ""

    @property
    def words(self) -> str:
        said = self.label or "unscored"
        return f"{said}, {WORDS_OF_A_PERSON}" if self.by_person else said


@dataclass(frozen=True, slots=True)
class ClaimLine:
    """A claim of a document set with its marks by system; a system without one has no summary of that set."""

    document_set: str
    claim: str
    marks: Mapping[str, ClaimMark]


def heat_map(
    claims: Sequence[ClaimLine], systems: Sequence[str], *, caption: str, of_claims: int | None = None
) -> Picture:
    """The claims in the order given, under the names of their document sets; the systems likewise.

    `of_claims` is how many claims there are beyond this page too, None where these are all.
    """
    longest = max((min(text_width(name, 11), LONGEST_SYSTEM) for name in systems), default=0.0)
    top = round(longest * 0.87) + 22
    widest = max((text_width(claim.claim, CLAIM_SIZE) for claim in claims), default=0.0)
    left = round(min(max(widest + 30, CLAIMS_FROM), CLAIMS_TO))
    width = max(left + CELL * len(systems) + round(longest * 0.5) + 16, LEAST_WIDTH)
    shapes: list[Shape] = []
    for place, name in enumerate(systems):
        x = left + CELL * (place + 0.5) + 4
        shown = clipped_within(name, LONGEST_SYSTEM, 11)
        shapes.append(words(shown, x, top - 8, size=11, turned=TURNED, hint=name if shown != name else ""))
    y = float(top)
    for document_set, lines in groupby(claims, key=lambda claim: claim.document_set):
        shapes.append(words(clipped(document_set, left - 24, 11), 12, y + 14, paint="soft", size=11))
        shapes.append(line("axis", 12, y + HEAD_OF_SET - 3, left + CELL * len(systems), y + HEAD_OF_SET - 3))
        y += HEAD_OF_SET
        for claim in lines:
            shapes += _row(claim, systems, left, y)
            y += CELL
    shapes += _key(y + 12)
    return Picture(
        name="claims",
        title=f"{_told_of_claims(len(claims), of_claims)} in the summaries of {counted(len(systems), 'system')}",
        description=(
            "One row per claim, one column per system. Square: expressed; cross: not expressed; triangle: "
            "unsure; dot: no usable answer. Dark corner: decided by a person."
        ),
        caption=caption,
        drawing=Drawing(width, round(y + 44), tuple(shapes)),
        columns=("document_set", "claim", *systems),
        rows=tuple(
            (
                claim.document_set,
                claim.claim,
                *(claim.marks[name].words if name in claim.marks else None for name in systems),
            )
            for claim in claims
        ),
        links={
            (number, place): claim.marks[name].href
            for number, claim in enumerate(claims)
            for place, name in enumerate(systems, start=2)
            if name in claim.marks
        },
        names_from=2,
        keeps_size=width > WIDEST_FITTED,
    )


def _told_of_claims(shown: int, of_claims: int | None) -> str:
    if of_claims is None or of_claims <= shown:
        return counted(shown, "claim")
    return f"{shown:,} of {of_claims:,} claims"


def _row(claim: ClaimLine, systems: Sequence[str], left: float, y: float) -> Iterator[Shape]:
    shown = clipped(claim.claim, left - 28, CLAIM_SIZE)
    yield words(shown, left - 10, y + 14, size=CLAIM_SIZE, anchor="end", hint=claim.claim)
    for place, name in enumerate(systems):
        mark = claim.marks.get(name)
        if mark is not None:
            x = left + CELL * place
            yield from _mark(mark, x, y)
            # Over the rest, so that the whole cell is the link.
            yield rectangle("touch", x, y, CELL, CELL, hint=f"{name}: {mark.words}", href=mark.href)


def _mark(mark: ClaimMark, x: float, y: float) -> Iterator[Shape]:
    low, high = 2.0, CELL - 2.0
    yield rectangle("cell", x + low, y + low, high - low, high - low)
    yield from label_mark(mark.label, x, y, CELL)
    if mark.by_person:
        yield polygon("person", (x + high - 6, y + low), (x + high, y + low), (x + high, y + low + 6))


def _key(y: float) -> Iterator[Shape]:
    x = 12.0
    shown = [ClaimMark(None if label == "unscored" else label, by_person=False) for label in KEY]
    for mark, text in zip([*shown, ClaimMark("yes", by_person=True)], [*KEY, WORDS_OF_A_PERSON], strict=True):
        yield from _mark(mark, x, y)
        yield words(text, x + CELL + 5, y + 14, size=11)
        x += CELL + 5 + text_width(text, 11) + 18
