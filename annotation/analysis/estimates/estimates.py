"""What people would say of everything, from the latest random draw that they answered and the judge's answers.

What reviewers volunteered enters only where chance draws it too: who chooses what to answer answers what looks wrong.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import NormalDist
from typing import TYPE_CHECKING

from django.db.models import Count, F, OuterRef, Q, Subquery
from django.utils.formats import date_format

from annotation.analysis.intervals import has_interval
from annotation.analysis.leaderboard.averages import CONFIDENCE, Average
from annotation.models import Check, Draw, DrawnCheck
from annotation.sampling.queries.check_samples import drawable, samples_of_frame
from annotation.sampling.queries.sampled_items import SampleFrame, framed_items
from annotation.sampling.queries.set_samples import SampleCounts, counts_of
from evaluation.statistics import (
    FEW_DOCUMENTS,
    TOO_FEW_DOCUMENTS,
    DrawEstimate,
    PairComparison,
    compare_estimates,
    declared_looks,
    estimate_systems_from_draw,
    look_confidence,
)

if TYPE_CHECKING:
    from annotation.models import Project

ESTIMATE = "coverage_estimate"
"""The name of the estimate among the scores."""
LOOKED_AT = 25


class EstimateState(StrEnum):
    """How far an estimate may be trusted, and what stands in its place."""

    NONE = "none"
    OPEN = "open"
    PEOPLE = "people"
    FEW = "few"
    FINE = "fine"


@dataclass(frozen=True, slots=True)
class SampleProgress:
    """`answered` of the `drawn` items of a draw made on a `day`; `withdrawn` were taken away unanswered.

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
class Estimated:
    """One system's estimate as it is shown, and what people's drawn answers alone give.

    `tuning` is the slope on the judge's answers, 0 where it counts for nothing, and `labels_saved` how many more
    answers people alone would need in a simple random sample; None where people alone are shown.
    """

    shown: Average
    people: Average
    tuning: float
    labels_saved: float | None


@dataclass(frozen=True, slots=True)
class EstimateTable:
    """The estimates at one target length, where they come from and what they may be trusted for.

    `sample` is the one that estimates come from, `newer` the newest one where it is not answered yet. `came_after`
    counts the checks that came after the sample. `labels_saved` is the mean over the systems, None where people stand
    alone. Intervals are computed at `confidence`, so that those of all looks and samples together hold 95 times in 100;
    `compared` are the systems' differences.
    `learns_across` tells whether answers to a claim in one system's summary sharpen what is expected of others', which
    takes a sample that was drawn by system and is all answered; None where it is no question.
    """

    state: str
    sample: SampleProgress | None = None
    newer: SampleProgress | None = None
    is_all_answered: bool = False
    has_judge: bool = True
    came_after: int = 0
    learns_across: bool | None = None
    labels_saved: float | None = None
    documents: int = 0
    answered_documents: int = 0
    systems: dict[str, Estimated] | None = None
    confidence: float = CONFIDENCE
    compared: tuple[PairComparison, ...] = ()

    @property
    def level(self) -> float:
        """At which differences hold, so that those of all looks and samples together miss 5 times in 100."""
        return 1 - self.confidence

    @property
    def draw_id(self) -> str:
        """The sample that the estimates come from; empty where there are none."""
        return self.sample.draw_id if self.sample is not None and self.documents else ""

    @property
    def has_estimates(self) -> bool:
        return bool(self.systems)

    def average(self, system: str) -> Average:
        """What is shown of the system; without a value where there is nothing to show."""
        found = (self.systems or {}).get(system)
        return found.shown if found is not None else Average(None, None, None, n=0, left_out=0)


@dataclass(frozen=True, slots=True)
class Estimates:
    """The estimates of a project by target length; `otherwise` is what is said where there are none."""

    tables: dict[int | None, EstimateTable]
    otherwise: EstimateTable

    def at(self, target_words: int | None) -> EstimateTable:
        return self.tables.get(target_words, self.otherwise)


