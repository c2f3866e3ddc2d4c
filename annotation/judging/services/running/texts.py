"""The texts of document sets in the form in which judges get them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from annotation.models import Comparison, Document, DocumentSet, Project, Summary, Unit
from annotation.scoring.records import judged_text
from evaluation.judging.protocol import Rating, Text, Verdict
from evaluation.text import DOCUMENT_BREAK, Span

Said = TypeVar("Said", Verdict, Rating)


@dataclass(frozen=True, slots=True)
class TextToJudge:
    """A text for judges, with the rows of its units in the order of their numbers.

    `starts` has the offset in the text at which each unit's document starts; the stored offsets of claims count from
    there.
    """

    text: Text
    units: tuple[Unit, ...] = ()
    starts: tuple[int, ...] = ()

    def unit(self, number: int) -> Unit | None:
        return self.units[number - 1] if 1 <= number <= len(self.units) else None

    def placed(self, said: Said) -> Said:
        """Convert the evidence of an answer from numbers of units to positions of their rows, without unknown units."""
        rows = [self.unit(number) for number in said.evidence]
        return replace(said, evidence=tuple(row.position for row in rows if row is not None))


class TextsToJudge:
    """The texts of document sets.

    `only` limits the summaries under test to these keys.
    """

    def __init__(
        self, document_sets: Sequence[DocumentSet], project: Project, only: Collection[int] | None = None
    ) -> None:
        self.project = project
        self._languages = {each.pk: each.language for each in document_sets}
        keys = list(self._languages)
        self.summaries: dict[int, list[Summary]] = defaultdict(list)
        self._texts: dict[int, Summary] = {}
        summaries = Summary.objects.filter(document_set_id__in=keys).select_related("system").order_by("pk")
        for summary in summaries:
            self._texts[summary.pk] = summary
            if summary.is_summary and (only is None or summary.pk in only):
                self.summaries[summary.document_set_id].append(summary)
        self._references: dict[int, list[int]] = defaultdict(list)
        comparisons = Comparison.objects.filter(summary__document_set_id__in=keys).order_by("pk")
        for key, reference in comparisons.values_list("summary_id", "reference_id"):
            self._references[key].append(reference)
        self._documents: dict[int, list[Document]] = defaultdict(list)
        for document in Document.objects.filter(document_set_id__in=keys).order_by("position"):
            self._documents[document.document_set_id].append(document)
        self._units: dict[tuple[int | None, int | None], list[Unit]] = defaultdict(list)
        of_summaries = Unit.objects.filter(summary__document_set_id__in=keys)
        of_documents = Unit.objects.filter(document__document_set_id__in=keys)
        for unit in [*of_summaries.order_by("position"), *of_documents.order_by("position")]:
            self._units[unit.summary_id, unit.document_id].append(unit)

    def references_of(self, summary: Summary) -> Sequence[int]:
        """The keys of the references that a summary is compared with."""
        return self._references.get(summary.pk, ())

    def reference_of(self, summary: Summary) -> TextToJudge | None:
        """Return the first reference that a summary is compared with; None if there is none."""
        keys = self.references_of(summary)
        return self.piece(self._texts[keys[0]]) if keys else None

    def references(self, document_set: int) -> list[Summary]:
        """The references that summaries of the set are compared with, sorted by key."""
        keys = {
            reference for summary in self.summaries[document_set] for reference in self.references_of(summary)
        }
        return [self._texts[key] for key in sorted(keys)]

    def piece(self, summary: Summary) -> TextToJudge:
        """The judged text of a summary, with its units."""
        text = judged_text(summary, self.project)
        # Keep a unit that is cut, because a text that is cut to its target may end within a unit.
        kept = tuple(unit for unit in self._units.get((summary.pk, None), ()) if unit.start < len(text))
        spans = tuple(Span(unit.start, min(unit.end, len(text))) for unit in kept)
        return TextToJudge(
            Text(text, spans, self._languages[summary.document_set_id]), kept, (0,) * len(kept)
        )

    def source(self, document_set: int) -> TextToJudge:
        """All documents of the set as one text, with blank lines between them and consecutive unit numbers."""
        texts: list[str] = []
        rows: list[Unit] = []
        starts: list[int] = []
        start = 0
        for document in self._documents.get(document_set, ()):
            units = self._units.get((None, document.pk), ())
            texts.append(document.text)
            rows.extend(units)
            starts.extend([start] * len(units))
            start += len(document.text) + len(DOCUMENT_BREAK)
        spans = tuple(Span(at + row.start, at + row.end) for row, at in zip(rows, starts, strict=True))
        text = Text(DOCUMENT_BREAK.join(texts), spans, self._languages[document_set])
        return TextToJudge(text, tuple(rows), tuple(starts))
