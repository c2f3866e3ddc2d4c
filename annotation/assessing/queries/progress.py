"""The progress of assignments, and the open stages of the protocol.

A *reading* is one comparison in an assignment. A summary is judged in three stages. The criteria with `asked` "before"
come first, while the reference is hidden. The reference units of its readings follow, and then the criteria with
`asked` "after". A set can be closed when every summary is complete.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from annotation.core import by_hand
from annotation.core.criteria import asked_of_people
from annotation.models import (
    CoverageJudgment,
    Criterion,
    Project,
)
from annotation.models.judgment import ASKED_AT_PRESENT

SHORT_TARGET = 10
"""Summaries with a target length up to this get only the criteria about unmarked units."""

Gate = Literal["none", "shut", "open", "done", "rule"]
Stage = Literal["before", "units", "after", "done"]


@dataclass(frozen=True, slots=True)
class Gates:
    """The states of the three stages of a comparison.

    - `before`: none (nothing is asked), open or done
    - `units`: shut (questions of `before` are open), open or done
    - `after`: none (nothing is asked, or another comparison of the summary asks it), shut (an earlier stage of the
      summary is open), open or done
    """

    before: Gate
    units: Gate
    after: Gate

    @property
    def stage(self) -> Stage:
        """Return the stage in which the assessor works next; "done" if all stages are done."""
        if self.before == "open":
            return "before"
        if self.units == "open":
            return "units"
        return "after" if self.after == "open" else "done"


@dataclass(slots=True, eq=False)
class JudgedComparison:
    """A comparison in an assignment. `total` counts its units, `judged` the units with a percent.

    `marked` has the numbers of the marked summary units; None means that marks were not loaded.
    """

    key: int
    reading_id: str
    state: str
    comparison_id: int
    reference_id: int
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
        """Return True if the assessor has nothing left to do in the comparison."""
        return self.gates.stage == "done"


@dataclass(slots=True, eq=False)
class SummaryState:
    """A summary in an assignment, with its criteria.

    `answers` and `versions` have the assessor's ratings and their versions by the key of the criterion.
    """

    number: int
    summary_id: int
    target_words: int | None
    pieces: list[JudgedComparison] = field(default_factory=list)
    summary_units: int = 0
    criteria: tuple[Criterion, ...] = ()
    answers: dict[int, float] = field(default_factory=dict)
    versions: dict[int, int] = field(default_factory=dict)

    def unanswered(self, asked: str) -> list[Criterion]:
        """Return the criteria of a stage that have no answer, except those that a rule answers."""
        return [
            each
            for each in self.criteria
            if each.asked == asked and each.pk not in self.answers and not self.is_by_rule(each)
        ]

    def give(self, criterion: int, value: float | None, version: int) -> None:
        """Set a rating and its version; the value None removes the rating."""
        self.answers.pop(criterion, None)
        if value is not None:
            self.answers[criterion] = value
        self.versions[criterion] = version

    @property
    def is_before_open(self) -> bool:
        return bool(self.unanswered(Criterion.Asked.BEFORE))

    def is_by_rule(self, criterion: Criterion) -> bool:
        """Return True if the criterion is about unmarked units and there are none; False if marks were not loaded."""
        return criterion.reads == Criterion.Reads.UNMARKED and self.marked is not None and not self.unmarked

    def gate(self, criterion: Criterion) -> Gate:
        if criterion.asked == Criterion.Asked.AFTER and not self.is_judged:
            return "shut"
        if self.is_by_rule(criterion):
            return "rule"
        return "done" if criterion.pk in self.answers else "open"

    def gate_of(self, asked: str) -> Gate:
        """Return the state of a stage: "shut" if a criterion is shut, else "open" if one is open, else "done"; "none"
        without criteria.
        """
        gates: list[Gate] = [self.gate(each) for each in self.criteria if each.asked == asked]
        standing: tuple[Gate, ...] = ("shut", "open")
        return next((gate for gate in standing if gate in gates), "done" if gates else "none")

    @property
    def is_judged(self) -> bool:
        """Return True if the criteria before the reference are answered and every unit of all comparisons has a
        percent.
        """
        return not self.is_before_open and all(piece.is_judged for piece in self.pieces)

    @property
    def marked(self) -> frozenset[int] | None:
        """Return the numbers of summary units that are marked in any comparison; None if marks were not loaded."""
        each = [piece.marked for piece in self.pieces if piece.marked is not None]
        return frozenset[int]().union(*each) if len(each) == len(self.pieces) else None

    @property
    def unmarked(self) -> tuple[int, ...]:
        """Return the numbers of summary units that no comparison marks; all numbers if marks were not loaded."""
        marked = self.marked or frozenset()
        return tuple(number for number in range(1, self.summary_units + 1) if number not in marked)

    @property
    def is_complete(self) -> bool:
        return self.is_judged and not self.unanswered(Criterion.Asked.AFTER)


@dataclass(slots=True, eq=False)
class AssignmentProgress:
    """The summaries and comparisons of an assignment, in order."""

    pieces: dict[str, JudgedComparison] = field(default_factory=dict)
    summaries: dict[int, SummaryState] = field(default_factory=dict)

    @property
    def is_complete(self) -> bool:
        return all(summary.is_complete for summary in self.summaries.values())

    def leave_unasked(self) -> None:
        """Drop the criteria without an answer."""
        for summary in self.summaries.values():
            summary.criteria = tuple(each for each in summary.criteria if each.pk in summary.answers)


@dataclass(slots=True, eq=False)
class AssessingProgress:
    """The progress of some assignments of one project."""

    project: Project
    assignments: dict[int, AssignmentProgress]

    @classmethod
    def load(cls, project: Project, assignment_ids: Collection[int]) -> AssessingProgress:
        """Load the progress, with marks only for judged summaries that are not complete."""
        progress = cls.read(project, assignment_ids)
        progress.load_marks(
            summary for summary in progress.summaries() if summary.is_judged and not summary.is_complete
        )
        return progress

    @classmethod
    def read(
        cls, project: Project, assignment_ids: Collection[int], *, readings: Collection[str] = ()
    ) -> AssessingProgress:
        """Load the progress without marks.

        With `readings`, only the summaries of these readings are loaded. Their `number` may then differ from their
        place in the assignment.
        """
        criteria = _asked(project)
        assignments: dict[int, AssignmentProgress] = defaultdict(AssignmentProgress)
        for row in _rows(assignment_ids, readings):
            assignment = assignments[row.assignment_id]
            summary = assignment.summaries.get(row.summary_id)
            if summary is None:
                summary = _summary_state(row, len(assignment.summaries) + 1, criteria)
                assignment.summaries[row.summary_id] = summary
            has_claims = row.reference_claims is not None
            piece = JudgedComparison(
                key=row.key,
                reading_id=row.reading_id,
                state=row.state,
                comparison_id=row.comparison_id,
                reference_id=row.reference_id,
                summary=summary,
                total=row.reference_units if row.reference_claims is None else row.reference_claims,
                judged=row.judged_claims if has_claims else row.judged_units,
                has_claims_as_units=has_claims,
            )
            summary.pieces.append(piece)
            assignment.pieces[piece.reading_id] = piece
        for rating in _ratings(assignment_ids):
            summary = assignments[rating.assignment_id].summaries.get(rating.summary_id)
            if summary is not None:
                summary.give(rating.criterion_id, rating.value, rating.version)
        return cls(project=project, assignments=dict(assignments))

    def of(self, assignment_id: int) -> AssignmentProgress:
        """Return the progress of an assignment; empty if it has no comparisons."""
        return self.assignments.get(assignment_id) or AssignmentProgress()

    def summaries(self) -> Iterator[SummaryState]:
        for assignment in self.assignments.values():
            yield from assignment.summaries.values()

    def load_marks(self, summaries: Iterable[SummaryState]) -> None:
        """Load the marks of these summaries' readings."""
        pieces = by_reading(summaries)
        marked: dict[int | None, set[int]] = {key: set() for key in pieces}
        for said in standing_judgments(pieces):
            marked[said.reading_id].update(said.evidence)
        for key, numbers in marked.items():
            pieces[key].marked = frozenset(numbers)


