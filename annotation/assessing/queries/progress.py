"""Progress of assessors in their assignments, and the stages of the protocol that are open to them.

A *reading* is one comparison in an assignment. The order of work on one summary: the criteria that are asked
before, while nothing of the reference is shown; the reference units of its readings; at the last of them the criteria
that are asked after. The set can be closed when every summary is complete.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from django.db.models import F, FilteredRelation, Q

from annotation.assessing import sql
from annotation.core import by_hand
from annotation.core.criteria import asked_of_people
from annotation.models import (
    CoverageJudgment,
    Criterion,
    Project,
)
from annotation.models.judgment import ASKED_AT_PRESENT

SHORT_TARGET = 10
"""Summaries of a target up to this are too short to ask about as wholes."""

Gate = Literal["none", "shut", "open", "done", "rule"]
Stage = Literal["before", "units", "after", "done"]


@dataclass(frozen=True, slots=True)
class Gates:
    """Where a comparison stands in the protocol.

    `before`: none (nothing is asked), open, done. `units`: shut (answer what is asked before first), open, done.
    `after`: none (nothing is asked, or it is at another comparison of the same peer), shut (judge the units first),
    open, done.
    """

    before: Gate
    units: Gate
    after: Gate

    @property
    def stage(self) -> Stage:
        """What is to be done now."""
        if self.before == "open":
            return "before"
        if self.units == "open":
            return "units"
        return "after" if self.after == "open" else "done"


@dataclass(slots=True, eq=False)
class JudgedComparison:
    """One comparison in an assignment. `judged` counts the units of its list that have a percent.

    `marked` are the summary units that are marked in it, None where nobody needed to know.
    """

    key: int
    reading_id: str
    state: str
    comparison_id: int
    model_id: int
    summary: SummaryState
    total: int = 0
    judged: int = 0
    has_claims_as_units: bool = False
    marked: frozenset[int] | None = None

    @property
    def is_judged(self) -> bool:
        return self.judged >= self.total

    @property
    def is_first(self) -> bool:
        return self.summary.pieces[0] is self

    @property
    def is_last(self) -> bool:
        return self.summary.pieces[-1] is self

    @property
    def gates(self) -> Gates:
        summary = self.summary
        units: Gate = "shut" if summary.is_before_open else "done" if self.is_judged else "open"
        return Gates(
            before=summary.gate_of(Criterion.Asked.BEFORE),
            units=units,
            after=summary.gate_of(Criterion.Asked.AFTER) if self.is_last else "none",
        )

    @property
    def is_complete(self) -> bool:
        """Whether nothing is to be done here at present."""
        return self.gates.stage == "done"


@dataclass(slots=True, eq=False)
class SummaryState:
    """One summary in an assignment: the criteria that are asked of it, with values and versions by their keys."""

    number: int
    peer_id: int
    target_words: int | None
    pieces: list[JudgedComparison] = field(default_factory=list)
    peer_units: int = 0
    criteria: tuple[Criterion, ...] = ()
    answers: dict[int, float] = field(default_factory=dict)
    versions: dict[int, int] = field(default_factory=dict)

    def unanswered(self, asked: str) -> list[Criterion]:
        """Those asked at that stage without an answer, be it by rule."""
        return [
            each
            for each in self.criteria
            if each.asked == asked and each.pk not in self.answers and not self.is_by_rule(each)
        ]

    def give(self, criterion: int, value: float | None, version: int) -> None:
        """Take a rating in; one without a value takes back what was said before."""
        self.answers.pop(criterion, None)
        if value is not None:
            self.answers[criterion] = value
        self.versions[criterion] = version

    @property
    def is_before_open(self) -> bool:
        return bool(self.unanswered(Criterion.Asked.BEFORE))

    def is_by_rule(self, criterion: Criterion) -> bool:
        """Whether no summary unit is unmarked, so that the answer is the lowest without being asked."""
        return criterion.reads == Criterion.Reads.UNMARKED and self.marked is not None and not self.unmarked

    def gate(self, criterion: Criterion) -> Gate:
        if criterion.asked == Criterion.Asked.AFTER and not self.is_judged:
            return "shut"
        if self.is_by_rule(criterion):
            return "rule"
        return "done" if criterion.pk in self.answers else "open"

    def gate_of(self, asked: str) -> Gate:
        """Where all that are asked at that stage stand."""
        gates: list[Gate] = [self.gate(each) for each in self.criteria if each.asked == asked]
        standing: tuple[Gate, ...] = ("shut", "open")
        return next((gate for gate in standing if gate in gates), "done" if gates else "none")

    @property
    def is_judged(self) -> bool:
        """Whether every unit of all its comparisons has a percent."""
        return not self.is_before_open and all(piece.is_judged for piece in self.pieces)

    @property
    def marked(self) -> frozenset[int] | None:
        """Numbers of the summary units that are marked in any of its comparisons; None where nobody needed to know."""
        each = [piece.marked for piece in self.pieces if piece.marked is not None]
        return frozenset[int]().union(*each) if len(each) == len(self.pieces) else None

    @property
    def unmarked(self) -> tuple[int, ...]:
        """Numbers of the summary units that are marked nowhere."""
        marked = self.marked or frozenset()
        return tuple(number for number in range(1, self.peer_units + 1) if number not in marked)

    @property
    def is_complete(self) -> bool:
        return self.is_judged and not self.unanswered(Criterion.Asked.AFTER)


@dataclass(slots=True, eq=False)
class AssignmentProgress:
    """An assignment's comparisons in their order, and its readings."""

    pieces: dict[str, JudgedComparison] = field(default_factory=dict)
    summaries: dict[int, SummaryState] = field(default_factory=dict)

    @property
    def is_complete(self) -> bool:
        return all(summary.is_complete for summary in self.summaries.values())

    def leave_unasked(self) -> None:
        """Ask nothing any more: a set that was closed before the project had a criterion lacks no answer."""
        for summary in self.summaries.values():
            summary.criteria = tuple(each for each in summary.criteria if each.pk in summary.answers)