def estimates(project: Project) -> Estimates:
    """The estimates from the random sample that says most, else why there are none.

    That is `shown_sample`, as of its last look.
    """
    draws = samples_of_coverage(project)
    sample = shown_sample(draws)
    newer = draws[0] if draws and draws[0] is not sample else None
    if sample is None:
        state = EstimateState.OPEN if newer else EstimateState.NONE
        is_needless = newer is None and is_all_answered(project)
        return Estimates({}, EstimateTable(state=state, newer=newer, is_all_answered=is_needless))
    draw = Draw.objects.get(project=project, public_id=sample.draw_id)
    of_checks = sample.item == Draw.Item.CHECK
    framed = framed_items(project, draw, look=sample.look if of_checks else None)
    confidence = _confidence(project, draw, sample) if of_checks else CONFIDENCE
    tables = {
        target: estimate_table(sample, framed, target, newer=newer, confidence=confidence)
        for target in framed.items
    }
    return Estimates(tables, EstimateTable(state=EstimateState.NONE, sample=sample))


def shown_sample(draws: Sequence[SampleProgress]) -> SampleProgress | None:
    """The sample that estimates come from, of these, the newest first; None where none has reached a look.

    The latest of which everything is answered, or a newer one whose last look promises narrower intervals: it has more
    answers, and enough more for what further samples and early looks cost.
    """
    complete = next((place for place, draw in enumerate(draws) if draw.is_complete), len(draws))
    held = [draw for draw in draws[: complete + 1] if draw.look]
    widths = {
        draw.draw_id: _reach(look_confidence(draw.look, draw.drawn, sample=number)) / math.sqrt(draw.look)
        for number, draw in enumerate(reversed(held), start=1)
    }
    return min(held, key=lambda draw: widths[draw.draw_id], default=None)


def _reach(confidence: float) -> float:
    return NormalDist().inv_cdf((1 + confidence) / 2)


def _confidence(project: Project, draw: Draw, sample: SampleProgress) -> float:
    """What the intervals of the sample's last look are computed at."""
    frame = {public_id for public_id, _ in draw.frame}
    earlier = samples_of_frame(project, frame, before=draw)
    return look_confidence(sample.look, sample.drawn, sample=1 + earlier, confidence=CONFIDENCE)


def is_all_answered(project: Project) -> bool:
    """Whether people have answered every check that can be drawn, of which there is one at least."""
    asked = drawable(project, Check.Side.REFERENCE)
    return asked.exists() and not asked.filter(human_label__isnull=True).exists()


def samples_of_coverage(project: Project) -> list[SampleProgress]:
    """The latest random choices that tell of coverage, the newest first, with how far they are answered."""
    rows = list(
        Draw.objects.filter(project=project, cancelled_at=None)
        .exclude(item=Draw.Item.CHECK, drawn_checks__isnull=True)
        .distinct()
        .order_by("-pk")
        .defer("frame")[:LOOKED_AT]
    )
    keys = [row.pk for row in rows]
    of_checks, of_assignments = _of_checks(keys), counts_of(keys)
    found = []
    for row in rows:
        if row.item == Draw.Item.CHECK:
            drawn, answered, run = of_checks[row.pk]
            withdrawn = 0
        else:
            drawn, answered, withdrawn = of_assignments.get(row.pk, SampleCounts())
            run = answered
        if drawn or withdrawn:
            found.append(
                SampleProgress(
                    draw_id=row.public_id,
                    item=row.item,
                    method=row.method,
                    drawn=drawn,
                    answered=answered,
                    withdrawn=withdrawn,
                    day=date_format(row.created_at, "j M Y"),
                    run=run,
                    by_system=row.by_system,
                )
            )
    return found