def _asked(project: Project) -> _Asked:
    criteria = tuple(asked_of_people(project))
    return _Asked(criteria, tuple(each for each in criteria if each.reads == Criterion.Reads.UNMARKED))


def _ratings(assignment_ids: Collection[int]) -> list[_RatingRow]:
    statement = _RATINGS.format(assignments=by_hand.places(assignment_ids))
    return [_RatingRow(*row) for row in by_hand.rows(statement, [*assignment_ids])] if assignment_ids else []


def by_reading(summaries: Iterable[SummaryState]) -> dict[int | None, JudgedComparison]:
    return {piece.key: piece for summary in summaries for piece in summary.pieces}


def standing_judgments(pieces: Mapping[int | None, JudgedComparison]) -> list[CoverageJudgment]:
    """Load the current judgments of these comparisons on units that are asked now."""
    if not pieces:
        return []
    rows = CoverageJudgment.objects.filter(reading__in=pieces, is_current=True)
    if any(piece.has_claims_as_units for piece in pieces.values()):
        rows = rows.filter(ASKED_AT_PRESENT)
    return [row for row in rows if (row.claim_id is not None) == pieces[row.reading_id].has_claims_as_units]


def slips_in(project: Project, assignment_id: int) -> list[int]:
    """Return the number of the summary for each judgment that looks like a mistake, sorted.

    Such a judgment is a percent above 0 without marked summary units, or 0 % with a marked unit.
    """
    progress = AssessingProgress.read(project, [assignment_id])
    pieces = by_reading(progress.summaries())
    slips = []
    for said in standing_judgments(pieces):
        summary = pieces[said.reading_id].summary
        # Compare with the present units: a later import may have removed marked summary units.
        is_marked = any(mark <= summary.summary_units for mark in said.evidence)
        if said.percent is not None and (said.percent > 0) != is_marked:
            slips.append(summary.number)
    return sorted(slips)


