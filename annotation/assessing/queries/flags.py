"""What a manager should look at in closed work: nothing here says that anything is wrong.

Of closed work alone: a draft is its assessor's own until it is submitted.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING

from django.db.models import (
    BooleanField,
    Count,
    Exists,
    ExpressionWrapper,
    F,
    Max,
    Min,
    OuterRef,
    Q,
    Sum,
)
from django.db.models.functions import Coalesce, Length

from annotation.models import Assignment, Sitting, Summary, SummaryJudgment, UnitJudgment
from annotation.models.judgment import ASKED_AT_PRESENT

if TYPE_CHECKING:
    from django.db.models import QuerySet

FASTEST_WORDS_PER_SECOND = 10
"""Nobody who judges a text reads it faster: 600 words a minute, twice what the fast among most adults read silently.

Brysbaert (How many words do we read per minute?, 2019) finds 238 words a minute on average in English non-fiction,
175 to 300 for most, and nothing beyond but scanning for a word. A time below it says that the text was not read;
a time above it says nothing.
"""
CHARACTERS_PER_WORD = 6
"""Five letters and a space. Texts are measured by their length, which the database knows without their words."""

FASTEST_CHARACTERS_PER_MS = FASTEST_WORDS_PER_SECOND * CHARACTERS_PER_WORD / 1000

FEWEST_ALIKE = 10
"""Units in a set from which on equal percents throughout are worth a look.

