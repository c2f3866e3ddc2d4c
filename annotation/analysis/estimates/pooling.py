"""Which random samples are one: their answers are pooled, and their looks share one part of what may be missed.

A further sample of the same frame goes on where the one before it ended, so that sampling anew until an interval is
narrow escapes nothing and loses no answer. Samples are taken in the order of their first looks. One that is still
being answered holds back those that come after it, for what was looked at must stay one sequence.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import NormalDist
from typing import TYPE_CHECKING

from django.db.models import Count, F, OuterRef, Q, Subquery
from django.utils.formats import date_format

from annotation.analysis.leaderboard.averages import CONFIDENCE
from annotation.models import Assignment, Check, Draw, DrawnCheck
from annotation.sampling.queries.sampled_items import chances_of
from annotation.sampling.queries.set_samples import IS_LIVE, IS_OVER, SampleCounts, counts_of
from evaluation.statistics import declared_looks, look_confidence

if TYPE_CHECKING:
    from annotation.models import Project

SAME_FRAME_SHARE = 0.9
"""The share that two frames have in common, of all that either holds, from which on they are the same.

Frames change a little where a claim is reworded. Where document sets came in between, the answers of before say less
of the new frame than their number tells.
"""
_LARGE = 200
"""From so many answers on a sample is looked at as often as any."""


@dataclass(frozen=True, slots=True)
class SampleProgress:
    """`answered` of the `drawn` items of a sample made on a `day`; `withdrawn` were taken away unanswered.

    `run` is how many are answered before the first open one, in the random order in which checks are handed out. Of the
    looks that were declared beforehand an estimate may be made at those that it has reached; of what assessors judge
    there is one, at everything.
    """

    draw_id: str
    item: str
    method: str
    drawn: int
    answered: int
    withdrawn: int
    day: str
    run: int
    by_system: bool = False

    @property
    def is_complete(self) -> bool:
        return 0 < self.answered == self.drawn and not self.withdrawn

    @property
    def looks(self) -> tuple[int, ...]:
        if self.withdrawn:
            return ()
        return declared_looks(self.drawn) if self.item == Draw.Item.CHECK else (self.drawn,)

    @property
    def look(self) -> int:
        """The last look that it has reached; 0 before the first one."""
        return max((look for look in self.looks if look <= self.run), default=0)

    @property
    def next_look(self) -> int | None:
        return next((look for look in self.looks if look > self.run), None)


@dataclass(frozen=True, slots=True)
class HeldSample:
    """A sample with its items by public id, in sampled order, and their chances; `reached_at` is its first look."""

    progress: SampleProgress
    draw: Draw
    chances: Mapping[str, float]
    reached_at: datetime

    @property
    def looks(self) -> tuple[int, ...]:
        """After how many of its items it is looked at: summaries that several assessors judge are one item each."""
        return self.progress.looks if self.draw.item == Draw.Item.CHECK else (len(self.chances),)


@dataclass(frozen=True, slots=True)
class Pool:
    """Samples of one frame whose answers are one sample, as of the last look at the latest of them.

    `answers` counts what they hold together, each item once; `all_looks` are those of each sample, in such numbers.
    Intervals are computed at `confidence`, so that those of all looks and samples together hold 95 times in 100.
    """

    samples: tuple[HeldSample, ...]
    answers: int
    all_looks: tuple[tuple[int, ...], ...]
    confidence: float

    @property
    def latest(self) -> SampleProgress:
        return self.samples[-1].progress

    @property
    def earlier(self) -> tuple[SampleProgress, ...]:
        return tuple(each.progress for each in self.samples[:-1])

    @property
    def draws(self) -> list[Draw]:
        return [each.draw for each in self.samples]

    @property
    def look(self) -> int | None:
        """How many of the latest sample's checks, in sampled order, are looked at; None of assessors' work."""
        return self.latest.look if self.latest.item == Draw.Item.CHECK else None

    @property
    def width(self) -> float:
        """The width that it promises, up to what all pools of a project share."""
        return NormalDist().inv_cdf((1 + self.confidence) / 2) / math.sqrt(self.answers)


def samples_and_pools(
    project: Project, side: Check.Side = Check.Side.REFERENCE
) -> tuple[list[SampleProgress], list[Pool]]:
    """The random samples that tell of a side and were not cancelled, the newest first, and what they are pooled to.

    A pool is what a sample with a look to show makes together with those before it, in the order of their first looks.
    The looks of samples that were cancelled are paid for all the same; one that is held back has no pool.
    """
    draws = _draws(project, side)
    progress = _progress(draws, side)
    standing = {draw.pk for draw in draws if draw.cancelled_at is None}
    samples = _held(draws, progress, side)
    frames = _Frames(project, side, [each.draw for each in samples])
    groups: list[list[HeldSample]] = []
    seen: list[HeldSample] = []
    found = []
    for sample in sorted(samples, key=lambda each: (each.reached_at, each.draw.pk)):
        if sample.draw.cancelled_at is not None:
            seen.append(sample)
            continue
        group = next((each for each in reversed(groups) if frames.are_one(each[-1], sample)), None)
        if group is None:
            groups.append(group := [])
        elif not group[-1].progress.is_complete:
            continue
        group.append(sample)
        seen.append(sample)
        found.append(_pool(group, [each for each in seen if frames.share(each, sample)]))
    return [each for key, each in progress.items() if key in standing], found


def shown_pool(found: Sequence[Pool]) -> Pool | None:
    """The one that estimates come from; None where no sample has reached a look.

    That of the latest sample of which everything is answered, or one after it whose last look promises narrower
    intervals: it has more answers, and enough more for what further samples and early looks cost.
    """
    complete = max((place for place, pool in enumerate(found) if pool.latest.is_complete), default=0)
    return min(reversed(found[complete:]), key=lambda pool: pool.width, default=None)


def would_join(project: Project, side: Check.Side, pool: Pool, drawable: Sequence[str]) -> bool:
    """Whether the answers of a sample of these checks, of a side, would be pooled with those that there are."""
    frame = _Frames(project, side, pool.draws, always=True).of(pool.samples[-1])
    return are_alike(frame, frozenset(drawable)) and _knows_chances(pool.samples[-1])


def next_confidence(project: Project, side: Check.Side, pool: Pool | None, frame: Iterable[str]) -> float:
    """What the last interval of a sample of this frame, of a side, that is made now would be computed at.

    As of a large sample; of one that adds to a `pool` as if it brought as many new answers as that will have: a sample
    that is still being answered comes to its end first.
    """
    before: tuple[tuple[int, ...], ...]
    if pool is None:
        names = frozenset(frame)
        draws = [draw for draw in _draws(project, side) if draw.item == Draw.Item.CHECK]
        held = _held(draws, _progress(draws, side), side)
        others = [each for each in held if not names.isdisjoint(each.chances)]
        begun, size, before = 0, _LARGE, ((),) * len(others)
    else:
        begun = max(look for looks in pool.all_looks for look in looks)
        size, before = begun, pool.all_looks
    looks = tuple(begun + look for look in declared_looks(size))
    return look_confidence(looks[-1], looks, before=before, confidence=CONFIDENCE)


def _draws(project: Project, side: Check.Side) -> list[Draw]:
    """All samples that tell of a side, the newest first; their frames are read where they are asked for.

    Assessors' percents tell of coverage alone.
    """
    rows = Draw.objects.filter(project=project).exclude(item=Draw.Item.CHECK, drawn_checks__isnull=True)
    if side != Check.Side.REFERENCE:
        rows = rows.filter(item=Draw.Item.CHECK)
    return list(rows.distinct().order_by("-pk").defer("frame", "chances"))


def _progress(draws: Sequence[Draw], side: Check.Side) -> dict[int, SampleProgress]:
    """By key how far each sample is, in their order; without those of which nothing was handed out."""
    keys = [draw.pk for draw in draws]
    of_checks, of_assignments = _of_checks(keys, side), counts_of(keys)
    found = {}
    for draw in draws:
        if draw.item == Draw.Item.CHECK:
            drawn, answered, run = of_checks[draw.pk]
            withdrawn = 0
        else:
            drawn, answered, withdrawn = of_assignments.get(draw.pk, SampleCounts())
            run = answered
        if drawn or withdrawn:
            found[draw.pk] = SampleProgress(
                draw_id=draw.public_id,
                item=draw.item,
                method=draw.method,
                drawn=drawn,
                answered=answered,
                withdrawn=withdrawn,
                day=date_format(draw.created_at, "j M Y"),
                run=run,
                by_system=draw.by_system,
            )
    return found


def _of_checks(keys: Sequence[int], side: Check.Side) -> dict[int, tuple[int, int, int]]:
    """Of each draw of checks, how many on the side were drawn, how many are answered, and before any gap."""
    of_side = Q(drawn_checks__check_row__side=side)
    waiting = DrawnCheck.objects.filter(draw=OuterRef("pk"), check_row__side=side, verdict__isnull=True)
    before_gap = Q(first_open__isnull=True) | Q(drawn_checks__pk__lt=F("first_open"))
    rows = Draw.objects.filter(pk__in=keys, item=Draw.Item.CHECK).order_by()
    counted = (
        rows.annotate(first_open=Subquery(waiting.order_by("pk").values("pk")[:1]))
        .values("pk", "first_open")
        .annotate(
            drawn=Count("drawn_checks", filter=of_side),
            answered=Count("drawn_checks", filter=of_side & Q(drawn_checks__verdict__isnull=False)),
            run=Count("drawn_checks", filter=of_side & before_gap),
        )
    )
    return {row["pk"]: (row["drawn"], row["answered"], row["run"]) for row in counted}


def _held(
    draws: Iterable[Draw], progress: Mapping[int, SampleProgress], side: Check.Side
) -> list[HeldSample]:
    """Those of the samples that have a look to show, with their items. Three queries, however many."""
    keys = [draw.pk for draw in draws if draw.pk in progress and progress[draw.pk].look]
    checks = DrawnCheck.objects.filter(draw__in=keys, check_row__side=side)
    summaries = Assignment.objects.filter(
        IS_LIVE | IS_OVER, draw__in=keys, repeat_of=None, comparison__isnull=False
    )
    columns = "inclusion_probability", "draw_id"
    rows = [
        *checks.order_by("pk").values_list(*columns, "check_row__public_id", "verdict__created_at"),
        *summaries.order_by("pk").values_list(*columns, "comparison__peer__public_id", "submitted_at"),
    ]
    chances: dict[int, dict[str, float]] = defaultdict(dict)
    answered_at: dict[int, list[datetime]] = defaultdict(list)
    for chance, key, name, moment in rows:
        chances[key][name] = 1.0 if chance is None else chance
        answered_at[key].append(moment)
    found = []
    for draw in Draw.objects.filter(pk__in=keys):
        first = progress[draw.pk].looks[0]
        moments = [draw.created_at, *answered_at[draw.pk][:first]]
        found.append(HeldSample(progress[draw.pk], draw, chances[draw.pk], max(moments)))
    return found


def _pool(group: Sequence[HeldSample], before: Sequence[HeldSample]) -> Pool:
    """What the group's samples make together; `before` are all samples that were looked at up to its last."""
    held, looks = set[str](), dict[int, tuple[int, ...]]()
    answers = 0
    for sample in group:
        names = list(sample.chances)
        looks[sample.draw.pk] = tuple(len(held.union(names[:look])) for look in sample.looks)
        reached = sample.looks.index(sample.progress.look) if sample.draw.item == Draw.Item.CHECK else 0
        answers = looks[sample.draw.pk][reached]
        held.update(names)
    all_looks = tuple(looks.get(each.draw.pk, ()) for each in before)
    return Pool(
        samples=tuple(group),
        answers=answers,
        all_looks=all_looks,
        confidence=look_confidence(answers, all_looks[-1], before=all_looks[:-1], confidence=CONFIDENCE),
    )


