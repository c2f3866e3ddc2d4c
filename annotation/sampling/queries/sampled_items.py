"""The frame of a sample as the evaluation room wants it: every item with its share, its chance and its answer."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, cast

from annotation.models import Assignment, Check, Draw, DrawnCheck, Label, Score, UnitJudgment
from annotation.models.document import cluster_of
from annotation.models.judgment import COUNTING, GIVEN_BLIND
from annotation.sampling.queries.check_samples import drawable
from annotation.sampling.queries.set_samples import IS_LIVE, IS_OVER
from evaluation.blend import ScoredUnit, ScoreRules, unit_coverage
from evaluation.metrics import mean_coverage
from evaluation.statistics import DrawnItem

if TYPE_CHECKING:
    from annotation.models import Project
    from evaluation.blend import AssessorAverage

READ_AT_ONCE = 2000

Frames = dict[int | None, dict[str, list[DrawnItem]]]
"""By target length and system, the items of a frame."""


@dataclass(frozen=True, slots=True)
class SampleFrame:
    """What a sample's frame holds of one side. `claims` counts the reference claims of each document, `came_after` the
    checks in force that no item stands for, because they came after the sample. `ids` are the public ids of the checks
    that items stand for, in the order of `items`; summaries have none.
    """

    items: Frames
    ids: dict[int | None, dict[str, list[str]]] = field(default_factory=dict)
    claims: dict[str, int] = field(default_factory=dict)
    came_after: int = 0
    side: Check.Side = Check.Side.REFERENCE

    @property
    def has_judge(self) -> bool:
        """Whether the judge has said anything of any item."""
        return any(
            item.judge is not None
            for of_target in self.items.values()
            for of_system in of_target.values()
            for item in of_system
        )


def framed_items(
    project: Project, draw: Draw, *, side: Check.Side = Check.Side.REFERENCE, names_claims: bool = False
) -> SampleFrame:
    """The items of a sample, of checks on a side or of summaries for assessors.

    A document is a document set, or the group that it belongs to. The share of an item is its part in the mean of
    its document: summaries of a system, then model summaries, units by weight and claims of a unit, on the peer side
    the summary's own claims. What a rule decides is known and counts as drawn for sure. The judge's answer to a check
    is the probability that the sample recorded; that to a summary is coverage by the deciding judge alone. Items name
    their claims where the sample was drawn by system, or where `names_claims` asks for it, as estimates must not.
    """
    if draw.item != Draw.Item.CHECK:
        return _of_summaries(project, draw)
    probabilities: dict[str, float | None] = dict(cast("list[tuple[str, float | None]]", draw.frame))
    return _of_checks(
        project, side, probabilities, _drawn(draw, side), by_system=names_claims or draw.by_system
    )


def framed_now(project: Project, side: Check.Side = Check.Side.REFERENCE) -> SampleFrame:
    """The items that a sample of checks would find now, as in `framed_items`; nothing is drawn, nothing answered."""
    checks = drawable(project, side)
    return _of_checks(
        project, side, dict(checks.values_list("public_id", "judge_probability")), {}, by_system=False
    )


class _FramedCheckRow(NamedTuple):
    public_id: str
    peer: int
    document_set: str
    group: str
    system: str
    target_words: int | None
    model: int | None
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
    """The answer to a sampled check, None while it is awaited, who gave it, and the check's chance to be sampled."""

    value: float | None
    rater: int | None
    chance: float


def _drawn(draw: Draw, side: Check.Side) -> dict[str, _SampledAnswer]:
    """By public id what was drawn on the side."""
    rows = DrawnCheck.objects.filter(draw=draw, check_row__side=side)
    columns = ("check_row__public_id", "inclusion_probability", "verdict__label", "verdict__person_id")
    return {
        public_id: _SampledAnswer(None if label is None else as_number(label), rater, chance)
        for public_id, chance, label, rater in rows.values_list(*columns)
    }


