"""Blind answers of people: those that agreement is computed from.

A reviewer's first answer counts, given before seeing the judge's. It counts even if it was withdrawn later: people who
differ from the judge withdraw more often than people who agree. Percents and ratings are those of closed assignments.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

from django.db.models import Q

from annotation.models import (
    SIDE_SCORES,
    Check,
    CoverageJudgment,
    Criterion,
    Rating,
    Verdict,
)
from annotation.models.document import cluster_of
from annotation.models.judgment import ASKED_AT_PRESENT, COUNTING
from evaluation.statistics import KappaWeights, Level

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from annotation.models import Project

PERCENT_STEPS = (20, 5, 1)
"""The scales of percents, coarsest first; what people gave lies on the first that holds it all."""

PERCENTS = "percents"
"""The key of the scale of units' percents."""

Value = str | int


class RatedItem(NamedTuple):
    """One answer of one person to one item; `at` is None where it was given elsewhere and brought in."""

    item: str
    rater: str
    value: Value
    cluster: str
    at: datetime | None


@dataclass(frozen=True, slots=True)
class Scale:
    """All answers on one scale.

    `level` says what differences between answers mean; `categories` is the whole scale in order. `judge` has the
    deciding judge's own answer by item, where it gives such.
    """

    key: str
    name: str
    question: str
    level: Level
    categories: tuple[Value, ...]
    weights: KappaWeights | None
    ratings: tuple[RatedItem, ...]
    judge: Mapping[str, Value]

    def by_item(self) -> dict[str, list[RatedItem]]:
        """The answers of each item, in the order in which they were given."""
        found: dict[str, list[RatedItem]] = defaultdict(list)
        for rating in self.ratings:
            found[rating.item].append(rating)
        return found


class CheckAnswer(NamedTuple):
    """The first answer of one person to a check; `at` is None if it came with a file."""

    check: int
    rater: str
    label: str
    at: datetime | None


class CheckFacts(NamedTuple):
    """Side, system and cluster of a check, with the deciding judge's answer."""

    key: int
    side: str
    judge_label: str | None
    system: str
    external_id: str
    group: str

    @property
    def cluster(self) -> str:
        return cluster_of(self.external_id, self.group)


def untouched_verdicts(project: Project) -> QuerySet[Verdict]:
    """People's answers to checks of claims in force, given by somebody who had seen nothing of the judge's."""
    return Verdict.objects.filter(
        # What an import brought and took away again was never said; what a person took back was.
        Q(person__isnull=False) | Q(withdrawn_at__isnull=True),
        role=Verdict.Role.REVIEWER,
        had_seen=False,
        label__isnull=False,
        check_row__project=project,
        check_row__is_current=True,
        check_row__side__in=SIDE_SCORES,
    )


def touched_count(project: Project) -> int:
    """Number of current answers left out because their author had seen others' answers. One query."""
    touched = Verdict.objects.filter(
        had_seen=True,
        role=Verdict.Role.REVIEWER,
        withdrawn_at__isnull=True,
        check_row__project=project,
        check_row__is_current=True,
        check_row__side__in=SIDE_SCORES,
    )
    return touched.count()


def check_answers(project: Project, *, by_rater: bool = False) -> list[CheckAnswer]:
    """The first untouched answer of each person to each check, in the order in which they were given. One query.

    What an imported file says of a check counts as one person's answer, without a time; `by_rater` as those of its
    raters, where it has their votes. A file that was imported again counts as it says now.
    """
    rows = untouched_verdicts(project).order_by("pk")
    columns = (
        "check_row_id",
        "person_id",
        "person__username",
        "origin_name",
        "label",
        "votes",
        "created_at",
    )
    found: dict[tuple[int, str], list[CheckAnswer]] = {}
    for check, person_id, person, origin, label, votes, at in rows.values_list(*columns):
        if person_id is not None:
            found.setdefault((check, person), [CheckAnswer(check, person, label or "", at)])
            continue
        said = [(f"{origin} {name}", vote) for name, vote in votes] if by_rater else []
        found[check, origin] = [
            CheckAnswer(check, rater, vote, None) for rater, vote in said or [(origin, label or "")]
        ]
    return [answer for answers in found.values() for answer in answers]


