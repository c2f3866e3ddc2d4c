"""Blind answers of people and files."""

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
from annotation.models.criterion import COUNTED
from annotation.models.document import cluster_of
from annotation.models.judgment import ASKED_AT_PRESENT, COUNTING
from evaluation.statistics import KappaWeights, Level

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from annotation.models import Project

PERCENT_STEPS = (20, 5, 1)
"""Steps of percent scales, coarsest first."""

PERCENTS = "percents"
"""The key of the scale of units' percents."""

Value = str | int


class RatedItem(NamedTuple):
    """One answer of a rater to an item; `at` is None for an imported verdict."""

    item: str
    rater: str
    value: Value
    cluster: str
    at: datetime | None


@dataclass(frozen=True, slots=True)
class Scale:
    """The blind answers on one scale, and the deciding judge's answers by item.

    `categories` has the values of the scale in order. `weights` is None on a nominal scale.
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
        """Group `ratings` by item."""
        found: dict[str, list[RatedItem]] = defaultdict(list)
        for rating in self.ratings:
            found[rating.item].append(rating)
        return found


class CheckAnswer(NamedTuple):
    """The first blind answer of a person to a check, or the answer of a file, whose `at` is None."""

    check: int
    rater: str
    label: str
    at: datetime | None


class CheckFacts(NamedTuple):
    """Facts about a check. `judge_label` is None without a usable answer of the deciding judge."""

    key: int
    side: str
    judge_label: str | None
    system: str
    external_id: str
    group: str
    claim: str
    has_number: bool

    @property
    def cluster(self) -> str:
        return cluster_of(self.external_id, self.group)


def untouched_verdicts(project: Project) -> QuerySet[Verdict]:
    """Select the blind verdicts of reviewers and files on current checks of claims.

    Withdrawn verdicts of people are included.
    """
    return Verdict.objects.filter(
        # A person's first blind answer counts even if it was withdrawn later. A withdrawn answer of a file does not.
        Q(person__isnull=False) | Q(withdrawn_at__isnull=True),
        role=Verdict.Role.REVIEWER,
        had_seen=False,
        label__isnull=False,
        check_row__project=project,
        check_row__is_current=True,
        check_row__side__in=SIDE_SCORES,
    )


def touched_count(project: Project) -> int:
    """Count the reviewers' answers, not withdrawn, to current checks of claims that they gave after seeing others'
    answers.
    """
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
    """Load the first blind answer of each person to each check, and the last answer of each file.

    With `by_rater`, the votes of a file's raters, if there are any, replace its answer.
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
    """Load facts about the checks with a blind answer, by the check's key."""
    answered = untouched_verdicts(project).order_by().values("check_row")
    rows = Check.objects.filter(pk__in=answered).order_by("pk")
    columns = (
        "pk",
        "side",
        "judge_label",
        "summary__system__name",
        "summary__document_set__external_id",
        "summary__document_set__group",
        "claim__text",
        "has_number",
    )
    return {row[0]: CheckFacts(*row) for row in rows.values_list(*columns)}


def percent_ratings(project: Project) -> list[RatedItem]:
    """Load assessors' blind percents from submitted readings.

    An item is named `comparison:unit`, or `comparison:claim` if claims replace units. The name has the comparison's key
    and the public id of the unit or claim. Percents of claims that are no longer checked are left out.
    """
    said = CoverageJudgment.objects.filter(
        COUNTING, ASKED_AT_PRESENT, had_seen=False, comparison__summary__document_set__project=project
    ).order_by("pk")
    rows = said.values_list(
        "comparison_id",
        "unit__public_id",
        "claim__public_id",
        "person__username",
        "percent",
        "comparison__summary__document_set__external_id",
        "comparison__summary__document_set__group",
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
    """Load blind ratings of summaries by people and files, by the criterion's key.

    An item is the public id of the summary. Only the last answer of each author counts; an empty one withdraws it.
    """
    people = Rating.objects.filter(COUNTED, criterion__in=criteria, judge__isnull=True, had_seen=False)
    said = people.order_by("pk")
    last: dict[tuple[int, str, str], RatedItem | None] = {}
    for criterion, summary, person, origin, value, name, group, at in said.values_list(
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
        last[criterion, summary, who] = (
            None if value is None else RatedItem(summary, who, round(value), cluster_of(name, group), at)
        )
    found: dict[int, list[RatedItem]] = defaultdict(list)
    for (criterion, _, _), rated in last.items():
        if rated is not None:
            found[criterion].append(rated)
    return found


def judge_ratings(project: Project, criteria: Iterable[Criterion]) -> dict[int, dict[str, Value]]:
    """Load the deciding judge's latest usable ratings, by the criterion's key and the summary's public id."""
    if project.deciding_judge_id is None:
        return {}
    rows = Rating.objects.filter(judge=project.deciding_judge_id, criterion__in=criteria, value__isnull=False)
    found: dict[int, dict[str, Value]] = defaultdict(dict)
    for criterion, summary, value in rows.order_by("pk").values_list(
        "criterion_id", "summary__public_id", "value"
    ):
        found[criterion][summary] = round(value or 0)
    return found


def percent_categories(ratings: Iterable[RatedItem]) -> tuple[int, ...]:
    """Return the coarsest scale of percents that contains all ratings."""
    given = {rating.value for rating in ratings}
    step = next(step for step in PERCENT_STEPS if step == 1 or all(int(value) % step == 0 for value in given))
    return tuple(range(0, 101, step))


def slots(groups: Sequence[Sequence[RatedItem]]) -> list[list[Value | None]]:
    """Make a table of the answers: row n has each item's n-th answer, or None."""
    width = max((len(group) for group in groups), default=0)
    return [[group[row].value if row < len(group) else None for group in groups] for row in range(width)]


def by_pair(
    groups: Iterable[Sequence[RatedItem]],
) -> dict[tuple[str, str], list[tuple[RatedItem, RatedItem]]]:
    """Pair the answers of two raters to the same item, by the raters' names in order."""
    pairs: dict[tuple[str, str], list[tuple[RatedItem, RatedItem]]] = defaultdict(list)
    for group in groups:
        ordered = sorted(group, key=lambda rating: rating.rater)
        for one, other in combinations(ordered, 2):
            pairs[one.rater, other.rater].append((one, other))
    return pairs
