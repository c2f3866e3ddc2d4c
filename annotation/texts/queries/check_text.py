"""The text that a claim is compared with, in numbered passages, and the words around the claim itself."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from annotation.core import by_hand
from annotation.models import Check
from annotation.texts import sql

if TYPE_CHECKING:
    from annotation.models import Summary

WHOLE_TEXT_UP_TO = 40
"""A longer text is shown as the passages around what was found, with the whole one a key away."""
PASSAGE_MARGIN = 2
PASSAGES_FOUND = 3


@dataclass(frozen=True, slots=True)
class TextUnit:
    """A numbered unit of a text; `opens` tells that a document or a paragraph begins with it."""

    number: int
    text: str
    opens: bool = False


@dataclass(frozen=True, slots=True)
class ContextUnit:
    """A unit of the text that a claim was taken from; `is_here` marks the claim's own."""

    number: int
    text: str
    is_here: bool


@dataclass(frozen=True, slots=True)
class TextsAround:
    """What stands around a claim: the text that decides it, and the unit that it was taken from with those beside it.

    `context` is empty where the claim belongs to no unit of a summary.
    """

    compared: tuple[TextUnit, ...]
    context: tuple[ContextUnit, ...]


def texts_around(check: Check) -> TextsAround:
    """The text that decides the check and the claim's own, as they are cut at present."""
    unit, source = check.claim.unit, check.claim.claim_set.summary
    if unit is None or source is None:
        return TextsAround(compared=compared_text(check), context=())
    held, key = _held(check)
    place = (source.pk, unit.position - 1, unit.position + 1)
    rows = by_hand.rows(sql.UNITS_AND_CONTEXT.format(held=held, context=sql.CONTEXT), [key, *place])
    return TextsAround(
        compared=tuple(_in_text(check, [row for is_context, *row in rows if not is_context])),
        context=tuple(
            ContextUnit(number=number, text=source.text[start:end], is_here=key == unit.pk)
            for is_context, _, key, number, start, end in rows
            if is_context
        ),
    )


def compared_text(check: Check) -> tuple[TextUnit, ...]:
    """The units of the text that decides the check: the peer summary, or its source documents."""
    held, key = _held(check)
    return tuple(_in_text(check, [row for _, *row in by_hand.rows(sql.UNITS_OF.format(held=held), [key])]))


def text_of(summary: Summary) -> list[TextUnit]:
    """The units of a summary as they are cut at present."""
    return [
        _numbered(number, start, end, summary.text)
        for *_, number, start, end in by_hand.rows(sql.UNITS_OF.format(held=sql.OF_SUMMARY), [summary.pk])
    ]


def found_passages(claim: str, texts: Sequence[str]) -> frozenset[int]:
    """The places (from 0) of the few texts that share most words with a claim, rare words counting more.

    Says nothing of whether they support it: it is the same help for a true claim and a false one. Empty where
    nothing is shared.
    """
    words = [_words(text) for text in texts]
    spread = Counter(word for text in words for word in text)
    claimed = _words(claim)
    weights = [sum(math.log(1 + len(texts) / spread[word]) for word in claimed & text) for text in words]
    ranked = sorted((place for place, weight in enumerate(weights) if weight > 0), key=lambda p: -weights[p])
    enough = weights[ranked[0]] / 2 if ranked else 0.0
    return frozenset(place for place in ranked[:PASSAGES_FOUND] if weights[place] >= enough)


def shown_places(count: int, interesting: Collection[int], *, whole_text: bool) -> list[int]:
    """Which of `count` passages (from 0) are shown: all of a short text, else those around the interesting ones."""
    if whole_text or count <= WHOLE_TEXT_UP_TO:
        return list(range(count))
    wanted = {
        near for place in interesting for near in range(place - PASSAGE_MARGIN, place + PASSAGE_MARGIN + 1)
    } or set(range(WHOLE_TEXT_UP_TO))
    return [place for place in range(count) if place in wanted]


def _held(check: Check) -> tuple[str, int]:
    """Where the units of the text that decides the check are, as part of a statement with the key that it asks for."""
    if check.side == Check.Side.REFERENCE:
        return sql.OF_SUMMARY, check.peer_id
    return sql.OF_DOCUMENTS, check.peer.document_set_id


def _in_text(check: Check, rows: Iterable[Sequence[Any]]) -> Iterator[TextUnit]:
    """Units with their words; those of a summary belong to no document."""
    texts: dict[int | None, str] = {None: check.peer.text}
    if check.side == Check.Side.PEER:
        texts = dict(by_hand.rows(sql.DOCUMENTS, [check.peer.document_set_id]))
    before: int | None = None
    for document, _, number, start, end in rows:
        yield _numbered(number, start, end, texts[document], is_new_text=document != before)
        before = document


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.casefold()))


def _numbered(number: int, start: int, end: int, text: str, *, is_new_text: bool = False) -> TextUnit:
    opens = is_new_text or "\n" in text[max(0, start - 2) : start]
    return TextUnit(number=number, text=text[start:end].strip(), opens=opens)
