"""An assessor's own work, and one comparison for the SEE form."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, cast

from annotation.assessing.queries.progress import (
    AssessingProgress,
    Gate,
    Gates,
    JudgedComparison,
    Stage,
)
from annotation.core.refusals import NotFound
from annotation.models import (
    Assignment,
    Claim,
    CoverageJudgment,
    Criterion,
    Document,
    Project,
    Reading,
    Unit,
)
from annotation.scoring.records import target_of
from annotation.scoring.unit_lists import unit_list
from evaluation.text import count_length

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.db.models import QuerySet

    from evaluation.text import LengthUnit

SUMMARY_LETTERS = "abcdefhilmoqrtvwxyz"
"""Keys that mark summary units."""

SCALES: dict[str, tuple[int, ...]] = {
    Project.PercentScale.SIX: tuple(range(0, 101, 20)),
    Project.PercentScale.FIVES: tuple(range(0, 101, 5)),
    Project.PercentScale.FREE: (),
}
"""The percents of each scale; empty if any whole percent can be typed."""


@dataclass(frozen=True, slots=True)
class SummaryWork:
    """A comparison to judge: summary `number` of its set, with reference `part` of `parts`.

    `total` is None while questions before the reference are open, because the reference is hidden then.
    """

    reading_id: str
    number: int
    part: int
    parts: int
    target_words: int | None
    judged: int
    total: int | None
    stage: Stage
    is_started: bool

    @property
    def is_complete(self) -> bool:
        """Return True if the assessor has nothing left to do in the comparison."""
        return self.stage == "done"

    @property
    def is_judged(self) -> bool:
        """Return True if the stage of the reference units is over."""
        return self.stage in ("after", "done")


@dataclass(frozen=True, slots=True)
class SetWork:
    """A document set to judge. `number` is its place among the assessor's sets."""

    assignment_id: str
    number: int
    name: str
    closed_at: datetime | None
    lease_until: datetime | None
    summary_count: int
    is_complete: bool
    summaries: tuple[SummaryWork, ...]

    @property
    def incomplete(self) -> int:
        return sum(not summary.is_complete for summary in self.summaries)

    @property
    def finished(self) -> int:
        return len(self.summaries) - self.incomplete

    @property
    def is_started(self) -> bool:
        return any(summary.is_started for summary in self.summaries)

    @property
    def next_summary(self) -> SummaryWork | None:
        """Return the first comparison that is not complete; None if all are complete."""
        return next((summary for summary in self.summaries if not summary.is_complete), None)


@dataclass(frozen=True, slots=True)
class JudgedUnit:
    """A reference unit (or a claim that replaces one) with the assessor's answer.

    `percent` is 0 to 100, or None. `version` is 0 without an answer.
    """

    unit_id: str
    number: int
    text: str
    percent: int | None
    marks: tuple[int, ...]
    note: str
    version: int


@dataclass(frozen=True, slots=True)
class SummaryUnit:
    """A unit of the summary. `letter` is the key that marks it, or "" if there are more units than keys."""

    number: int
    letter: str
    text: str

    @property
    def name(self) -> str:
        return self.letter or str(self.number)


@dataclass(frozen=True, slots=True)
class AskedCriterion:
    """A criterion with the assessor's answer `value`, and the `version` of this answer.

    `choices` has values and words; it is empty if people type a percent from 0 to 100. `reads` names the texts for the
    answer: "summary" (the summary alone), "reference" or "source" (this text beside the summary), or "unmarked" (the
    unmarked units of the summary).
    """

    criterion_id: str
    question: str
    asked: str
    reads: str
    is_percent: bool
    choices: tuple[tuple[int, str], ...]
    value: int | None
    version: int
    gate: Gate


@dataclass(frozen=True, slots=True)
class SeeForm:
    """One comparison in the form.

    - `units`: empty until the questions before the reference are answered
    - `comparisons`: all comparisons of the same summary, including this one
    - `previous_id`, `next_id`: the neighbours of this comparison in the set
    - `elsewhere`: the numbers of summary units that are marked in other comparisons of the summary, if the set is open
    - `unmarked`: the numbers of summary units that are not marked in any comparison, if the set is open
    - `summary_length`: in the project's length unit
    - `scale`: the percents to choose from; empty if any whole percent can be typed
    """

    reading_id: str
    here: SetWork
    sets: int
    number: int
    part: int
    parts: int
    comparisons: tuple[SummaryWork, ...]
    stage: Stage
    gates: Gates
    target_words: int | None
    summary_length: int
    scale: tuple[int, ...]
    criteria: tuple[AskedCriterion, ...]
    units: tuple[JudgedUnit, ...]
    summary_units: tuple[SummaryUnit, ...]
    elsewhere: tuple[int, ...]
    unmarked: tuple[int, ...]
    previous_id: str | None
    next_id: str | None
    is_closed: bool

    @property
    def judged(self) -> int:
        return sum(unit.percent is not None for unit in self.units)

    @property
    def before(self) -> list[AskedCriterion]:
        return [each for each in self.criteria if each.asked == Criterion.Asked.BEFORE]

    @property
    def after(self) -> list[AskedCriterion]:
        return [each for each in self.criteria if each.asked == Criterion.Asked.AFTER]

    @property
    def answered(self) -> int:
        return sum(each.value is not None for each in self.before)

    @property
    def letters(self) -> str:
        """Return the keys that mark summary units, in the order of the units."""
        return SUMMARY_LETTERS

    @property
    def quick(self) -> range:
        """Return the percents with a button in a form that asks for typed percents."""
        return range(0, 101, 10)

    @property
    def in_hand(self) -> JudgedUnit | None:
        """Return the unit that the form opens first: the first unit without a percent, or the first unit if every unit
        has a percent. None without units.
        """
        waiting = (unit for unit in self.units if unit.percent is None)
        return next(waiting, self.units[0] if self.units else None)