@dataclass(slots=True, eq=False)
class AssessingProgress:
    """Some assignments of one project. The number of queries never grows with what is in them."""

    project: Project
    assignments: dict[int, AssignmentProgress]

    @classmethod
    def load(cls, project: Project, assignment_ids: Collection[int]) -> AssessingProgress:
        """All that is known: two queries, three where a question of unmarked summary units may be open."""
        progress = cls.read(project, assignment_ids)
        progress.load_marks(
            summary for summary in progress.summaries() if summary.is_judged and not summary.is_complete
        )
        return progress

    @classmethod
    def read(cls, project: Project, assignment_ids: Collection[int]) -> AssessingProgress:
        """All but which summary units are marked, in two queries."""
        criteria, ratings = _asked_and_rated(project, assignment_ids)
        assignments: dict[int, AssignmentProgress] = defaultdict(AssignmentProgress)
        for row in _rows(assignment_ids):
            assignment = assignments[row.assignment_id]
            summary = assignment.summaries.get(row.peer_id)
            if summary is None:
                summary = _summary_state(row, len(assignment.summaries) + 1, criteria)
                assignment.summaries[row.peer_id] = summary
            has_claims = row.model_claims is not None
            piece = JudgedComparison(
                key=row.key,
                reading_id=row.reading_id,
                state=row.state,
                comparison_id=row.comparison_id,
                model_id=row.model_id,
                summary=summary,
                total=row.model_units if row.model_claims is None else row.model_claims,
                judged=row.judged_claims if has_claims else row.judged_units,
                has_claims_as_units=has_claims,
            )
            summary.pieces.append(piece)
            assignment.pieces[piece.reading_id] = piece
        for row in ratings:
            summary = assignments[row.rated_in].summaries.get(row.summary_id)
            if summary is not None:
                summary.give(row.pk, row.value, row.rating_version)
        return cls(project=project, assignments=dict(assignments))

    def of(self, assignment_id: int) -> AssignmentProgress:
        """The progress of one assignment; an empty one where nothing is in it."""
        return self.assignments.get(assignment_id) or AssignmentProgress()

    def summaries(self) -> Iterator[SummaryState]:
        for assignment in self.assignments.values():
            yield from assignment.summaries.values()

    def load_marks(self, summaries: Iterable[SummaryState]) -> None:
        """Which summary units are marked anywhere in these readings; no query for none."""
        pieces = by_reading(summaries)
        marked: dict[int | None, set[int]] = {key: set() for key in pieces}
        for said in standing_judgments(pieces):
            marked[said.reading_id].update(said.evidence)
        for key, numbers in marked.items():
            pieces[key].marked = frozenset(numbers)