Even where half of all units deserve the same percent, ten equal ones come about once in a thousand sets.
"""


@dataclass(frozen=True, slots=True)
class Flags:
    """Counts over closed sittings, each beside what it is a count of.

    `fast_units` took less time than reading the model unit takes; it may have been read before, so that a few
    mean nothing. `fast_summaries` took less time in all (every unit of it, and its questions) than reading the peer
    summary takes. Work without recorded times is never flagged as fast. `alike_sittings` have at least ten units,
    all with the same percent. `percents_without_marks` and `marks_without_percent` (marks with 0 %) are allowed and
    seldom meant. `own_models` and `own_peers` count summaries judged by or against one that the assessor wrote.
    `given_again` counts sittings on a set that was taken away from the same person before: whoever may see scores while
    they have nothing to judge may have seen them in between.
    """

    sittings: int = 0
    units: int = 0
    summaries: int = 0
    fast_units: int = 0
    fast_summaries: int = 0
    alike_sittings: int = 0
    percents_without_marks: int = 0
    marks_without_percent: int = 0
    own_models: int = 0
    own_peers: int = 0
    given_again: int = 0

    def __add__(self, other: Flags) -> Flags:
        return Flags(*(one + more for one, more in zip(astuple(self), astuple(other), strict=True)))


def flags_by_sitting(sittings: QuerySet[Sitting]) -> dict[int, Flags]:
    """The flags of each closed one of these sittings by its key. Seven queries, however many."""
    closed = sittings.filter(closed_at__isnull=False).order_by()
    said = _said(closed)
    fast_units = _fast_units(closed)
    summaries, fast_summaries = _readings(closed)
    own = _own(closed)
    again = _given_again(closed)
    flags = {}
    for key in said.keys() | summaries.keys() | own.keys():
        units, is_alike, without_marks, without_percent = said.get(key, (0, False, 0, 0))
        own_models, own_peers = own.get(key, (0, 0))
        flags[key] = Flags(
            sittings=1,
            units=units,
            summaries=summaries[key],
            fast_units=fast_units[key],
            fast_summaries=fast_summaries[key],
            alike_sittings=int(is_alike),
            percents_without_marks=without_marks,
            marks_without_percent=without_percent,
            own_models=own_models,
            own_peers=own_peers,
            given_again=int(key in again),
        )
    return flags


def flags_by_person(sittings: QuerySet[Sitting]) -> dict[int, Flags]:
    """The same, added up by the key of the assessor. Eight queries."""
    total: dict[int, Flags] = defaultdict(Flags)
    flags = flags_by_sitting(sittings)
    holders = sittings.filter(closed_at__isnull=False, assessor__isnull=False)
    for key, person in holders.order_by().values_list("pk", "assessor_id"):
        if person is not None:
            total[person] += flags.get(key, Flags())
    return dict(total)


def _said(closed: QuerySet[Sitting]) -> Mapping[int, tuple[int, bool, int, int]]:
    """By sitting: units with a percent, whether all are alike, percents without marks, marks with 0 %."""
    rows = (
        UnitJudgment.objects.filter(
            ASKED_AT_PRESENT,
            assignment__sitting__in=closed.values("pk"),
            is_current=True,
            percent__isnull=False,
        )
        .values_list("assignment__sitting_id")
        .annotate(
            units=Count("pk"),
            least=Min("percent"),
            most=Max("percent"),
            without_marks=Count("pk", filter=Q(percent__gt=0, marks=[])),
            without_percent=Count("pk", filter=Q(percent=0) & ~Q(marks=[])),
        )
        .order_by()
    )
    return {
        key: (units, units >= FEWEST_ALIKE and least == most, without_marks, without_percent)
        for key, units, least, most, without_marks, without_percent in rows
    }


def _fast_units(closed: QuerySet[Sitting]) -> Counter[int]:
    """By sitting, the units that had less time in all than reading them takes."""
    rows = (
        UnitJudgment.objects.filter(ASKED_AT_PRESENT, assignment__sitting__in=closed.values("pk"))
        .annotate(length=Coalesce(F("unit__end") - F("unit__start"), Length("claim__text")))
        .values("assignment__sitting_id", "assignment_id", "unit_id", "claim_id", "length")
        .annotate(ms=Sum("active_ms"), judged=Count("pk", filter=Q(is_current=True, percent__isnull=False)))
        .filter(judged__gt=0, ms__gt=0, ms__lt=F("length") / FASTEST_CHARACTERS_PER_MS)
        .order_by()
    )
    return Counter(rows.values_list("assignment__sitting_id", flat=True))


def _readings(closed: QuerySet[Sitting]) -> tuple[Counter[int], Counter[int]]:
    """By sitting, the peer summaries (each time they come), and those that had less time than reading them takes."""
    spent: Counter[tuple[int, int, bool]] = Counter()
    chosen = closed.values("pk")
    is_repeat = ExpressionWrapper(Q(assignment__repeat_of__isnull=False), output_field=BooleanField())
    at_units = (
        UnitJudgment.objects.filter(assignment__sitting__in=chosen)
        .annotate(is_repeat=is_repeat)
        .values_list("assignment__sitting_id", "assignment__comparison__peer_id", "is_repeat")
        .annotate(ms=Sum("active_ms"))
        .order_by()
    )
    at_questions = (
        SummaryJudgment.objects.filter(sitting__in=chosen)
        .values_list("sitting_id", "peer_id", "is_repeat")
        .annotate(ms=Sum("active_ms"))
        .order_by()
    )
    for rows in (at_units, at_questions):
        for sitting, peer, again, ms in rows:
            spent[sitting, peer, again] += ms or 0
    judged = Assignment.objects.filter(sitting__in=chosen).order_by().values("comparison__peer")
    lengths = dict(Summary.objects.filter(pk__in=judged).order_by().values_list("pk", Length("text")))
    fast = (
        sitting
        for (sitting, peer, _), ms in spent.items()
        if 0 < ms < lengths.get(peer, 0) / FASTEST_CHARACTERS_PER_MS
    )
    return Counter(sitting for sitting, _, _ in spent), Counter(fast)


def _given_again(closed: QuerySet[Sitting]) -> set[int]:
    """The sittings on a set that their assessor had before and no longer has in that sitting."""
    before = Sitting.objects.filter(
        document_set=OuterRef("document_set"),
        assessor=OuterRef("assessor"),
        recalled_at__isnull=False,
        pk__lt=OuterRef("pk"),
    )
    return set(closed.filter(Exists(before)).values_list("pk", flat=True))


def _own(closed: QuerySet[Sitting]) -> Mapping[int, tuple[int, int]]:
    """By sitting, the comparisons against an own model summary, and the own peer summaries."""
    held = Assignment.objects.filter(sitting__in=closed.values("pk"), repeat_of__isnull=True)
    rows = (
        held.values_list("sitting_id")
        .annotate(
            models=Count("pk", filter=Q(is_own_model=True)),
            peers=Count("comparison__peer", filter=Q(is_own_peer=True), distinct=True),
        )
        .order_by()
    )
    return {key: (models, peers) for key, models, peers in rows}