def _of_checks(
    project: Project,
    side: Check.Side,
    probabilities: Mapping[str, float | None],
    answers: Mapping[str, _SampledAnswer],
    *,
    by_system: bool,
) -> SampleFrame:
    """`probabilities` holds the judge's of every check of the frame; `answers` what was drawn."""
    peers: dict[int, list[_FramedCheckRow]] = defaultdict(list)
    came_after = 0
    is_of_coverage = side == Check.Side.REFERENCE
    for row in _checks(project, side):
        if row.public_id in probabilities or (row.is_current and row.source == Check.Decider.RULE):
            peers[row.peer].append(row)
        else:
            came_after += row.is_current
    written: dict[tuple[int | None, str, str, str], list[int]] = defaultdict(list)
    claims: dict[str, set[int]] = defaultdict(set)
    for peer, rows in peers.items():
        first = rows[0]
        written[first.target_words, first.system, first.document, first.document_set].append(peer)
        if is_of_coverage:
            claims[first.document].update(row.claim for row in rows)
    held = _sets_of_documents(written)
    items: Frames = defaultdict(lambda: defaultdict(list))
    ids: dict[int | None, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for (target, system, document, _), of_set in written.items():
        share = 1 / len(of_set) / held[target, system, document]
        for peer in of_set:
            rows = peers[peer]
            parts = _shares(rows) if is_of_coverage else ((row, 1 / len(rows)) for row in rows)
            for row, part in parts:
                # Where systems were not drawn by themselves, one's sample says something of another's. No two
                # summaries have a claim of their own in common.
                claim = row.claim if by_system and is_of_coverage else None
                item = _check_item(row, document, share * part, probabilities, answers, claim=claim)
                items[target][system].append(item)
                ids[target][system].append(row.public_id)
    return SampleFrame(
        items={target: dict(of_target) for target, of_target in items.items()},
        ids={target: dict(of_target) for target, of_target in ids.items()},
        claims={document: len(of_document) for document, of_document in claims.items()},
        came_after=came_after,
        side=side,
    )


def _checks(project: Project, side: Check.Side) -> Iterator[_FramedCheckRow]:
    rows = Check.objects.filter(project=project, side=side).order_by("pk")
    columns = (
        "public_id",
        "peer_id",
        "peer__document_set__external_id",
        "peer__document_set__group",
        "peer__system__name",
        "peer__target_words",
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
    """How many document sets of each document a system has, by target length."""
    found: dict[tuple[int | None, str, str], int] = defaultdict(int)
    for target, system, document, _ in written:
        found[target, system, document] += 1
    return found


def _shares(rows: Sequence[_FramedCheckRow]) -> Iterator[tuple[_FramedCheckRow, float]]:
    """Each check of a peer summary with its part in the summary's coverage."""
    models: dict[int | None, list[_FramedCheckRow]] = defaultdict(list)
    for row in rows:
        models[row.model].append(row)
    for of_model in models.values():
        units: dict[tuple[str, int], list[_FramedCheckRow]] = defaultdict(list)
        stand_alone = any(row.unit is None for row in of_model)
        for row in of_model:
            units[("claim", row.claim) if stand_alone else ("unit", row.unit or 0)].append(row)
        weights = {key: _weight(of_unit[0], stand_alone=stand_alone) for key, of_unit in units.items()}
        total = sum(weights.values())
        for key, of_unit in units.items():
            part = weights[key] / total / len(of_unit) / len(models)
            for row in of_unit:
                yield row, part


def _weight(row: _FramedCheckRow, *, stand_alone: bool) -> float:
    if row.model is None:
        # Claims of the documents count alike where there is no model summary.
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
) -> DrawnItem:
    if row.public_id not in probabilities:
        known = as_number(row.label)
        return DrawnItem(
            document, share, judge=known, probability=1.0, is_drawn=True, answer=known, is_settled=True
        )
    sampled = answers.get(row.public_id)
    return DrawnItem(
        document,
        share,
        judge=probabilities[row.public_id],
        # What was not drawn counts for nothing, whatever its chance.
        probability=1.0 if sampled is None else sampled.chance,
        is_drawn=sampled is not None,
        answer=None if sampled is None else sampled.value,
        claim=claim,
        rater=None if sampled is None else sampled.rater,
    )


def as_number(label: str | None) -> float:
    """What an answer counts: unsure is not yes."""
    return 1.0 if label == Label.YES else 0.0


class _FramedSummaryRow(NamedTuple):
    peer: int
    public_id: str
    set_id: str
    document_set: str
    group: str
    system: str
    target_words: int | None
    coverage_judge: float | None


def _of_summaries(project: Project, draw: Draw) -> SampleFrame:
    """Items are whole summaries: of a sample of document sets all that a system has in the set, together."""
    frame = set(cast("list[str]", draw.frame))
    by_set = draw.item == Draw.Item.DOCUMENT_SET
    # Summaries that were drawn together: those of one system in a set, or a single one.
    grouped: dict[tuple[int | None, str, str, str, str], list[_FramedSummaryRow]] = defaultdict(list)
    held: dict[tuple[int | None, str, str], set[str]] = defaultdict(set)
    items_of: dict[tuple[int | None, str, str, str], set[str]] = defaultdict(set)
    for row in _summaries(project):
        if (row.set_id if by_set else row.public_id) not in frame:
            continue
        document = cluster_of(row.document_set, row.group)
        item = row.set_id if by_set else row.public_id
        grouped[row.target_words, row.system, document, row.document_set, item].append(row)
        held[row.target_words, row.system, document].add(row.document_set)
        items_of[row.target_words, row.system, document, row.document_set].add(item)
    chances, answers = _answers(project, draw)
    items: Frames = defaultdict(lambda: defaultdict(list))
    for (target, system, document, document_set, _), peers in grouped.items():
        share = 1 / len(held[target, system, document])
        share /= len(items_of[target, system, document, document_set])
        items[target][system].append(_summary_item(peers, document, share, chances, answers))
    return SampleFrame(items={target: dict(of_target) for target, of_target in items.items()})


def _summaries(project: Project) -> Iterator[_FramedSummaryRow]:
    rows = Score.objects.filter(project=project, summary__is_peer=True).order_by("pk")
    columns = (
        "summary_id",
        "summary__public_id",
        "summary__document_set__public_id",
        "summary__document_set__external_id",
        "summary__document_set__group",
        "summary__system__name",
        "summary__target_words",
        "coverage_judge",
    )
    return (_FramedSummaryRow(*row) for row in rows.values_list(*columns).iterator(chunk_size=READ_AT_ONCE))


def _summary_item(
    peers: Sequence[_FramedSummaryRow],
    document: str,
    share: float,
    chances: Mapping[int, float],
    answers: Mapping[int, float],
) -> DrawnItem:
    judged = [row.coverage_judge for row in peers if row.coverage_judge is not None]
    drawn = [row for row in peers if row.peer in chances]
    given = [answers[row.peer] for row in drawn if row.peer in answers]
    is_answered = bool(drawn) and len(given) == len(drawn)
    return DrawnItem(
        document,
        share,
        judge=sum(judged) / len(judged) if judged else None,
        probability=chances[drawn[0].peer] if drawn else 1.0,
        is_drawn=bool(drawn),
        answer=sum(given) / len(given) if is_answered else None,
    )


def _answers(project: Project, draw: Draw) -> tuple[dict[int, float], dict[int, float]]:
    """By peer summary the chance that it had, and what its drawn assignments say of its coverage, once all do."""
    chances: dict[int, float] = {}
    open_peers: set[int] = set()
    # What goes on in another sitting is found there; what was taken away for good never gets an answer.
    given = Assignment.objects.filter(IS_LIVE | IS_OVER, draw=draw)
    columns = ("comparison__peer_id", "inclusion_probability", "state")
    for peer, chance, state in given.order_by("pk").values_list(*columns):
        if peer is None:
            continue
        chances[peer] = 1.0 if chance is None else chance
        if state != Assignment.State.SUBMITTED:
            open_peers.add(peer)
    rules = ScoreRules(assessor_average=cast("AssessorAverage", project.assessor_average))
    percents = _percents(draw)
    answers = {}
    for peer in chances.keys() - open_peers:
        comparisons = [_coverage(units, rules) for units in percents.get(peer, {}).values()]
        known = [value for value in comparisons if value is not None]
        if known and len(known) == len(comparisons):
            answers[peer] = sum(known) / len(known)
    return chances, answers


_UnitPercents = dict[tuple[int | None, int | None], tuple[float, list[float]]]


def _percents(draw: Draw) -> dict[int, dict[int, _UnitPercents]]:
    """By peer summary, comparison and unit: the unit's weight, and the percents given in the drawn assignments."""
    rows = UnitJudgment.objects.filter(COUNTING, GIVEN_BLIND, assignment__draw=draw)
    columns = (
        "assignment__comparison__peer_id",
        "assignment__comparison_id",
        "unit_id",
        "claim_id",
        "unit__weight",
        "claim__weight",
        "percent",
    )
    found: dict[int, dict[int, _UnitPercents]] = defaultdict(lambda: defaultdict(dict))
    for peer, comparison, unit, claim, unit_weight, claim_weight, percent in rows.values_list(*columns):
        weight = unit_weight if unit is not None else claim_weight
        units = found[peer or 0][comparison or 0]
        units.setdefault((unit, claim), (float(weight or 1.0), []))[1].append(float(percent or 0))
    return found


def _coverage(units: _UnitPercents, rules: ScoreRules) -> float | None:
    """Coverage of a comparison from the assessors' percents alone."""
    values, weights = [], []
    for weight, percents in units.values():
        unit = ScoredUnit(unit_id="", weight=weight, percents=tuple(percents))
        values.append(unit_coverage(unit, rules).value)
        weights.append(weight)
    known = [None if value is None else 100 * value for value in values]
    return mean_coverage(known, weights)