def _asked_and_rated(project: Project, assignment_ids: Collection[int]) -> tuple[_Asked, list[Any]]:
    """The criteria in order, and the ratings of the assignments by version. One query: every save asks it."""
    rows = asked_of_people(project).annotate(
        given=FilteredRelation("ratings", condition=Q(ratings__assignment__in=assignment_ids)),
        rated_in=F("given__assignment_id"),
        summary_id=F("given__summary_id"),
        value=F("given__value"),
        rating_version=F("given__version"),
    )
    found = list(rows.order_by("position", "pk", "rating_version"))
    criteria = tuple(dict.fromkeys(found))
    of_short = tuple(each for each in criteria if each.reads == Criterion.Reads.UNMARKED)
    return _Asked(criteria, of_short), [row for row in found if row.rated_in is not None]


def by_reading(summaries: Iterable[SummaryState]) -> dict[int | None, JudgedComparison]:
    return {piece.key: piece for summary in summaries for piece in summary.pieces}


def standing_judgments(pieces: Mapping[int | None, JudgedComparison]) -> list[CoverageJudgment]:
    """The current judgments in these comparisons of all that is in their lists of units today; no query for none."""
    if not pieces:
        return []
    rows = CoverageJudgment.objects.filter(reading__in=pieces, is_current=True)
    if any(piece.has_claims_as_units for piece in pieces.values()):
        rows = rows.filter(ASKED_AT_PRESENT)
    return [row for row in rows if (row.claim_id is not None) == pieces[row.reading_id].has_claims_as_units]


def slips_in(project: Project, assignment_id: int) -> list[int]:
    """Of each judgment of an assignment that looks like a slip, the number of its summary.

    It gives a percent although no summary unit is marked, or 0 % although one is.
    """
    progress = AssessingProgress.read(project, [assignment_id])
    pieces = by_reading(progress.summaries())
    slips = []
    for said in standing_judgments(pieces):
        summary = pieces[said.reading_id].summary
        # Marks may be left on summary units that a later import took away.
        is_marked = any(mark <= summary.peer_units for mark in said.evidence)
        if said.percent is not None and (said.percent > 0) != is_marked:
            slips.append(summary.number)
    return sorted(slips)


class _Asked(NamedTuple):
    """The criteria that are asked of summaries, and of those that are too short to ask about as wholes."""

    all: tuple[Criterion, ...]
    of_short: tuple[Criterion, ...]


class _ProgressRow(NamedTuple):
    assignment_id: int
    key: int
    reading_id: str
    state: str
    comparison_id: int
    peer_id: int
    model_id: int
    target_words: int | None
    peer_units: int
    model_units: int
    model_claims: int | None
    judged_units: int
    judged_claims: int


def _rows(assignment_ids: Collection[int]) -> list[_ProgressRow]:
    if not assignment_ids:
        return []
    statement = sql.PROGRESS.format(assignments=by_hand.places(assignment_ids))
    return [_ProgressRow(*row) for row in by_hand.rows(statement, list(assignment_ids))]


def _summary_state(row: _ProgressRow, number: int, criteria: _Asked) -> SummaryState:
    # A text without a unit is empty, and a headline is too short to ask about.
    is_asked = row.peer_units and (row.target_words is None or row.target_words > SHORT_TARGET)
    return SummaryState(
        number=number,
        peer_id=row.peer_id,
        target_words=row.target_words,
        peer_units=row.peer_units,
        criteria=criteria.all if is_asked else criteria.of_short,
    )