class _Frames:
    """What samples could have taken: of checks those of one side."""

    def __init__(
        self, project: Project, side: Check.Side, draws: Sequence[Draw], *, always: bool = False
    ) -> None:
        self._known: dict[int, frozenset[str]] = {}
        # A frame may name a million checks: it is gone through where there is something to compare.
        if len(draws) < 2 and not always:
            return
        of_side = frozenset(
            Check.objects.filter(project=project, side=side).values_list("public_id", flat=True)
        )
        for draw in draws:
            if draw.item == Draw.Item.CHECK:
                self._known[draw.pk] = of_side.intersection(name for name, _ in draw.frame)
            else:
                self._known[draw.pk] = frozenset(draw.frame)

    def are_one(self, first: HeldSample, second: HeldSample) -> bool:
        """Whether answers of both can be one sample: of the same frame, with every chance known."""
        if first.draw.item != second.draw.item:
            return False
        return are_alike(self.of(first), self.of(second)) and _knows_chances(first) and _knows_chances(second)

    def of(self, sample: HeldSample) -> frozenset[str]:
        """What the sample could have taken."""
        return self._known[sample.draw.pk]

    def share(self, earlier: HeldSample, latest: HeldSample) -> bool:
        """Whether the earlier sample took anything that the latest could have taken."""
        if earlier is latest:
            return True
        if earlier.draw.item == Draw.Item.DOCUMENT_SET == latest.draw.item:
            return not self.of(earlier).isdisjoint(self.of(latest))
        return not self.of(latest).isdisjoint(earlier.chances)


def are_alike(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two frames are one."""
    return len(one & other) >= SAME_FRAME_SHARE * len(one | other)


def _knows_chances(sample: HeldSample) -> bool:
    return chances_of(sample.draw, sample.chances.values()) is not None
