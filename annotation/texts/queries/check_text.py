"""The text that a claim is compared with, in numbered passages, and the context of the claim."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from django.db.models import Count, IntegerField, OuterRef, Subquery

from annotation.models import Check, Document, Summary, Unit

WHOLE_TEXT_UP_TO = 40
"""The largest number of passages of a text that is always shown whole."""
PASSAGE_MARGIN = 2
PASSAGES_FOUND = 3
_UP_TO_IT = Summary.objects.filter(
    document_set=OuterRef("document_set"), is_summary=True, public_id__lte=OuterRef("summary__public_id")
)
SUMMARY_NUMBER = Subquery(
    _UP_TO_IT.order_by().values("document_set").annotate(count=Count("pk")).values("count"),
    output_field=IntegerField(),
)
"""The number of a check's summary, from 1, in a random order of its document set; null without a summary."""


@dataclass(frozen=True, slots=True)
class TextUnit:
    """A numbered unit of a text. `opens` is True after a line break, and for the first unit of a source document."""

    number: int
    text: str
    opens: bool = False


@dataclass(frozen=True, slots=True)
class ContextUnit:
    """A unit near the claim in the claim's own text; `is_here` marks the unit of the claim."""

    number: int
    text: str
    is_here: bool


@dataclass(frozen=True, slots=True)
class TextsAround:
    """The text that a claim is compared with, and the claim's unit with its neighbours.

    `context` is empty if the claim does not belong to a unit of a summary.
    """

    compared: tuple[TextUnit, ...]
    context: tuple[ContextUnit, ...]


def texts_around(check: Check) -> TextsAround:
    unit, source = check.claim.unit, check.claim.claim_set.summary
    context: tuple[ContextUnit, ...] = ()
    if unit is not None and source is not None:
        near = source.units.filter(position__range=(unit.position - 1, unit.position + 1))
        context = tuple(
            ContextUnit(number=each.position, text=source.text[each.start : each.end], is_here=each == unit)
            for each in near.order_by("position")
        )
    return TextsAround(compared=compared_text(check), context=context)


def compared_text(check: Check) -> tuple[TextUnit, ...]:
    """Load the units of the text that decides the check: the summary or the source documents."""
    if check.summary is not None and not check.reads_source:
        return tuple(text_of(check.summary))
    document_set = check.document_set_id
    texts = dict(Document.objects.filter(document_set=document_set).values_list("pk", "text"))
    units = Unit.objects.filter(document__document_set=document_set).order_by("position")
    before, found = None, []
    for document, number, start, end in units.values_list("document_id", "position", "start", "end"):
        found.append(_numbered(number, start, end, texts[document], is_new_text=document != before))
        before = document
    return tuple(found)


def text_of(summary: Summary) -> list[TextUnit]:
    units = summary.units.order_by("position").values_list("position", "start", "end")
    return [_numbered(number, start, end, summary.text) for number, start, end in units]


def found_passages(claim: str, texts: Sequence[str]) -> list[int]:
    """Find up to PASSAGES_FOUND texts that share most words with a claim, best first. Rare words weigh more.

    The result has the places of these texts, from 0. Texts with less than half the weight of the best one are left out;
    the result is empty if no word is shared.
    """
    words = [_words(text) for text in texts]
    spread = Counter(word for text in words for word in text)
    claimed = _words(claim)
    weights = [sum(math.log(1 + len(texts) / spread[word]) for word in claimed & text) for text in words]
    ranked = sorted((place for place, weight in enumerate(weights) if weight > 0), key=lambda p: -weights[p])
    enough = weights[ranked[0]] / 2 if ranked else 0.0
    return [place for place in ranked[:PASSAGES_FOUND] if weights[place] >= enough]


def shown_places(count: int, interesting: Collection[int], *, whole_text: bool) -> list[int]:
    """Return the places, from 0, of passages to show: all with `whole_text` or of a short text, otherwise those near
    interesting passages. If none is interesting, return the first WHOLE_TEXT_UP_TO places.
    """
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
