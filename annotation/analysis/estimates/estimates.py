"""Estimates of the averages that people would give, from random samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from django.utils.formats import date_format

from annotation.analysis.estimates.samples import SampleProgress, samples
from annotation.analysis.intervals import has_interval
from annotation.analysis.leaderboard.averages import CONFIDENCE, Average
from annotation.core.criteria import criteria_in_force
from annotation.models import Check, Sample
from annotation.sampling.queries.rating_samples import framed_ratings, rating_samples
from annotation.sampling.queries.sampled_items import SampleFrame, framed_items
from evaluation.statistics import (
    FEW_DOCUMENTS,
    TOO_FEW_DOCUMENTS,
    PairComparison,
    SampledItem,
    SampleEstimate,
    compare_estimates,
    estimate_systems_from_sample,
    pool_estimates,
)

if TYPE_CHECKING:
    from annotation.models import Project

NO_SAMPLE = "To see how people would score, answer a random sample."


@dataclass(frozen=True, slots=True)
class EstimateTable:
    """The estimates of one score at one target length, with their sample.

    - `sample`: the newest finished sample
    - `newer`: the newest sample, if it is unfinished; None for ratings
    - `answers`: the number of sampled answers at this target length; for ratings, of the compared systems
    - `right`: the number of these answers with which the judge agrees; 0 for ratings
    - `documents`: the smallest number of documents (groups, or document sets without a group) of a compared system
    - `answered_documents`: the smallest number of documents with answers of a compared system
    - `averages`: the direct estimates; empty if `answered_documents` is below TOO_FEW_DOCUMENTS
    - `uses_judge`: False if the estimates use people's answers alone
    - `came_after`: `SampleFrame.came_after`; 0 for ratings
    - `pooled`: the estimates after pooling; empty if nothing is pooled
    - `misfits`: the systems that the pooling model does not fit
    - `compared`: the differences of all pairs of systems, pooled ones if there are any
    - `these_documents`: True if the estimates are about exactly these documents, not about documents like these
    """

    sample: SampleProgress | None = None
    newer: SampleProgress | None = None
    answers: int = 0
    right: int = 0
    documents: int = 0
    answered_documents: int = 0
    uses_judge: bool = True
    came_after: int = 0
    averages: dict[str, Average] = field(default_factory=dict)
    pooled: dict[str, Average] = field(default_factory=dict)
    misfits: tuple[str, ...] = ()
    compared: tuple[PairComparison, ...] = ()
    these_documents: bool = False

    @property
    def sample_id(self) -> str:
        """Return the id of the finished sample if it has answers at this target length; otherwise ""."""
        return self.sample.sample_id if self.sample is not None and self.answers else ""

    @property
    def sentence(self) -> str:
        """Return sentences about the sample, or the reason for missing estimates."""
        newer = self.newer and (
            f"The random sample of {self.newer.day} has {self.newer.answered:,} of {self.newer.sampled:,} answered; "
            "it counts once all are."
        )
        if self.sample is None:
            return newer or NO_SAMPLE
        if not self.answers:
            return f"No estimate: the random sample of {self.sample.day} has no checks at this target length."
        sentences = []
        if self.averages:
            sentences.append(
                f"Estimated from the random sample of {self.sample.day}, {self.answers:,} answers in at least "
                f"{self.answered_documents} document sets of every system."
            )
            if not self.uses_judge:
                sentences.append(
                    "The judge would not narrow any interval, so only people's answers are used."
                )
            if self.pooled:
                sentences.append(
                    "The judge's averages then move each system's estimate, by at most half of its standard error."
                )
            if self.answered_documents < FEW_DOCUMENTS:
                sentences.append(
                    f"Below {FEW_DOCUMENTS} document sets, an interval may miss more often than stated."
                )
        else:
            needed = f"An estimate needs answers in {TOO_FEW_DOCUMENTS} document sets of every system"
            if self.documents < TOO_FEW_DOCUMENTS:
                sentences.append(f"{needed}, and one system has only {self.documents}.")
            else:
                sentences.append(f"{needed}; one system has {self.answered_documents}.")
        if self.came_after:
            sentences.append(f"{self.came_after:,} checks were added after the sample and are not covered.")
        return " ".join([*sentences, *([newer] if newer else [])])

    @property
    def wants_more(self) -> bool:
        """Return True if a larger sample can give the missing estimate."""
        return not self.averages and self.newer is None and self.documents >= TOO_FEW_DOCUMENTS

    def average(self, system: str, *, is_pooled: bool = False) -> Average:
        """Return the estimate of a system, direct or pooled; its mean is None if there is no estimate."""
        found = self.pooled if is_pooled else self.averages
        return found.get(system, Average(None, None, None, n=0, left_out=0))


@dataclass(frozen=True, slots=True)
class Estimates:
    """The estimates of a project by target length. For any other length, `otherwise` has the reason for missing
    estimates.
    """

    tables: dict[int | None, EstimateTable]
    otherwise: EstimateTable

    def at(self, target_words: int | None) -> EstimateTable:
        return self.tables.get(target_words, self.otherwise)


def estimates(
    project: Project, side: Check.Side = Check.Side.REFERENCE, *, these_documents: bool = False
) -> Estimates:
    """Estimate from the newest finished random sample, or give the reason for missing estimates.

    The reference side gives coverage, the summary side alignment. With `these_documents`, the estimates are about
    exactly the documents of the sample.
    """
    found = samples(project, side)
    sample = next((each for each in found if each.is_complete), None)
    newer = found[0] if found and found[0] != sample else None
    if sample is None:
        return Estimates({}, EstimateTable(newer=newer))
    framed = framed_items(project, Sample.objects.get(public_id=sample.sample_id), side=side)
    tables = {
        target: estimate_table(sample, framed, target, newer=newer, these_documents=these_documents)
        for target in framed.items
    }
    return Estimates(tables, EstimateTable(sample=sample, newer=newer))


def estimate_table(
    sample: SampleProgress,
    framed: SampleFrame,
    target_words: int | None,
    *,
    newer: SampleProgress | None = None,
    these_documents: bool = False,
) -> EstimateTable:
    """Compute the estimates at one target length from a finished sample. `newer` is only copied to the table."""
    items = framed.items[target_words]
    found = _estimated(items, covariates=framed.covariates, these_documents=these_documents)
    answers = [
        item for of_system in items.values() for item in of_system if item.is_sampled and not item.is_settled
    ]
    made = EstimateTable(
        sample=sample,
        newer=newer,
        answers=len(answers),
        right=sum(
            item.judge is not None and item.answer is not None and (item.judge > 0.5) == (item.answer > 0.5)
            for item in answers
        ),
        documents=min(result.documents for result in found.values()),
        answered_documents=min(result.answered_documents for result in found.values()),
        came_after=framed.came_after,
        these_documents=these_documents,
    )
    if made.answered_documents < TOO_FEW_DOCUMENTS:
        return made
    uses_judge = framed.has_judge and any(result.tuning for result in found.values())
    if not uses_judge:
        found = _estimated(items, people_alone=True, these_documents=these_documents)
    pooled = pool_estimates(found, confidence=CONFIDENCE)
    # Put the better system first.
    best_first = sorted(found, key=lambda name: (-(pooled.systems[name].estimate or 0.0), name))
    return replace(
        made,
        uses_judge=uses_judge,
        averages={name: _average(result) for name, result in found.items()},
        pooled={name: _average(pooled.systems[name]) for name in found} if pooled.pooled else {},
        misfits=pooled.misfits,
        compared=tuple(compare_estimates({name: pooled.systems[name] for name in best_first})),
    )


def _estimated(items: Mapping[str, Sequence[SampledItem]], **options: Any) -> dict[str, SampleEstimate]:
    found = estimate_systems_from_sample(items, confidence=CONFIDENCE, **options)
    return {system: made for system, made in found.items() if has_interval(made.documents)} or found


def _average(result: SampleEstimate) -> Average:
    low, high = result.low, result.high
    if not has_interval(result.answered_documents, low, high):
        low = high = None
    return Average(mean=result.estimate, low=low, high=high, n=result.documents, left_out=0)


def rating_estimates(project: Project) -> dict[str, Estimates]:
    """Estimate the average of each criterion in force, by name, from its newest finished random sample of ratings.

    Criteria without such a sample are left out.
    """
    made: dict[str, Estimates] = {}
    for sample in rating_samples(project, criterion__in=criteria_in_force(project)):
        if sample.is_finished and sample.criterion not in made:
            row = Sample.objects.select_related("criterion").get(public_id=sample.sample_id)
            day = date_format(sample.created_at, "j M Y")
            progress = SampleProgress(sample.sample_id, row.method, sample.sampled, sample.answered, day)
            framed = framed_ratings(project, row)
            tables = {target: _rating_table(progress, framed, target) for target in framed.items}
            made[sample.criterion] = Estimates(tables, EstimateTable(sample=progress))
    return made


def _rating_table(sample: SampleProgress, framed: SampleFrame, target_words: int | None) -> EstimateTable:
    items = framed.items[target_words]
    found = _estimated(items, people_alone=not framed.has_judge, ratings=True)
    answered = min(result.answered_documents for result in found.values())
    best_first = sorted(found, key=lambda name: (-(found[name].estimate or 0.0), name))
    is_enough = answered >= TOO_FEW_DOCUMENTS
    return EstimateTable(
        sample=sample,
        answers=sum(result.answered for result in found.values()),
        documents=min(result.documents for result in found.values()),
        answered_documents=answered,
        uses_judge=any(result.tuning for result in found.values()),
        averages={name: _average(result) for name, result in found.items()} if is_enough else {},
        compared=tuple(compare_estimates({name: found[name] for name in best_first})) if is_enough else (),
    )
