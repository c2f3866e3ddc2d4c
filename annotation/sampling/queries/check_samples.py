"""The random samples of a project and their progress."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from django.db import connection
from django.db.models import Count, Exists, F, Func, IntegerField, Min, OuterRef, Q, Subquery
from django.utils import timezone
from django.utils.formats import date_format

from annotation.models import SIDE_SCORES, Check, Look, Sample, SampledCheck, Verdict
from annotation.models.claim import OF_CLAIMS

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.db.models import QuerySet

    from annotation.models import Project

SAMPLES_SHOWN = 25


def blind_answers(project: Project) -> QuerySet[Verdict]:
    """Select people's blind answers to checks of the project.

    A withdrawn answer counts only if a sample has it.
    """
    given = Verdict.objects.filter(
        check_row__project=project,
        role=Verdict.Role.REVIEWER,
        person__isnull=False,
        had_seen=False,
    )
    held = Exists(SampledCheck.objects.filter(verdict=OuterRef("pk")))
    return given.filter(Q(withdrawn_at=None) | held)


def eligible(project: Project, side: str = "", among: Collection[int] | None = None) -> QuerySet[Check]:
    """Select the checks of claims that can be sampled: current checks that no rule decides.

    A `side` restricts them to this side, and `among` to the summaries with these keys.
    """
    of_side = Q(side=side) if side else OF_CLAIMS
    checks = Check.objects.filter(of_side, project=project, is_current=True)
    return of_summaries(checks.exclude(final_source=Check.Decider.RULE), among)


def of_summaries(checks: QuerySet[Check], among: Collection[int] | None) -> QuerySet[Check]:
    """Select the checks of the summaries with these keys; None keeps all checks."""
    return checks if among is None else checks.filter(summary__in=among)


def is_kept_by_a_sample(verdict: Verdict) -> bool:
    """Return True if a sample has this answer."""
    return SampledCheck.objects.filter(verdict=verdict).exists()


@dataclass(frozen=True, slots=True)
class HeldChecks:
    """Leased checks.

    `since` is the time at which the first of them was opened; None if unknown. `until` is the earliest end of a lease.
    """

    count: int
    since: datetime | None
    until: datetime

    @property
    def sentence(self) -> str:
        what = "1 claim is" if self.count == 1 else f"{self.count:,} claims are"
        since = f", opened {_moment(self.since)}" if self.since else ""
        free = "It is" if self.count == 1 else "The first is"
        return f"{what} open by someone else{since}. {free} released at {_moment(self.until)} if inactive."


@dataclass(frozen=True, slots=True)
class CheckSample:
    """A sample of `sampled` checks out of `frame` checks; `answered` of the sampled checks have a blind answer.

    `extends` is the id of the sample that still counts for the systems that are not in the frame; "" if there is none.
    `scores` has the names of the scores to which the sampled checks belong. `held` describes unanswered checks that are
    leased; None if there are none.
    """

    sample_id: str
    method: str
    share: float
    seed: int
    frame: int
    sampled: int
    answered: int
    created_at: datetime
    cancelled_at: datetime | None = None
    held: HeldChecks | None = None
    scores: tuple[str, ...] = ()
    extends: str = ""

    @property
    def is_complete(self) -> bool:
        return self.answered == self.sampled

    @property
    def is_finished(self) -> bool:
        """Return True if an estimate can use the sample: it is complete, not empty and not cancelled."""
        return self.is_complete and self.sampled > 0 and self.cancelled_at is None

    @property
    def is_open(self) -> bool:
        """Return True if the sample waits for answers."""
        return not self.is_complete and self.cancelled_at is None


def check_samples(
    project: Project, *, but: User | None = None, only: str = "", side: str = "", of_watches: bool = True
) -> list[CheckSample]:
    """Load the latest SAMPLES_SHOWN samples of checks, newest first, or only the sample with the public id `only`.

    `side` restricts the numbers of sampled and answered checks to one side. Without `of_watches`, samples of the
    periods of watches are left out. Checks that are leased to the person `but` do not count as held.
    """
    sampled = Sample.objects.filter(project=project, criterion=None).order_by("-pk")
    sampled = sampled.filter(public_id=only) if only else sampled
    sampled = sampled if of_watches else sampled.filter(watch_period=None)
    # Let the database count the checks of each frame, because a frame may have a million checks.
    count = "jsonb_array_length" if connection.vendor == "postgresql" else "json_array_length"
    framed = sampled.annotate(framed=Func(F("frame"), function=count, output_field=IntegerField()))
    plain = ("pk", "public_id", "method", "share", "seed", "framed", "created_at", "cancelled_at")
    columns = (*plain, "extends__public_id")
    rows = list(framed.values_list(*columns)[:SAMPLES_SHOWN])
    counts = _counts([row[0] for row in rows], side)
    held = _held([key for key, each in counts.items() if each.answered < each.sampled], but)
    nothing = _SampleCounts(0, 0, ())
    return [
        CheckSample(
            public_id,
            method,
            share,
            seed,
            frame,
            (found := counts.get(key, nothing)).sampled,
            found.answered,
            created_at,
            cancelled_at,
            held.get(key),
            found.scores,
            extends or "",
        )
        for key, public_id, method, share, seed, frame, created_at, cancelled_at, extends in rows
    ]


class _SampleCounts(NamedTuple):
    sampled: int
    answered: int
    scores: tuple[str, ...]


def _counts(keys: Sequence[int], side: str) -> dict[int, _SampleCounts]:
    sampled = SampledCheck.objects.filter(sample__in=keys, **({"check_row__side": side} if side else {}))
    rows = sampled.order_by().values_list("sample", "check_row__side").annotate(Count("pk"), Count("verdict"))
    of_sides: dict[int, dict[str, tuple[int, int]]] = defaultdict(dict)
    for sample, of, count, answered in rows:
        of_sides[sample][SIDE_SCORES[of]] = (count, answered)
    return {
        sample: _SampleCounts(
            sum(count for count, _ in found.values()),
            sum(answered for _, answered in found.values()),
            tuple(score for score in SIDE_SCORES.values() if score in found),
        )
        for sample, found in of_sides.items()
    }


def _held(keys: Sequence[int], but: User | None) -> dict[int, HeldChecks]:
    if not keys:
        return {}
    waiting = SampledCheck.objects.filter(sample__in=keys, verdict__isnull=True)
    others = waiting.filter(_is_held("check_row__", but)).annotate(opened=_opened("check_row", "check_row__"))
    counted = (
        others.order_by()
        .values_list("sample")
        .annotate(Count("pk"), Min("opened"), Min("check_row__lease_until"))
    )
    return {sample: HeldChecks(*columns) for sample, *columns in counted}


def held_by_others(waiting: QuerySet[Check], person: User) -> HeldChecks | None:
    """Count the checks of a queue that are leased to other people now; None if there are none.

    The query reads the whole queue.
    """
    others = waiting.filter(_is_held("", person)).annotate(opened=_opened("pk", ""))
    found = others.order_by().aggregate(count=Count("pk"), since=Min("opened"), until=Min("lease_until"))
    return HeldChecks(**found) if found["count"] else None


def _is_held(path: str, but: User | None) -> Q:
    held = Q(**{f"{path}leased_to__isnull": False, f"{path}lease_until__gt": timezone.now()})
    return held if but is None else held & ~Q(**{f"{path}leased_to": but})


def _opened(check: str, path: str) -> Subquery:
    looks = Look.objects.filter(check_row=OuterRef(check), person=OuterRef(f"{path}leased_to"))
    return Subquery(looks.order_by().values("opened_at")[:1])


def open_samples(project: Project, *, but: User | None = None) -> list[CheckSample]:
    """Load the samples that wait for answers, among the latest samples, oldest first.

    `but` is the same as in `check_samples`.
    """
    return [sample for sample in reversed(check_samples(project, but=but)) if sample.is_open]


def _moment(moment: datetime) -> str:
    here = timezone.localtime(moment)
    return date_format(here, "H:i" if here.date() == timezone.localdate() else "j M, H:i")
