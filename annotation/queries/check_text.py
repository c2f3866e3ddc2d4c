"""The text that a claim is held against, in numbered passages, and the words around the claim itself."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.db import connection

from annotation.models import Check

if TYPE_CHECKING:
    from annotation.models import Summary

WHOLE_TEXT_UP_TO = 40
"""A longer text is shown as the passages around what was found, with the whole one a key away."""
PASSAGE_MARGIN = 2
PASSAGES_FOUND = 3

# By hand: they are asked at every claim, and rows of units, which may be hundreds, took longer to make than to ask.
_OF_SUMMARY = """
SELECT position, start, "end" FROM annotation_unit WHERE summary_id = %s AND retired_by_id IS NULL ORDER BY position
"""
_BESIDE = """
SELECT id, position, start, "end" FROM annotation_unit
WHERE summary_id = %s AND position BETWEEN %s AND %s AND retired_by_id IS NULL ORDER BY position
"""
_TEXTS = "SELECT id, text FROM annotation_document WHERE document_set_id = %s"
_OF_DOCUMENTS = """
SELECT unit.document_id, unit.position, unit.start, unit."end"
FROM annotation_unit unit JOIN annotation_document ON annotation_document.id = unit.document_id
WHERE annotation_document.document_set_id = %s AND unit.retired_by_id IS NULL ORDER BY unit.position
"""


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


def text_held_against(check: Check) -> list[TextUnit]:
    """The units of the text that decides the check: the peer summary, or its source documents."""
    if check.side == Check.Side.REFERENCE:
        return text_of(check.peer)
    texts: dict[int, str] = dict(_rows(_TEXTS, check.peer.document_set_id))
    found: list[TextUnit] = []
    before: int | None = None
    for document, number, start, end in _rows(_OF_DOCUMENTS, check.peer.document_set_id):
        found.append(_numbered(number, start, end, texts[document], is_new_text=document != before))
        before = document
    return found


def text_of(summary: Summary) -> list[TextUnit]:
    """The units of a summary as they are cut at present."""
    return [
        _numbered(number, start, end, summary.text) for number, start, end in _rows(_OF_SUMMARY, summary.pk)
    ]


def context_of(check: Check) -> Iterator[ContextUnit]:
    """The unit that the claim was taken from, with the ones beside it."""
    unit = check.claim.unit
    text = check.claim.claim_set.summary
    if unit is None or text is None:
        return
    for key, number, start, end in _rows(_BESIDE, text.pk, unit.position - 1, unit.position + 1):
        yield ContextUnit(number=number, text=text.text[start:end], is_here=key == unit.pk)


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


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.casefold()))


def _numbered(number: int, start: int, end: int, text: str, *, is_new_text: bool = False) -> TextUnit:
    opens = is_new_text or "\n" in text[max(0, start - 2) : start]
    return TextUnit(number=number, text=text[start:end].strip(), opens=opens)


def _rows(statement: str, *values: int) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return list(cursor.fetchall())
