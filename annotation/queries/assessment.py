"""An assessor's own work, and one comparison as the SEE form shows it.

Assessors work blind. Nothing here selects who wrote a peer summary, what a judge or another person said, or
an id or order that would tell: columns are named one by one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, cast

from django.db.models import Count, Q

from annotation.models import Assignment, Claim, Document, Project, Sitting, Unit, UnitJudgment
from annotation.queries.units import unit_list
from annotation.refusals import NotFound
from evaluation import count_length

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.db.models import QuerySet

    from evaluation import LengthUnit

LETTERS = "abcdefhilmoqrtvwxyz"
"""Keys that mark peer units; those that are missing steer the form (g, j, k, n, p, s, u)."""

SCALES: dict[str, tuple[int, ...]] = {
    Project.PercentScale.SIX: tuple(range(0, 101, 20)),
    Project.PercentScale.FIVES: tuple(range(0, 101, 5)),
    Project.PercentScale.FREE: (),
}
"""Percents to choose from; none where any whole percent may be typed."""


@dataclass(frozen=True, slots=True)
class SummaryWork:
    """One peer summary to judge: "peer `number`" of its set."""

    assignment_id: str
    number: int
    target_words: int | None
    judged: int
    total: int

    @property
    def is_complete(self) -> bool:
        return self.judged >= self.total

    @property
    def is_begun(self) -> bool:
        return self.judged > 0


@dataclass(frozen=True, slots=True)
class SetWork:
    """One document set to judge: "set `number`" of the assessor's."""

    sitting_id: str
    number: int
    name: str
    closed_at: datetime | None
    summaries: tuple[SummaryWork, ...]

    @property
    def judged(self) -> int:
        return sum(summary.judged for summary in self.summaries)

    @property
    def total(self) -> int:
        return sum(summary.total for summary in self.summaries)

    @property
    def missing(self) -> int:
        return self.total - self.judged

    @property
    def incomplete(self) -> int:
        return sum(not summary.is_complete for summary in self.summaries)

    @property
    def is_complete(self) -> bool:
        return all(summary.is_complete for summary in self.summaries)

    @property
    def next_summary(self) -> SummaryWork | None:
        """The first one with something left to judge."""
        return next((summary for summary in self.summaries if not summary.is_complete), None)


@dataclass(frozen=True, slots=True)
class JudgedUnit:
    """A model unit (or a claim in its stead) with what the assessor has said of it so far."""

    unit_id: str
    number: int
    text: str
    percent: int | None
    marks: tuple[int, ...]
    note: str


@dataclass(frozen=True, slots=True)
class PeerUnit:
    """A piece of the peer summary; `letter` is the key that marks it, empty beyond the last one."""

    number: int
    letter: str
    text: str

    @property
    def name(self) -> str:
        return self.letter or str(self.number)


@dataclass(frozen=True, slots=True)
class SeeForm:
    """One comparison in an assessor's hands."""

    assignment_id: str
    here: SetWork
    sets: int
    number: int
    target_words: int | None
    peer_length: int
    scale: tuple[int, ...]
    units: tuple[JudgedUnit, ...]
    peer_units: tuple[PeerUnit, ...]
    previous_id: str | None
    next_id: str | None
    is_closed: bool

    @property
    def judged(self) -> int:
        return sum(unit.percent is not None for unit in self.units)

    @property
    def in_hand(self) -> JudgedUnit | None:
        """The unit that the form opens on: the first without a percent, else the first."""
        waiting = (unit for unit in self.units if unit.percent is None)
        return next(waiting, self.units[0] if self.units else None)


@dataclass(frozen=True, slots=True)
class SourceText:
    """The documents behind a comparison, each as its paragraphs."""

    documents: tuple[tuple[str, ...], ...]


def own_work(project: Project, person: User) -> list[SetWork]:
    """The person's sittings in the project, oldest first. The number of queries does not grow with them."""
    sittings = list(
        Sitting.objects.filter(assessor=person, document_set__project=project)
        .order_by("pk")
        .values_list("pk", "public_id", "closed_at", "document_set__external_id")
    )
    summaries = _summaries_of([key for key, *_ in sittings])
    return [
        SetWork(
            sitting_id=public_id,
            number=number,
            name=name,
            closed_at=closed_at,
            summaries=tuple(summaries.get(key, ())),
        )
        for number, (key, public_id, closed_at, name) in enumerate(sittings, start=1)
    ]


def own_assignment(project: Project, person: User, public_id: str) -> Assignment:
    """The person's own assignment of that public id, whatever its state. Raises NotFound."""
    assignment = (
        _own(project, person)
        .select_related("sitting__document_set__project", "comparison__model", "comparison__peer")
        .only(
            "public_id",
            "state",
            "sitting__public_id",
            "sitting__assessor_id",
            "sitting__closed_at",
            "sitting__document_set__project",
            "comparison__model__text",
            "comparison__peer__text",
            "comparison__peer__target_words",
        )
        .filter(public_id=public_id)
        .first()
    )
    if assignment is None:
        raise NotFound("There is no such piece of work in this project.")
    return assignment


def own_sitting(project: Project, person: User, public_id: str) -> Sitting:
    """The person's own sitting of that public id. Raises NotFound."""
    sitting = (
        Sitting.objects.filter(assessor=person, document_set__project=project, public_id=public_id)
        .select_related("document_set__project")
        .first()
    )
    if sitting is None:
        raise NotFound("There is no such sitting in this project.")
    return sitting