# CROSS JOIN keeps SQLite from changing the order of the joins. The statement is written by hand, because every save
# runs it; tests/bench/answering.py (save) measures it.
_PROGRESS = """
WITH piece AS (
    SELECT a.assignment_id, a.id, a.public_id, a.state, a.position, a.comparison_id,
           c.summary_id, c.reference_id, p.target_words
    FROM annotation_reading a
    JOIN annotation_comparison c ON c.id = a.comparison_id
    JOIN annotation_summary p ON p.id = c.summary_id
    WHERE a.assignment_id IN ({assignments}) {of_summaries}
), texts AS (
    SELECT summary_id AS id FROM piece UNION SELECT reference_id FROM piece
), unit_counts AS (
    SELECT texts.id AS summary_id, COUNT(u.id) AS n
    FROM texts CROSS JOIN annotation_unit u
    WHERE u.summary_id = texts.id
    GROUP BY texts.id
), claim_counts AS (
    SELECT s.summary_id, COUNT(*) AS n
    FROM annotation_claimset s JOIN annotation_claim k ON k.claim_set_id = s.id
    WHERE s.is_active AND k.removed_at IS NULL AND s.summary_id IN (SELECT reference_id FROM piece)
    GROUP BY s.summary_id
    HAVING COUNT(*) > COUNT(k.unit_id)
), judged_units AS (
    SELECT piece.id AS reading_id, COUNT(*) AS n
    FROM piece CROSS JOIN annotation_coveragejudgment j
    WHERE j.reading_id = piece.id AND j.is_current AND j.unit_id IS NOT NULL AND j.percent IS NOT NULL
    GROUP BY piece.id
), judged_claims AS (
    SELECT piece.id AS reading_id, COUNT(*) AS n
    FROM piece CROSS JOIN annotation_coveragejudgment j CROSS JOIN annotation_claim k CROSS JOIN annotation_claimset s
    WHERE j.reading_id = piece.id AND j.is_current AND j.claim_id IS NOT NULL AND j.percent IS NOT NULL
      AND k.id = j.claim_id AND k.removed_at IS NULL AND s.id = k.claim_set_id AND s.is_active
    GROUP BY piece.id
)
SELECT piece.assignment_id, piece.id, piece.public_id, piece.state, piece.comparison_id, piece.summary_id,
       piece.reference_id, piece.target_words, COALESCE(summary_counts.n, 0), COALESCE(reference_counts.n, 0),
       claim_counts.n, COALESCE(judged_units.n, 0), COALESCE(judged_claims.n, 0)
FROM piece
LEFT JOIN unit_counts summary_counts ON summary_counts.summary_id = piece.summary_id
LEFT JOIN unit_counts reference_counts ON reference_counts.summary_id = piece.reference_id
LEFT JOIN claim_counts ON claim_counts.summary_id = piece.reference_id
LEFT JOIN judged_units ON judged_units.reading_id = piece.id
LEFT JOIN judged_claims ON judged_claims.reading_id = piece.id
ORDER BY piece.assignment_id, piece.position, piece.id
"""


_OF_SUMMARIES = """AND c.summary_id IN (
        SELECT named.summary_id FROM annotation_reading r JOIN annotation_comparison named ON named.id = r.comparison_id
        WHERE r.public_id IN ({readings})
    )"""


_RATINGS = """
SELECT r.assignment_id, r.summary_id, r.criterion_id, r.value, r.version
FROM annotation_rating r
JOIN annotation_criterion c ON c.id = r.criterion_id AND c.retired_at IS NULL
WHERE r.assignment_id IN ({assignments})
ORDER BY r.version
"""


class _RatingRow(NamedTuple):
    assignment_id: int
    summary_id: int
    criterion_id: int
    value: float | None
    version: int


class _Asked(NamedTuple):
    all: tuple[Criterion, ...]
    of_short: tuple[Criterion, ...]


class _ProgressRow(NamedTuple):
    assignment_id: int
    key: int
    reading_id: str
    state: str
    comparison_id: int
    summary_id: int
    reference_id: int
    target_words: int | None
    summary_units: int
    reference_units: int
    reference_claims: int | None
    judged_units: int
    judged_claims: int


def _rows(assignment_ids: Collection[int], readings: Collection[str]) -> list[_ProgressRow]:
    if not assignment_ids:
        return []
    of_summaries = _OF_SUMMARIES.format(readings=by_hand.places(readings)) if readings else ""
    statement = _PROGRESS.format(assignments=by_hand.places(assignment_ids), of_summaries=of_summaries)
    return [_ProgressRow(*row) for row in by_hand.rows(statement, [*assignment_ids, *readings])]


def _summary_state(row: _ProgressRow, number: int, criteria: _Asked) -> SummaryState:
    # A summary without units or with a short target gets only the criteria about unmarked units.
    is_asked = row.summary_units and (row.target_words is None or row.target_words > SHORT_TARGET)
    return SummaryState(
        number=number,
        summary_id=row.summary_id,
        target_words=row.target_words,
        summary_units=row.summary_units,
        criteria=criteria.all if is_asked else criteria.of_short,
    )
