"""Two systems side by side."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

from django.db.models import Exists, OuterRef

from annotation.analysis.explanation.statements import says_who, with_overruled
from annotation.analysis.leaderboard.averages import DRAWS, Average, Observation, averages
from annotation.models import SCORE_SIDES, Check, Label, Score, Summary
from annotation.models.claim import NOT_YES
from annotation.models.document import cluster_of

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from annotation.analysis.slices.split import Split
    from annotation.models import DocumentSet, Project, System

MOST_CHECKS = 300
"""The maximum number of checks on the page."""
FEWEST_DRAWS, MOST_RESAMPLED = 1000, 10_000_000
"""Limits of the number of bootstrap samples (see `draws_for`)."""


@dataclass(frozen=True, slots=True)
class Compared:
    """The summary of one system, and its checks in `differing_checks`."""

    system: System
    summary: Summary
    checks: tuple[Check, ...]

    @property
    def who(self) -> str:
        return says_who(check.final_source for check in self.checks)


@dataclass(frozen=True, slots=True)
class ComparedSet:
    """The summaries of two systems in a document set. A system without a summary there is left out."""

    document_set: DocumentSet
    sides: tuple[Compared, ...]


def paired_differences(
    project: Project,
    first: System,
    second: System,
    *,
    score: str,
    target_words: int | None,
    split: Split | None = None,
) -> dict[str, Average]:
    """Return the mean difference of a score at one target length by slice: first minus second, over common document
    sets.

    Without a split, the only slice is "". Slices without a common document set are left out.
    """
    rows = Score.objects.filter(
        project=project,
        summary__system__in=(first, second),
        summary__target_words=target_words,
        **{f"{score}__isnull": False},
    )
    of_set = "summary__document_set__external_id", "summary__document_set__group"
    values: dict[tuple[str, str], dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for name, group, system, value in rows.values_list(*of_set, "summary__system", score):
        cluster = split.clusters.get(name, name) if split else cluster_of(name, group)
        values[name, cluster][system].append(value)
    # A slice takes the place of a system here.
    differences = [
        Observation(
            split.slices[name] if split else "", name, cluster, (fmean(by[first.pk]) - fmean(by[second.pk]),)
        )
        for (name, cluster), by in values.items()
        if len(by) > 1
    ]
    found = averages(differences, [score], draws=draws_for(len(differences))) if differences else {}
    return {name: of_slice[score] for name, of_slice in found.items()}


def draws_for(rows: int) -> int:
    """Return the number of bootstrap samples for this number of rows: fewer above 1,000 rows."""
    return min(DRAWS, max(FEWEST_DRAWS, MOST_RESAMPLED // max(rows, 1)))


def differing_checks(
    project: Project, first: System, second: System, *, score: str, target_words: int | None
) -> QuerySet[Check]:
    """Select at most MOST_CHECKS checks behind the difference of two systems, largest impact first.

    For coverage, these are the checks with the answer yes whose claim has a no or unsure for the other system. For
    alignment, these are the checks of both systems with a no or unsure.
    """
    both = Check.objects.filter(
        project=project,
        side=SCORE_SIDES[score],
        is_current=True,
        summary__system__in=(first, second),
        summary__target_words=target_words,
    )
    if score == "alignment":
        found = both.filter(final_label__in=NOT_YES)
    else:
        without = both.filter(claim=OuterRef("claim"), final_label__in=NOT_YES)
        lacking = without.exclude(summary__system=OuterRef("summary__system"))
        found = both.filter(Exists(lacking), final_label=Label.YES)
    rows = (
        with_overruled(found)
        .select_related("claim", "document_set")
        .order_by("-impact", "document_set", "pk")
    )
    return rows[:MOST_CHECKS]


def compared_sets(
    checks: QuerySet[Check], first: System, second: System, *, target_words: int | None
) -> list[ComparedSet]:
    """Return the document sets of these checks with the systems' summaries, the set with the most checks first."""
    by_summary: dict[int | None, list[Check]] = defaultdict(list)
    for check in checks:
        by_summary[check.summary_id].append(check)
    most_first = Counter(check.document_set_id for check in checks).most_common()
    by_key = {check.document_set_id: check.document_set for check in checks}
    sets = {key: by_key[key] for key, _ in most_first}
    rows = Summary.objects.filter(
        document_set__in=sets, system__in=(first, second), target_words=target_words, is_summary=True
    ).order_by("pk")
    summaries = {(row.document_set_id, row.system_id): row for row in rows}
    return [
        ComparedSet(
            document_set,
            tuple(
                Compared(system, summary, tuple(by_summary[summary.pk]))
                for system in (first, second)
                if (summary := summaries.get((key, system.pk)))
            ),
        )
        for key, document_set in sets.items()
    ]