def see_form(project: Project, person: User, assignment: Assignment) -> SeeForm:
    """One comparison of the person's own as the form shows it, with its place among the others."""
    sets = own_work(project, person)
    assert assignment.comparison is not None, "sittings hold comparisons only"
    assert assignment.sitting is not None, "sittings hold comparisons only"
    comparison, sitting = assignment.comparison, assignment.sitting
    here = next(work for work in sets if work.sitting_id == sitting.public_id)
    order = [summary.assignment_id for work in sets if not work.closed_at for summary in work.summaries]
    if here.closed_at:
        order = [summary.assignment_id for summary in here.summaries]
    place = order.index(assignment.public_id)
    number = next(work.number for work in here.summaries if work.assignment_id == assignment.public_id)
    return SeeForm(
        assignment_id=assignment.public_id,
        here=here,
        sets=len(sets),
        number=number,
        target_words=comparison.peer.target_words,
        peer_length=count_length(comparison.peer.text, cast("LengthUnit", project.length_unit)),
        scale=SCALES[project.percent_scale],
        units=tuple(_judged_units(assignment)),
        peer_units=tuple(_peer_units(comparison.peer.units.order_by("position"), comparison.peer.text)),
        previous_id=order[place - 1] if place else None,
        next_id=order[place + 1] if place + 1 < len(order) else None,
        is_closed=here.closed_at is not None,
    )


def source_text(assignment: Assignment) -> SourceText:
    """The source documents of an assignment's set, cut into paragraphs for reading."""
    texts = Document.objects.filter(document_set__sittings=assignment.sitting).order_by("position")
    return SourceText(
        documents=tuple(tuple(_paragraphs(text)) for text in texts.values_list("text", flat=True))
    )


def _own(project: Project, person: User) -> QuerySet[Assignment]:
    return Assignment.objects.filter(
        sitting__assessor=person, sitting__document_set__project=project
    ).exclude(state=Assignment.State.RECALLED)


def _summaries_of(sitting_ids: Sequence[int]) -> dict[int, list[SummaryWork]]:
    rows = list(
        Assignment.objects.filter(sitting_id__in=sitting_ids)
        .exclude(state=Assignment.State.RECALLED)
        .order_by("sitting_id", "position", "pk")
        .values_list(
            "sitting_id", "pk", "public_id", "comparison__model_id", "comparison__peer__target_words"
        )
    )
    totals = _unit_counts({model_id for _, _, _, model_id, _ in rows})
    judged = dict(
        UnitJudgment.objects.filter(
            assignment__sitting_id__in=sitting_ids, is_current=True, percent__isnull=False
        )
        .values_list("assignment_id")
        .annotate(Count("pk"))
        .order_by()
    )
    work: dict[int, list[SummaryWork]] = defaultdict(list)
    for sitting_id, key, public_id, model_id, target_words in rows:
        work[sitting_id].append(
            SummaryWork(
                assignment_id=public_id,
                number=len(work[sitting_id]) + 1,
                target_words=target_words,
                judged=judged.get(key, 0),
                total=totals.get(model_id, 0),
            )
        )
    return dict(work)


def _unit_counts(model_ids: Iterable[int]) -> dict[int, int]:
    """The length of each model summary's one list: its units, or its claims where they stand in for them."""
    units = dict(
        Unit.objects.filter(summary_id__in=model_ids)
        .values_list("summary_id")
        .annotate(Count("pk"))
        .order_by()
    )
    claims = (
        Claim.objects.filter(claim_set__summary_id__in=model_ids, claim_set__is_active=True)
        .values_list("claim_set__summary_id")
        .annotate(all=Count("pk"), alone=Count("pk", filter=Q(unit__isnull=True)))
        .order_by()
    )
    return {**units, **{model_id: total for model_id, total, alone in claims if alone}}


def _judged_units(assignment: Assignment) -> Iterable[JudgedUnit]:
    assert assignment.comparison is not None, "sittings hold comparisons only"
    model = assignment.comparison.model
    said = {
        (judgment.unit_id, judgment.claim_id): judgment
        for judgment in UnitJudgment.objects.filter(assignment=assignment, is_current=True)
    }
    units: Sequence[Unit | Claim] = unit_list(model)
    for number, unit in enumerate(units, start=1):
        place = (unit.pk, None) if isinstance(unit, Unit) else (None, unit.pk)
        judgment = said.get(place)
        yield JudgedUnit(
            unit_id=unit.public_id,
            number=number,
            text=model.text[unit.start : unit.end].strip() if isinstance(unit, Unit) else unit.text,
            percent=judgment.percent if judgment else None,
            marks=tuple(judgment.marks) if judgment else (),
            note=judgment.note if judgment else "",
        )


def _peer_units(units: Iterable[Unit], text: str) -> Iterable[PeerUnit]:
    for unit in units:
        letter = LETTERS[unit.position - 1] if unit.position <= len(LETTERS) else ""
        yield PeerUnit(number=unit.position, letter=letter, text=text[unit.start : unit.end].strip())


def _paragraphs(text: str) -> Iterable[str]:
    return (paragraph.strip() for paragraph in text.splitlines() if paragraph.strip())
