"""Converting the frame of a sample to the library's types."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple, cast

from annotation.models import Check, Label, Sample, SampledCheck
from annotation.models.document import cluster_of
from annotation.sampling.queries.check_samples import eligible, of_summaries
from evaluation.statistics import SampledItem

if TYPE_CHECKING:
    from annotation.models import Project

READ_AT_ONCE = 2000

Frames = dict[int | None, dict[str, list[SampledItem]]]
"""The items of a frame by target length and system."""


@dataclass(frozen=True, slots=True)
class SampleFrame:
    """The items of a sample's frame on one side.

    `claims` has the number of reference claims of each document. `came_after` is the number of current checks, or of
    summaries to rate, that are not items.
    """

    items: Frames
    claims: dict[str, int] = field(default_factory=dict)
    came_after: int = 0
    side: Check.Side = Check.Side.REFERENCE

    @property
    def covariates(self) -> dict[str, tuple[float, ...]] | None:
        """Return the natural logarithm of each document's number of claims; None without claims."""
        return {document: (math.log(count),) for document, count in self.claims.items()} or None

    @property
    def has_judge(self) -> bool:
        """Return True if any item has an answer of the judge or a rule."""
        return any(
            item.judge is not None
            for of_target in self.items.values()
            for of_system in of_target.values()
            for item in of_system
        )


def framed_items(
    project: Project,
    sample: Sample,
    *,
    side: Check.Side = Check.Side.REFERENCE,
    among: Collection[int] | None = None,
) -> SampleFrame:
    """Build the items of a sample on one side, of the summaries with the keys `among` if given.

    A document is a document set or its group. The share of an item is its weight in the mean of its document, which is
    taken over its sets, then over the summaries of a system. On the reference side, the mean of a summary is taken over
    references, units (or claims that replace them) by weight, and the claims of a unit; on the summary side, over its
    own claims. A check outside the frame that a rule decides counts as sampled with certainty. The judge's answer is
    the probability that the sample stores. If the sample extends an earlier one, systems outside its frame have the
    items of the earlier sample. `came_after` is then that of the earlier sample.
    """
    probabilities: dict[str, float | None] = dict(cast("list[tuple[str, float | None]]", sample.frame))
    found = _of_checks(_checks(project, side, among), side, probabilities, _sampled(sample, side))
    if sample.extends is None:
        return found
    before = framed_items(project, sample.extends, side=side, among=among)
    for target, of_target in found.items.items():
        # Claims that a rule decides are no part of a frame and do not show that a system is in it.
        in_frame = {
            system: items for system, items in of_target.items() if not all(item.is_settled for item in items)
        }
        before.items[target] = before.items.get(target, {}) | in_frame
    return replace(before, claims=found.claims | before.claims)


def framed_now(
    project: Project, side: Check.Side = Check.Side.REFERENCE, among: Collection[int] | None = None
) -> SampleFrame:
    """Build the items of `framed_items` for a sample that would be taken now, without people's answers."""
    checks = eligible(project, side, among)
    probabilities = dict(checks.values_list("public_id", "judge_probability"))
    return _of_checks(_checks(project, side, among), side, probabilities, {})


class _FramedCheckRow(NamedTuple):
    public_id: str
    summary: int
    document_set: str
    group: str
    system: str
    target_words: int | None
    reference: int | None
    claim: int
    unit: int | None
    unit_weight: float | None
    claim_weight: float
    is_current: bool
    source: str | None
    label: str | None

    @property
    def document(self) -> str:
        return cluster_of(self.document_set, self.group)


class _SampledAnswer(NamedTuple):
    value: float | None
    chance: float


def _sampled(sample: Sample, side: Check.Side) -> dict[str, _SampledAnswer]:
    rows = SampledCheck.objects.filter(sample=sample, check_row__side=side)
    columns = ("check_row__public_id", "inclusion_probability", "verdict__label")
    return {
        public_id: _SampledAnswer(None if label is None else _as_number(label), chance)
        for public_id, chance, label in rows.values_list(*columns)
    }


