"""The texts of a document set as judges read them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from annotation.models import Comparison, Document, DocumentSet, Project, Summary, Unit
from annotation.scoring.records import DOCUMENT_BREAK, judged_text
from evaluation.judging.protocol import Text
from evaluation.text import Span


@dataclass(frozen=True, slots=True)
class TextToJudge:
    """A text as judges read it, and the row of each of its units in the order of their numbers.

    `starts` says for each unit where its own document begins in the text; offsets of claims are
    kept from there.
    """

    text: Text
    units: tuple[Unit, ...] = ()
    starts: tuple[int, ...] = ()

    def unit(self, number: int) -> Unit | None:
        return self.units[number - 1] if 1 <= number <= len(self.units) else None

    def positions(self, numbers: Iterable[int]) -> list[int]:
        """The judge's unit numbers as positions of unit rows."""
        rows = [self.unit(number) for number in numbers]
        return [row.position for row in rows if row is not None]


def piece_of(
    summary: Summary, *, project: Project, units: Mapping[int, Sequence[Unit]], language: str
) -> TextToJudge:
    """The text of a summary that is judged, with its units."""
    text = judged_text(summary, project)
    # A text that was cut to its target ends within a unit.
    kept = tuple(unit for unit in units.get(summary.pk, ()) if unit.start < len(text))
    spans = tuple(Span(unit.start, min(unit.end, len(text))) for unit in kept)
    return TextToJudge(Text(text, spans, language), kept, (0,) * len(kept))


def units_of_summaries(document_set: DocumentSet) -> dict[int, list[Unit]]:
    units: dict[int, list[Unit]] = defaultdict(list)
    for unit in Unit.objects.filter(summary__document_set=document_set).order_by("position"):
        units[cast("int", unit.summary_id)].append(unit)
    return units


def models_of_peers(document_set: DocumentSet) -> dict[int, list[int]]:
    models: dict[int, list[int]] = defaultdict(list)
    comparisons = Comparison.objects.filter(peer__document_set=document_set).order_by("pk")
    for peer, model in comparisons.values_list("peer_id", "model_id"):
        models[peer].append(model)
    return models


def source_of(document_set: DocumentSet) -> TextToJudge:
    """All documents of the set as one text, a blank line between two, with units numbered through."""
    units: dict[int, list[Unit]] = defaultdict(list)
    for unit in Unit.objects.filter(document__document_set=document_set).order_by("position"):
        units[cast("int", unit.document_id)].append(unit)
    texts: list[str] = []
    rows: list[Unit] = []
    starts: list[int] = []
    start = 0
    for document in Document.objects.filter(document_set=document_set).order_by("position"):
        texts.append(document.text)
        rows.extend(units[document.pk])
        starts.extend([start] * len(units[document.pk]))
        start += len(document.text) + len(DOCUMENT_BREAK)
    spans = tuple(Span(at + row.start, at + row.end) for row, at in zip(rows, starts, strict=True))
    return TextToJudge(
        Text(DOCUMENT_BREAK.join(texts), spans, document_set.language), tuple(rows), tuple(starts)
    )
