"""Published tables as readers want them: what was said of one summary, and the mean of each system."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Any, NamedTuple

from django.db.models import QuerySet

from annotation.models import PublishedScore

if TYPE_CHECKING:
    from annotation.models import Project, Summary

SHOWN_AT_MOST = 20


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


NAMES = (
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
    rows = PublishedScore.objects.filter(peer=summary).order_by("pk")[:SHOWN_AT_MOST]
    return tuple(
        PublishedFigures(
            table=row.get_table_display(),
            origin_name=row.origin_name,
            assessor=row.assessor,
            figures=tuple(
                (words, _shown(row.figures[name]))
                for name, words in NAMES
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
    found: dict[_Line, dict[tuple[str, str], list[tuple[float | None, float | None]]]] = defaultdict(
        lambda: defaultdict(list)
    )
    rows = PublishedScore.objects.filter(project=project).order_by("pk")
    for table, origin, target, system, set_name, document, mean, figures in rows.values_list(
        "table", "origin_name", "target_words", "system", "set_name", "document", "mean", "figures"
    ):
        said = (mean, _mean(figures.get("scores", ())))
        found[_Line(table, origin, target, system)][set_name, document].append(said)
    made = (_mean_of(line, list(sets.values())) for line, sets in found.items())
    return tuple(sorted(made, key=_rank))


class _Line(NamedTuple):
    table: str
    origin_name: str
    target_words: int | None
    system: str


def _mean_of(line: _Line, sets: Sequence[Sequence[tuple[float | None, float | None]]]) -> PublishedMean:
    means = [_mean([mean for mean, _ in of_set]) for of_set in sets]
    scores = [_mean([score for _, score in of_set]) for of_set in sets]
    return PublishedMean(
        *line,
        mean=_mean(means),
        scores=_mean(scores),
        sets=len(sets),
        lines=sum(map(len, sets)),
    )


def _rank(row: PublishedMean) -> tuple[str, str, int, float, str]:
    best = row.mean if row.mean is not None else row.scores
    return row.table, row.origin_name, row.target_words or 0, -(best or 0.0), row.system


def _mean(values: Iterable[float | None]) -> float | None:
    present = [value for value in values if value is not None]
    return fmean(present) if present else None