@dataclass(frozen=True, slots=True)
class SourceText:
    """The source documents of a comparison; each is a tuple of paragraphs."""

    documents: tuple[tuple[str, ...], ...]


def own_work(project: Project, person: User) -> list[SetWork]:
    """Load the person's assignments in the project, in order; unassigned ones are left out."""
    places = _own_places(project, person)
    progress = AssessingProgress.load(project, [place.key for place in places])
    return [place.work(progress) for place in places]


def own_work_in(project: Project, person: User, public_id: str) -> SetWork:
    """Load one of the person's assignments as `own_work` does. Raises NotFound if there is none."""
    for work in own_work(project, person):
        if work.assignment_id == public_id:
            return work
    raise NotFound("There is no such assignment in this project.")


def own_reading(project: Project, person: User, public_id: str) -> Reading:
    """Return the person's own reading with this public id, open or closed.

    Raises NotFound if there is none, or if its assignment is unassigned.
    """
    reading = (
        _own(project, person)
        .select_related("assignment__document_set__project", "comparison__reference", "comparison__summary")
        .only(
            "public_id",
            "state",
            "assignment__public_id",
            "assignment__assessor_id",
            "assignment__closed_at",
            "assignment__lease_until",
            "assignment__unassigned_at",
            "assignment__document_set__project",
            "comparison__reference__text",
            "comparison__summary__text",
            "comparison__summary__target_words",
        )
        .filter(public_id=public_id)
        .first()
    )
    if reading is None:
        raise NotFound("There is no such piece of work in this project.")
    return reading


def own_assignment(project: Project, person: User, public_id: str) -> Assignment:
    """Return the person's own assignment with this public id, open, closed or unassigned.

    Raises NotFound if there is none.
    """
    own = Assignment.objects.filter(assessor=person, document_set__project=project, public_id=public_id)
    assignment = own.select_related("document_set__project").first()
    if assignment is None:
        raise NotFound("There is no such assignment in this project.")
    return assignment


def assignment_to_save(slug: str, person: User, public_id: str) -> Assignment | None:
    """Load the person's own assignment with the columns that saving needs; None if there is none.

    The caller must test permissions.
    """
    own = Assignment.objects.filter(assessor=person, document_set__project__slug=slug, public_id=public_id)
    columns = ("name", "percent_scale", "lease_minutes", "archived_at")
    return (
        own.filter(document_set__project__deleted_at=None)
        .select_related("document_set__project")
        .only(
            *("public_id", "assessor_id", "lease_until", "guideline_id", "may_have_seen"),
            "document_set__project_id",
            *(f"document_set__project__{name}" for name in columns),
        )
        .first()
    )


def see_form(project: Project, person: User, reading: Reading) -> SeeForm:
    """Build the form of one of the person's comparisons."""
    places = _own_places(project, person)
    # Only count the other sets, because loading their progress would slow down every page.
    progress = AssessingProgress.load(project, [reading.assignment.pk])
    comparison, assignment = reading.comparison, reading.assignment
    here = next(place for place in places if place.key == assignment.pk).work(progress)
    own = next(work for work in here.summaries if work.reading_id == reading.public_id)
    piece = progress.of(assignment.pk).pieces[reading.public_id]
    if not here.closed_at:
        progress.load_marks([piece.summary])
    others = (other for other in piece.summary.pieces if other is not piece)
    elsewhere = {number for other in others for number in other.marked or ()}
    before, after = _neighbours(here, reading.public_id)
    return SeeForm(
        reading_id=reading.public_id,
        here=here,
        sets=len(places),
        number=own.number,
        part=own.part,
        parts=own.parts,
        comparisons=tuple(work for work in here.summaries if work.number == own.number),
        stage=own.stage,
        gates=piece.gates,
        target_words=target_of(comparison.summary, project),
        summary_length=count_length(comparison.summary.text, cast("LengthUnit", project.length_unit)),
        scale=SCALES[project.percent_scale],
        criteria=tuple(_asked(piece)),
        units=() if own.stage == "before" else tuple(_judged_units(reading)),
        summary_units=tuple(
            _summary_units(comparison.summary.units.order_by("position"), comparison.summary.text)
        ),
        elsewhere=tuple(sorted(elsewhere)),
        unmarked=piece.summary.unmarked,
        previous_id=before,
        next_id=after,
        is_closed=here.closed_at is not None,
    )


