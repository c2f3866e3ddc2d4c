"""Estimates of people's answers to all claims, from random samples and the judge's answers.

An answer enters only if its check is in the sample, because people who choose claims themselves prefer
those that look wrong.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from annotation.analysis.estimates.samples import SampleProgress, samples
from annotation.analysis.intervals import has_interval
from annotation.analysis.leaderboard.averages import CONFIDENCE, Average
from annotation.models import Check, Sample
from annotation.sampling.queries.check_samples import eligible
from annotation.sampling.queries.sampled_items import SampleFrame, framed_items
from evaluation.statistics import (
    FEW_DOCUMENTS,
    TOO_FEW_DOCUMENTS,
    PairComparison,
    SampleEstimate,
    compare_estimates,
    estimate_systems_from_sample,
)

if TYPE_CHECKING:
    from annotation.models import Project

ESTIMATE, ALIGNMENT_ESTIMATE = "coverage_estimate", "alignment_estimate"
SIDES: Mapping[str, Check.Side] = {ESTIMATE: Check.Side.REFERENCE, ALIGNMENT_ESTIMATE: Check.Side.PEER}
"""The names of the estimates among the scores, with the side that each estimates."""

CAPTION = "what people would say of all claims, including the judge's errors"
CAPTION_OF_PEOPLE = "what people would say of all claims, from their sampled answers alone"
NO_SAMPLE = "No estimate yet: review a random sample first."
ALL_ANSWERED = "No estimate is needed: people answered every check."


class EstimateState(StrEnum):
    """The state of an estimate: the way it was made, or the reason that there is none."""

    NONE = "none"
    OPEN = "open"
    PEOPLE = "people"
    FEW = "few"
    FINE = "fine"


@dataclass(frozen=True, slots=True)
class Estimated:
    """One system's shown estimate, and the estimate from people's sampled answers alone.

    `tuning` is the slope on the judge's answers, 0 if they are not used. `labels_saved` is the number of
    further answers that people alone would need in a simple random sample; None if people alone are shown.
    """

    shown: Average
    people: Average
    tuning: float
    labels_saved: float | None


@dataclass(frozen=True, slots=True)
class EstimateTable:
    """The estimates at one target length, with their sample and state.

    `sample` is the finished sample behind the estimates, `newer` a newer unfinished one. `came_after` is
    the number of checks newer than the sample. `labels_saved` is the mean over the systems, None if people
    alone are used. Each interval has the confidence `confidence` by itself; `compared` has the differences
    of all pairs of systems.
    """

    state: str
    sample: SampleProgress | None = None
    newer: SampleProgress | None = None
    is_all_answered: bool = False
    has_judge: bool = True
    came_after: int = 0
    labels_saved: float | None = None
    documents: int = 0
    answered_documents: int = 0
    systems: dict[str, Estimated] | None = None
    confidence: float = CONFIDENCE
    compared: tuple[PairComparison, ...] = ()

    @property
    def level(self) -> float:
        """The significance level of differences."""
        return 1 - self.confidence

    @property
    def sample_id(self) -> str:
        """The id of the sample behind the estimates, "" without estimates."""
        return self.sample.sample_id if self.sample is not None and self.documents else ""

    @property
    def has_estimates(self) -> bool:
        return bool(self.systems)

    @property
    def caption(self) -> str:
        """The population that the interval covers."""
        return CAPTION_OF_PEOPLE if self.state == EstimateState.PEOPLE else CAPTION

    @property
    def sentence(self) -> str:
        """The sample behind the estimates, or the reason that there are none."""
        newer = self.newer and (
            f"The random sample of {self.newer.day} has {self.newer.answered:,} of {self.newer.sampled:,} answered. "
            "Estimates use it once all are answered."
        )
        if self.sample is None:
            return newer or (ALL_ANSWERED if self.is_all_answered else NO_SAMPLE)
        if not self.documents:
            return f"No estimate: the random sample of {self.sample.day} has no checks at this target length."
        sentences = [
            f"From the random sample of {self.sample.day}: {self.sample.sampled:,} checks, in at least "
            f"{self.answered_documents} document sets of every system."
        ]
        if self.state == EstimateState.PEOPLE:
            why = "the judge would not narrow any interval"
            if not self.has_judge:
                why = "the judge recorded no probabilities"
            elif self.answered_documents < TOO_FEW_DOCUMENTS:
                why = f"using the judge needs {TOO_FEW_DOCUMENTS} document sets"
            sentences.append(f"Only people's sampled answers are used because {why}.")
        elif self.state == EstimateState.FEW:
            sentences.append(
                f"Below {FEW_DOCUMENTS} document sets, an interval may miss more often than stated."
            )
        if self.came_after:
            sentences.append(f"{self.came_after:,} checks were added after the sample and are not covered.")
        return " ".join([*sentences, *([newer] if newer else [])])

    def average(self, system: str) -> Average:
        """The shown estimate of a system; without values if there is none."""
        found = (self.systems or {}).get(system)
        return found.shown if found is not None else Average(None, None, None, n=0, left_out=0)


@dataclass(frozen=True, slots=True)
class Estimates:
    """The estimates of a project by target length; `otherwise` is used for lengths without estimates."""

    tables: dict[int | None, EstimateTable]
    otherwise: EstimateTable

    def at(self, target_words: int | None) -> EstimateTable:
        return self.tables.get(target_words, self.otherwise)


def estimates(project: Project, side: Check.Side = Check.Side.REFERENCE) -> Estimates:
    """The estimates from the newest finished random sample, or the reason that there are none.

    The reference side gives coverage, the peer side alignment. If a sampled check already had a blind
    answer, that answer is used.
    """
    found = samples(project, side)
    sample = next((each for each in found if each.is_complete), None)
    newest = found[0] if found else None
    if sample is None:
        state = EstimateState.OPEN if newest else EstimateState.NONE
        is_needless = newest is None and is_all_answered(project, side)
        return Estimates({}, EstimateTable(state=state, newer=newest, is_all_answered=is_needless))
    framed = framed_items(project, Sample.objects.get(public_id=sample.sample_id), side=side)
    newer = newest if newest != sample else None
    tables = {target: estimate_table(sample, framed, target, newer=newer) for target in framed.items}
    return Estimates(tables, EstimateTable(state=EstimateState.NONE, sample=sample))


def is_all_answered(project: Project, side: Check.Side = Check.Side.REFERENCE) -> bool:
    """True if the side has checks that can be sampled, and people answered all of them."""
    asked = eligible(project, side)
    return asked.exists() and not asked.filter(human_label__isnull=True).exists()


def estimate_table(
    sample: SampleProgress,
    framed: SampleFrame,
    target_words: int | None,
    *,
    newer: SampleProgress | None = None,
) -> EstimateTable:
    """The estimates at one target length from a finished sample; `newer` as in `EstimateTable`."""
    items = framed.items[target_words]
    found = estimate_systems_from_sample(items, covariates=framed.covariates, confidence=CONFIDENCE)
    answered = min(result.answered_documents for result in found.values())
    state = _state(framed, found, answered)
    from_people = state == EstimateState.PEOPLE
    if from_people:
        found = estimate_systems_from_sample(items, confidence=CONFIDENCE, people_alone=True)
    systems = {name: _estimated(result, from_people=from_people) for name, result in found.items()}
    # With the better system first, most differences are positive.
    best_first = sorted(found, key=lambda name: (-(found[name].estimate or 0.0), name))
    saved = [each.labels_saved for each in systems.values() if each.labels_saved is not None]
    return EstimateTable(
        state=state,
        sample=sample,
        newer=newer,
        has_judge=framed.has_judge,
        came_after=framed.came_after,
        labels_saved=math.fsum(saved) / len(saved) if saved else None,
        documents=max(result.documents for result in found.values()),
        answered_documents=answered,
        systems=systems,
        compared=tuple(compare_estimates({name: found[name] for name in best_first})),
    )


def _state(framed: SampleFrame, found: Mapping[str, SampleEstimate], answered: int) -> EstimateState:
    if answered < TOO_FEW_DOCUMENTS or not framed.has_judge:
        return EstimateState.PEOPLE
    if all(result.tuning == 0 for result in found.values()):
        return EstimateState.PEOPLE
    return EstimateState.FEW if answered < FEW_DOCUMENTS else EstimateState.FINE


def _estimated(result: SampleEstimate, *, from_people: bool) -> Estimated:
    people = _average(
        result, mean=result.classical_estimate, low=result.classical_low, high=result.classical_high
    )
    if from_people:
        return Estimated(shown=people, people=people, tuning=0.0, labels_saved=None)
    shown = _average(result, mean=result.estimate, low=result.low, high=result.high)
    return Estimated(shown=shown, people=people, tuning=result.tuning, labels_saved=result.labels_saved)


def _average(result: SampleEstimate, *, mean: float | None, low: float | None, high: float | None) -> Average:
    if not has_interval(result.answered_documents, low, high):
        low = high = None
    return Average(mean=mean, low=low, high=high, n=result.documents, left_out=0)
