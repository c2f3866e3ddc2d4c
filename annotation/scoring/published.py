"""Published tables as readers want them: what was said of one summary, and the mean of each system."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from statistics import fmean
from typing import TYPE_CHECKING, Any, NamedTuple

from django.db.models import Avg, Count, QuerySet

from annotation.models import PublishedScore

if TYPE_CHECKING:
    from annotation.models import Project, Summary

LINES_SHOWN = 20


@dataclass(frozen=True, slots=True)
class PublishedFigures:
    """One line of a table about a summary: who judged, and its figures by name, in the table's own order."""

    table: str
    origin_name: str
    assessor: str
    figures: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class PublishedMean:
    """A system's mean in one table and target length.

    `mean` is its published mean coverage, in [0, 1], averaged within a document set first; `sets` how many
    document sets it is over. `scores` is the mean of responsiveness or usefulness where that is what the table has.
    """

    table: str
    origin_name: str
    target_words: int | None
    system: str
    mean: float | None
    scores: float | None
    sets: int
    lines: int

    @property
    def name(self) -> str:
        """The table in words."""
        return str(PublishedScore.Table(self.table).label)


FIGURE_NAMES = (
    ("mean", "Mean coverage"),
    ("median", "Median"),
    ("deviation", "Deviation (n − 1)"),
    ("adjusted_mean", "Length-adjusted mean"),
    ("adjusted_median", "Length-adjusted median"),
    ("adjusted_deviation", "Length-adjusted deviation"),
    ("scores", "Scores"),
    ("unmarked", "Unmarked units related"),
    ("unmarked_questions", "Answers about unmarked units"),
    ("quality", "Quality answers"),
    ("words", "Words"),
    ("model_units", "Model units"),
    ("peer_units", "Peer units"),
    ("marked_units", "Marked peer units"),
    ("unmarked_units", "Unmarked peer units"),
)
"""Figures that are shown, in this order."""


def published_assessor(assessor: str, origin_name: str) -> str:
    """What an assessor of a published table is called among raters."""
    return f"import:{origin_name} {assessor}".rstrip()


def published_scores(project: Project) -> QuerySet[PublishedScore]:
    """All lines of all published tables, in the order in which they came."""
    return PublishedScore.objects.filter(project=project).select_related("peer")


def published_of(summary: Summary) -> tuple[PublishedFigures, ...]:
    """What published tables say of one summary."""
    rows = PublishedScore.objects.filter(peer=summary).order_by("pk")[:LINES_SHOWN]
    return tuple(
        PublishedFigures(
            table=row.get_table_display(),
            origin_name=row.origin_name,
            assessor=row.assessor,
            figures=tuple(
                (words, _shown(row.figures[name]))
                for name, words in FIGURE_NAMES
                if row.figures.get(name) is not None
            ),
        )
        for row in rows
    )


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return " ".join("–" if part is None else f"{part:g}" for part in value)
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def published_means(project: Project) -> tuple[PublishedMean, ...]:
    """Every system's mean in every table, by target length; best first.

    Never over several lengths or tables: their figures do not compare.
    """
    found: dict[_TableLine, _OfSets] = defaultdict(_OfSets)
    rows = PublishedScore.objects.filter(project=project).order_by()
    # A database means thousands of lines sooner than they could be fetched.
    of_sets = rows.values_list(*_LINE, "set_name", "document").annotate(Avg("mean"), Count("pk"))
    for *line, _, _, mean, lines in of_sets:
        found[_TableLine(*line)].add(mean, lines)
    for *line, set_name, document, figures in rows.filter(mean=None).values_list(
        *_LINE, "set_name", "document", "figures"
    ):
        found[_TableLine(*line)].scores[set_name, document].append(_mean(figures.get("scores", ())))
    return tuple(sorted((of_line.mean_of(line) for line, of_line in found.items()), key=_rank))


class _TableLine(NamedTuple):
    table: str
    origin_name: str
    target_words: int | None
    system: str


_LINE = _TableLine._fields


@dataclass(slots=True)
class _OfSets:
    """What a table says of one system at one length: a mean for each document set, or scores."""

    means: list[float | None] = field(default_factory=list)
    lines: int = 0
    scores: dict[tuple[str, str], list[float | None]] = field(default_factory=lambda: defaultdict(list))

    def add(self, mean: float | None, lines: int) -> None:
        self.means.append(mean)
        self.lines += lines

    def mean_of(self, line: _TableLine) -> PublishedMean:
        return PublishedMean(
            *line,
            mean=_mean(self.means),
            scores=_mean(map(_mean, self.scores.values())),
            sets=len(self.means),
            lines=self.lines,
        )


def _rank(row: PublishedMean) -> tuple[str, str, int, float, str]:
    best = row.mean if row.mean is not None else row.scores
    return row.table, row.origin_name, row.target_words or 0, -(best or 0.0), row.system


def _mean(values: Iterable[float | None]) -> float | None:
    present = [value for value in values if value is not None]
    return fmean(present) if present else None