def source_text(reading: Reading) -> SourceText:
    """Load the source documents of a reading, split into paragraphs."""
    texts = Document.objects.filter(document_set__assignments=reading.assignment).order_by("position")
    return SourceText(
        documents=tuple(tuple(_paragraphs(text)) for text in texts.values_list("text", flat=True))
    )


def _own(project: Project, person: User) -> QuerySet[Reading]:
    return Reading.objects.filter(
        assignment__assessor=person,
        assignment__document_set__project=project,
        assignment__unassigned_at__isnull=True,
    )


@dataclass(frozen=True, slots=True)
class _OwnAssignment:
    number: int
    key: int
    assignment_id: str
    closed_at: datetime | None
    lease_until: datetime | None
    name: str

    def work(self, progress: AssessingProgress) -> SetWork:
        here, is_closed = progress.of(self.key), self.closed_at is not None
        if is_closed:
            here.leave_unasked()
        return SetWork(
            assignment_id=self.assignment_id,
            number=self.number,
            name=self.name,
            closed_at=self.closed_at,
            lease_until=self.lease_until,
            summary_count=len(here.summaries),
            is_complete=is_closed or here.is_complete,
            summaries=tuple(_summary_work(piece, is_closed=is_closed) for piece in here.pieces.values()),
        )


def _own_places(project: Project, person: User) -> list[_OwnAssignment]:
    assignments = (
        Assignment.objects.filter(assessor=person, document_set__project=project, unassigned_at__isnull=True)
        .order_by("pk")
        .values_list("pk", "public_id", "closed_at", "lease_until", "document_set__external_id")
    )
    return [_OwnAssignment(number, *row) for number, row in enumerate(assignments, start=1)]


def _summary_work(piece: JudgedComparison, *, is_closed: bool) -> SummaryWork:
    summary = piece.summary
    stage: Stage = "done" if is_closed else piece.gates.stage
    return SummaryWork(
        reading_id=piece.reading_id,
        number=summary.number,
        part=summary.pieces.index(piece) + 1,
        parts=len(summary.pieces),
        target_words=summary.target_words,
        judged=piece.judged,
        total=None if stage == "before" else piece.total,
        stage=stage,
        is_started=piece.judged > 0 or bool(summary.answers),
    )


def _neighbours(here: SetWork, reading_id: str) -> tuple[str | None, str | None]:
    order = [summary.reading_id for summary in here.summaries]
    place = order.index(reading_id)
    before = order[place - 1] if place else None
    return before, order[place + 1] if place + 1 < len(order) else None


def _asked(piece: JudgedComparison) -> Iterable[AskedCriterion]:
    """Only the last comparison of a summary has criteria after the reference, once the earlier ones are answered."""
    summary = piece.summary
    for row in summary.criteria:
        if row.asked == Criterion.Asked.AFTER and (not piece.is_last or summary.is_before_open):
            continue
        value, fact = summary.answers.get(row.pk), row.fact
        yield AskedCriterion(
            criterion_id=row.public_id,
            question=row.question,
            asked=row.asked,
            reads=row.reads,
            is_percent=row.scale == Criterion.Scale.PERCENT,
            choices=fact.choices,
            value=None if value is None else int(value),
            version=summary.versions.get(row.pk, 0),
            gate=summary.gate(row),
        )


def _judged_units(reading: Reading) -> Iterable[JudgedUnit]:
    reference = reading.comparison.reference
    said = {
        (judgment.unit_id, judgment.claim_id): judgment
        for judgment in CoverageJudgment.objects.filter(reading=reading, is_current=True)
    }
    units: Sequence[Unit | Claim] = unit_list(reference)
    for number, unit in enumerate(units, start=1):
        place = (unit.pk, None) if isinstance(unit, Unit) else (None, unit.pk)
        judgment = said.get(place)
        yield JudgedUnit(
            unit_id=unit.public_id,
            number=number,
            text=reference.text[unit.start : unit.end].strip() if isinstance(unit, Unit) else unit.text,
            percent=judgment.percent if judgment else None,
            marks=tuple(judgment.evidence) if judgment else (),
            note=judgment.reason if judgment else "",
            version=judgment.version if judgment else 0,
        )


def _summary_units(units: Iterable[Unit], text: str) -> Iterable[SummaryUnit]:
    for unit in units:
        letter = SUMMARY_LETTERS[unit.position - 1] if unit.position <= len(SUMMARY_LETTERS) else ""
        yield SummaryUnit(number=unit.position, letter=letter, text=text[unit.start : unit.end].strip())


def _paragraphs(text: str) -> Iterable[str]:
    return (paragraph.strip() for paragraph in text.splitlines() if paragraph.strip())