def check_facts(project: Project) -> dict[int, CheckFacts]:
    """The checks that have an untouched answer, by their keys. One query."""
    answered = untouched_verdicts(project).order_by().values("check_row")
    rows = Check.objects.filter(pk__in=answered).order_by("pk")
    columns = (
        "pk",
        "side",
        "judge_label",
        "peer__system__name",
        "peer__document_set__external_id",
        "peer__document_set__group",
    )
    return {row[0]: CheckFacts(*row) for row in rows.values_list(*columns)}


def percent_ratings(project: Project) -> list[RatedItem]:
    """Assessors' percents. One query.

    An item is `comparison:unit`, or `comparison:claim` where claims stand in for units: a key and a public id.
    Claims that were removed since are left out.
    """
    said = CoverageJudgment.objects.filter(
        COUNTING, ASKED_AT_PRESENT, had_seen=False, comparison__peer__document_set__project=project
    ).order_by("pk")
    rows = said.values_list(
        "comparison_id",
        "unit__public_id",
        "claim__public_id",
        "person__username",
        "percent",
        "comparison__peer__document_set__external_id",
        "comparison__peer__document_set__group",
        "created_at",
    )
    return [
        RatedItem(
            f"{comparison}:{unit or claim}",
            person or "",
            percent or 0,
            cluster_of(name, group),
            at,
        )
        for comparison, unit, claim, person, percent, name, group, at in rows
    ]


def whole_ratings(project: Project, criteria: Iterable[Criterion]) -> dict[int, list[RatedItem]]:
    """People's ratings of summaries as wholes, by the criterion's key. One query.

    An item is the public id of the summary. The last answer of each person counts.
    """
    said = Rating.objects.filter(
        Q(assignment__isnull=True) | Q(assignment__closed_at__isnull=False),
        criterion__in=criteria,
        judge__isnull=True,
        had_seen=False,
        withdrawn_at__isnull=True,
    ).order_by("pk")
    last: dict[tuple[int, str, str], RatedItem | None] = {}
    for criterion, peer, person, origin, value, name, group, at in said.values_list(
        "criterion_id",
        "summary__public_id",
        "person__username",
        "origin_name",
        "value",
        "summary__document_set__external_id",
        "summary__document_set__group",
        "created_at",
    ):
        who = person or origin
        last[criterion, peer, who] = (
            None if value is None else RatedItem(peer, who, round(value), cluster_of(name, group), at)
        )
    found: dict[int, list[RatedItem]] = defaultdict(list)
    for (criterion, _, _), rated in last.items():
        if rated is not None:
            found[criterion].append(rated)
    return found


def percent_categories(ratings: Iterable[RatedItem]) -> tuple[int, ...]:
    """The coarsest scale of percents on which all of these lie."""
    given = {rating.value for rating in ratings}
    step = next(step for step in PERCENT_STEPS if step == 1 or all(int(value) % step == 0 for value in given))
    return tuple(range(0, 101, step))


def slots(groups: Sequence[Sequence[RatedItem]]) -> list[list[Value | None]]:
    """Answers as raters x items for measures to which all raters are alike: the n-th answer of each item in row n."""
    width = max((len(group) for group in groups), default=0)
    return [[group[row].value if row < len(group) else None for group in groups] for row in range(width)]


def by_pair(
    groups: Iterable[Sequence[RatedItem]],
) -> dict[tuple[str, str], list[tuple[RatedItem, RatedItem]]]:
    """The answers that two people gave to the same items, by their names in order."""
    pairs: dict[tuple[str, str], list[tuple[RatedItem, RatedItem]]] = defaultdict(list)
    for group in groups:
        ordered = sorted(group, key=lambda rating: rating.rater)
        for one, other in combinations(ordered, 2):
            pairs[one.rater, other.rater].append((one, other))
    return pairs