def _of_checks(
    checks: Iterable[_FramedCheckRow],
    side: Check.Side,
    probabilities: Mapping[str, float | None],
    answers: Mapping[str, _SampledAnswer],
) -> SampleFrame:
    summaries: dict[int, list[_FramedCheckRow]] = defaultdict(list)
    came_after = 0
    is_of_coverage = side == Check.Side.REFERENCE
    for row in checks:
        if row.public_id in probabilities or (row.is_current and row.source == Check.Decider.RULE):
            summaries[row.summary].append(row)
        else:
            came_after += row.is_current
    written: dict[tuple[int | None, str, str, str], list[int]] = defaultdict(list)
    claims: dict[str, set[int]] = defaultdict(set)
    for summary, rows in summaries.items():
        first = rows[0]
        written[first.target_words, first.system, first.document, first.document_set].append(summary)
        if is_of_coverage:
            claims[first.document].update(row.claim for row in rows)
    held = _sets_of_documents(written)
    items: Frames = defaultdict(lambda: defaultdict(list))
    for (target, system, document, _), of_set in written.items():
        share = 1 / len(of_set) / held[target, system, document]
        for summary in of_set:
            rows = summaries[summary]
            parts = _shares(rows) if is_of_coverage else ((row, 1 / len(rows)) for row in rows)
            for row, part in parts:
                # On the summary side no claim is shared, because each summary has its own claims.
                claim = row.claim if is_of_coverage else None
                item = _check_item(row, document, share * part, probabilities, answers, claim=claim)
                items[target][system].append(item)
    return SampleFrame(
        items={target: dict(of_target) for target, of_target in items.items()},
        claims={document: len(of_document) for document, of_document in claims.items()},
        came_after=came_after,
        side=side,
    )


def _checks(project: Project, side: Check.Side, among: Collection[int] | None) -> Iterator[_FramedCheckRow]:
    rows = of_summaries(Check.objects.filter(project=project, side=side), among).order_by("pk")
    columns = (
        "public_id",
        "summary_id",
        "summary__document_set__external_id",
        "summary__document_set__group",
        "summary__system__name",
        "summary__target_words",
        "claim__claim_set__summary_id",
        "claim_id",
        "claim__unit_id",
        "claim__unit__weight",
        "claim__weight",
        "is_current",
        "final_source",
        "final_label",
    )
    return (_FramedCheckRow(*row) for row in rows.values_list(*columns).iterator(chunk_size=READ_AT_ONCE))


def _sets_of_documents(
    written: Iterable[tuple[int | None, str, str, str]],
) -> dict[tuple[int | None, str, str], int]:
    found: dict[tuple[int | None, str, str], int] = defaultdict(int)
    for target, system, document, _ in written:
        found[target, system, document] += 1
    return found


def _shares(rows: Sequence[_FramedCheckRow]) -> Iterator[tuple[_FramedCheckRow, float]]:
    references: dict[int | None, list[_FramedCheckRow]] = defaultdict(list)
    for row in rows:
        references[row.reference].append(row)
    for of_reference in references.values():
        units: dict[tuple[str, int], list[_FramedCheckRow]] = defaultdict(list)
        stand_alone = any(row.unit is None for row in of_reference)
        for row in of_reference:
            units[("claim", row.claim) if stand_alone else ("unit", row.unit or 0)].append(row)
        weights = {key: _weight(of_unit[0], stand_alone=stand_alone) for key, of_unit in units.items()}
        total = sum(weights.values())
        for key, of_unit in units.items():
            part = weights[key] / total / len(of_unit) / len(references)
            for row in of_unit:
                yield row, part


def _weight(row: _FramedCheckRow, *, stand_alone: bool) -> float:
    if row.reference is None:
        # Without a reference, all claims of the documents have the same weight.
        return 1.0
    return row.claim_weight if stand_alone else (row.unit_weight or 1.0)


def _check_item(
    row: _FramedCheckRow,
    document: str,
    share: float,
    probabilities: Mapping[str, float | None],
    answers: Mapping[str, _SampledAnswer],
    *,
    claim: int | None,
) -> SampledItem:
    if row.public_id not in probabilities:
        known = _as_number(row.label)
        return SampledItem(
            document, share, judge=known, probability=1.0, is_sampled=True, answer=known, is_settled=True
        )
    sampled = answers.get(row.public_id)
    return SampledItem(
        document,
        share,
        judge=probabilities[row.public_id],
        # The probability of an unsampled item has no effect, because it has no answer.
        probability=1.0 if sampled is None else sampled.chance,
        is_sampled=sampled is not None,
        answer=None if sampled is None else sampled.value,
        claim=claim,
    )


def _as_number(label: str | None) -> float:
    return 1.0 if label == Label.YES else 0.0
