"""People's ratings by criterion and system, which assessors who must stay blind do not see."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

from annotation.analysis.leaderboard.leaderboard import ALL, Targets
from annotation.core.criteria import asked_of_people
from annotation.models import Rating
from evaluation.metrics import Criterion

if TYPE_CHECKING:
    from annotation.models import Project


@dataclass(frozen=True, slots=True)
class CriterionMean:
    """The mean of the answers to one criterion: over people, then over summaries, then over document sets.

    `mean` is None without answers. `n` counts the document sets with an answer.
    """

    criterion: str
    mean: float | None
    n: int


@dataclass(frozen=True, slots=True)
class QualityRow:
    """One system's means, in the order of the criteria. `summaries` counts the summaries with answers."""

    system: str
    system_id: str
    summaries: int
    means: tuple[CriterionMean, ...]


@dataclass(frozen=True, slots=True)
class QualityTable:
    """The systems at one target length, sorted by name."""

    target_words: int | None
    criteria: tuple[Criterion, ...]
    rows: tuple[QualityRow, ...]


def quality_tables(project: Project, *, target_words: int | Targets | None = ALL) -> list[QualityTable]:
    """Average people's answers to the current criteria, for all target lengths or one.

    Answers in open assignments do not count. Target lengths without answers are omitted. Makes two queries.
    """
    asked = asked_of_people(project)
    ratings = Rating.objects.filter(
        criterion__in=asked, judge__isnull=True, withdrawn_at__isnull=True
    ).exclude(assignment__isnull=False, assignment__closed_at__isnull=True)
    if not isinstance(target_words, Targets):
        ratings = ratings.filter(summary__target_words=target_words)
    last = {
        (target, (system, system_id), document_set, peer, criterion, person or origin): value
        for target, system, system_id, document_set, peer, criterion, person, origin, value in ratings.order_by(
            "pk"
        ).values_list(
            "summary__target_words",
            "summary__system__name",
            "summary__system__public_id",
            "summary__document_set_id",
            "summary_id",
            "criterion_id",
            "person_id",
            "origin_name",
            "value",
        )
    }
    tables: dict[int | None, dict[tuple[str, str], _OfSystem]] = defaultdict(lambda: defaultdict(_OfSystem))
    for (target, system, document_set, peer, criterion, _), value in last.items():
        if value is not None:
            tables[target][system].add(criterion, document_set, peer, value)
    return [
        QualityTable(
            target_words=target,
            criteria=tuple(row.fact for row in asked),
            rows=tuple(
                QualityRow(*system, len(of.peers), tuple(of.mean(row.name, row.pk) for row in asked))
                for system, of in sorted(tables[target].items())
            ),
        )
        for target in sorted(tables, key=lambda target: (target is None, target or 0))
    ]


class _OfSystem:
    def __init__(self) -> None:
        self.peers: set[int] = set()
        self._sets: dict[int, dict[int, dict[int, list[float]]]] = defaultdict(
            lambda: defaultdict(lambda: defaultdict(list))
        )

    def add(self, criterion: int, document_set: int, peer: int, value: float) -> None:
        self.peers.add(peer)
        self._sets[criterion][document_set][peer].append(value)

    def mean(self, name: str, criterion: int) -> CriterionMean:
        of_sets = [fmean(map(fmean, peers.values())) for peers in self._sets[criterion].values()]
        return CriterionMean(name, fmean(of_sets) if of_sets else None, len(of_sets))