def _of_checks(keys: Sequence[int]) -> dict[int, tuple[int, int, int]]:
    """Of each draw of checks, how many on the reference side were drawn, how many are answered, and before any gap."""
    of_coverage = Q(drawn_checks__check_row__side=Check.Side.REFERENCE)
    waiting = DrawnCheck.objects.filter(
        draw=OuterRef("pk"), check_row__side=Check.Side.REFERENCE, verdict__isnull=True
    )
    before_gap = Q(first_open__isnull=True) | Q(drawn_checks__pk__lt=F("first_open"))
    rows = Draw.objects.filter(pk__in=keys, item=Draw.Item.CHECK).order_by()
    counted = (
        rows.annotate(first_open=Subquery(waiting.order_by("pk").values("pk")[:1]))
        .values("pk", "first_open")
        .annotate(
            drawn=Count("drawn_checks", filter=of_coverage),
            answered=Count("drawn_checks", filter=of_coverage & Q(drawn_checks__verdict__isnull=False)),
            run=Count("drawn_checks", filter=of_coverage & before_gap),
        )
    )
    return {row["pk"]: (row["drawn"], row["answered"], row["run"]) for row in counted}


def covariates(framed: SampleFrame) -> dict[str, tuple[float, ...]] | None:
    """What foretells answers beside the judge: texts of many claims are covered less."""
    if not framed.claims:
        return None
    return {document: (math.log(claims),) for document, claims in framed.claims.items()}


def estimate_table(
    draw: SampleProgress,
    framed: SampleFrame,
    target_words: int | None,
    *,
    newer: SampleProgress | None = None,
    confidence: float = CONFIDENCE,
) -> EstimateTable:
    """The estimates at one target length from a draw as of its last look; `newer` is one that is not answered yet."""
    found = estimate_systems_from_draw(
        framed.items[target_words], covariates=covariates(framed), confidence=confidence
    )
    answered = min(result.answered_documents for result in found.values())
    state = _state(framed, found, answered)
    from_people = state == EstimateState.PEOPLE
    if from_people:
        found = estimate_systems_from_draw(framed.items[target_words], confidence=confidence, tuning=0.0)
    systems = {name: _estimated(result, from_people=from_people) for name, result in found.items()}
    asks_alike = draw.item == Draw.Item.CHECK and draw.is_complete
    # The better system comes first, so that differences are mostly positive.
    best_first = sorted(found, key=lambda name: (-(found[name].estimate or 0.0), name))
    saved = [each.labels_saved for each in systems.values() if each.labels_saved is not None]
    return EstimateTable(
        state=state,
        sample=draw,
        newer=newer,
        has_judge=framed.has_judge,
        came_after=framed.came_after,
        learns_across=draw.by_system if asks_alike and len(found) > 1 else None,
        labels_saved=math.fsum(saved) / len(saved) if saved else None,
        documents=max(result.documents for result in found.values()),
        answered_documents=answered,
        systems=systems,
        confidence=confidence,
        compared=tuple(compare_estimates({name: found[name] for name in best_first})),
    )


def _state(framed: SampleFrame, found: Mapping[str, DrawEstimate], answered: int) -> EstimateState:
    if answered < TOO_FEW_DOCUMENTS or not framed.has_judge:
        return EstimateState.PEOPLE
    if all(result.tuning == 0 for result in found.values()):
        return EstimateState.PEOPLE
    return EstimateState.FEW if answered < FEW_DOCUMENTS else EstimateState.FINE


def _estimated(result: DrawEstimate, *, from_people: bool) -> Estimated:
    people = _average(
        result, mean=result.classical_estimate, low=result.classical_low, high=result.classical_high
    )
    if from_people:
        return Estimated(shown=people, people=people, tuning=0.0, labels_saved=None)
    shown = _average(result, mean=result.estimate, low=result.low, high=result.high)
    return Estimated(shown=shown, people=people, tuning=result.tuning, labels_saved=result.labels_saved)


def _average(result: DrawEstimate, *, mean: float | None, low: float | None, high: float | None) -> Average:
    if not has_interval(result.answered_documents, low, high):
        low = high = None
    return Average(mean=mean, low=low, high=high, n=result.documents, left_out=0)
