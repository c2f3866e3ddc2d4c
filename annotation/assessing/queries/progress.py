"""How far assessors are in their sittings, and what of the protocol is open to them.

A *reading* is one peer summary in a sitting with all its comparisons. The order in a reading: the quality questions,
while nothing of the model summary is shown; the model units; once for the peer, at its last comparison, the
question of the unmarked peer units. The set can be closed when every reading is complete.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from annotation.assessing import sql
from annotation.core import by_hand
from annotation.models import Project
from evaluation.metrics import QualityQuestion, quality_questions

SHORT_TARGET = 10
"""Peer summaries of a target up to this are too short to ask about their quality."""

UNMARKED_PERCENTS = tuple(range(0, 101, 20))
"""The answers to the question of the unmarked peer units, whatever the project's scale."""

Gate = Literal["none", "shut", "open", "done", "rule"]
Stage = Literal["quality", "units", "unmarked", "done"]


@dataclass(frozen=True, slots=True)
class Gates:
    """Where a comparison stands in the protocol.

    `quality`: none (not asked), open, done. `units`: shut (answer the quality questions first), open, done.
    `unmarked`: none (asked at another comparison of the same peer), shut (judge the units first), open, done,
    rule (no peer unit is unmarked, so it is 0 without being asked).
    """

    quality: Gate
    units: Gate
    unmarked: Gate

    @property
    def stage(self) -> Stage:
        """What is to be done now."""
        if self.quality == "open":
            return "quality"
        if self.units == "open":
            return "units"
        return "unmarked" if self.unmarked == "open" else "done"


@dataclass(slots=True, eq=False)
class JudgedComparison:
    """One comparison in a sitting. `judged` counts the units of its list that have a percent.

    `marked` are the peer units that are marked in it, None where nobody needed to know.
    """

    key: int
    assignment_id: str
    state: str
    model_id: int
    reading: PeerReading
    total: int = 0
    judged: int = 0
    has_claims_as_units: bool = False
    marked: frozenset[int] | None = None

    @property
    def is_judged(self) -> bool:
        return self.judged >= self.total

    @property
    def is_first(self) -> bool:
        return self.reading.pieces[0] is self

    @property
    def is_last(self) -> bool:
        return self.reading.pieces[-1] is self

    @property
    def gates(self) -> Gates:
        reading = self.reading
        quality: Gate = "none"
        if reading.questions:
            quality = "open" if reading.is_quality_open else "done"
        units: Gate = "done" if self.is_judged else "open"
        if reading.is_quality_open:
            units = "shut"
        return Gates(quality=quality, units=units, unmarked=reading.unmarked_gate if self.is_last else "none")

    @property
    def is_complete(self) -> bool:
        """Whether nothing is to be done here at present."""
        return self.gates.stage == "done"


@dataclass(slots=True, eq=False)
class PeerReading:
    """One peer summary in a sitting. `questions` are those that are asked of it."""

    number: int
    peer_id: int
    target_words: int | None
    pieces: list[JudgedComparison] = field(default_factory=list)
    peer_units: int = 0
    questions: tuple[QualityQuestion, ...] = ()
    answers: dict[str, int] = field(default_factory=dict)
    unmarked_percent: int | None = None

    @property
    def unanswered(self) -> tuple[QualityQuestion, ...]:
        return tuple(question for question in self.questions if question.id not in self.answers)

    @property
    def is_quality_open(self) -> bool:
        return bool(self.unanswered)

    @property
    def is_judged(self) -> bool:
        """Whether every unit of all its comparisons has a percent."""
        return not self.is_quality_open and all(piece.is_judged for piece in self.pieces)

    @property
    def marked(self) -> frozenset[int] | None:
        """Numbers of the peer units that are marked in any of its comparisons; None where nobody needed to know."""
        each = [piece.marked for piece in self.pieces if piece.marked is not None]
        return frozenset[int]().union(*each) if len(each) == len(self.pieces) else None

    @property
    def unmarked(self) -> tuple[int, ...]:
        """Numbers of the peer units that are marked nowhere."""
        marked = self.marked or frozenset()
        return tuple(number for number in range(1, self.peer_units + 1) if number not in marked)

    @property
    def unmarked_gate(self) -> Gate:
        if not self.is_judged:
            return "shut"
        if self.marked is not None and not self.unmarked:
            return "rule"
        return "open" if self.unmarked_percent is None else "done"

    @property
    def is_complete(self) -> bool:
        return self.is_judged and self.unmarked_gate in ("done", "rule")


@dataclass(slots=True, eq=False)
class SittingProgress:
    """A sitting's comparisons in their order, and its readings."""

    pieces: dict[str, JudgedComparison] = field(default_factory=dict)
    readings: dict[int, PeerReading] = field(default_factory=dict)

    @property
    def judged(self) -> int:
        return sum(piece.judged for piece in self.pieces.values() if not piece.reading.is_quality_open)

    @property
    def total(self) -> int:
        """Units to judge; of a model summary that may not be seen yet not even the number is told."""
        return sum(piece.total for piece in self.pieces.values() if not piece.reading.is_quality_open)

    @property
    def is_complete(self) -> bool:
        return all(reading.is_complete for reading in self.readings.values())

    def leave_unasked(self) -> None:
        """Ask nothing any more: a set that was closed before the project had questions lacks no answers."""
        for reading in self.readings.values():
            if reading.is_quality_open:
                reading.questions = ()


@dataclass(slots=True, eq=False)
class AssessingProgress:
    """Some sittings of one project. The number of queries never grows with what is in them."""

    project: Project
    sittings: dict[int, SittingProgress]

    @classmethod
    def load(cls, project: Project, sitting_ids: Collection[int]) -> AssessingProgress:
        """All that is known: one query, two where a question of unmarked peer units may be open."""
        progress = cls.read(project, sitting_ids)
        progress.load_marks(
            reading
            for reading in progress.readings()
            if reading.is_judged and reading.unmarked_percent is None
        )
        return progress

    @classmethod
    def read(cls, project: Project, sitting_ids: Collection[int]) -> AssessingProgress:
        """All but which peer units are marked, in one query."""
        questions = quality_questions(project.question_set, project.own_questions)
        sittings: dict[int, SittingProgress] = defaultdict(SittingProgress)
        for row in _rows(sitting_ids):
            sitting = sittings[row.sitting_id]
            reading = sitting.readings.get(row.peer_id)
            if reading is None:
                reading = _reading(row, len(sitting.readings) + 1, questions)
                sitting.readings[row.peer_id] = reading
            has_claims = row.model_claims is not None
            piece = JudgedComparison(
                key=row.key,
                assignment_id=row.assignment_id,
                state=row.state,
                model_id=row.model_id,
                reading=reading,
                total=row.model_units if row.model_claims is None else row.model_claims,
                judged=row.judged_claims if has_claims else row.judged_units,
                has_claims_as_units=has_claims,
            )
            reading.pieces.append(piece)
            sitting.pieces[piece.assignment_id] = piece
        return cls(project=project, sittings=dict(sittings))

    def of(self, sitting_id: int) -> SittingProgress:
        """The progress of one sitting; an empty one where nothing is in it."""
        return self.sittings.get(sitting_id) or SittingProgress()

    def readings(self) -> Iterator[PeerReading]:
        for sitting in self.sittings.values():
            yield from sitting.readings.values()

    def load_marks(self, readings: Iterable[PeerReading]) -> None:
        """Which peer units are marked anywhere in these readings; no query for none."""
        pieces = {piece.key: piece for reading in readings for piece in reading.pieces}
        marked: dict[int, set[int]] = {key: set() for key in pieces}
        for said in standing_judgments(pieces) if pieces else ():
            marked[said.piece].update(said.marks)
        for key, numbers in marked.items():
            pieces[key].marked = frozenset(numbers)


class StandingJudgment(NamedTuple):
    """What was said last of one unit, or of the claim in its stead, in one comparison (`piece`, by key)."""

    key: int
    piece: int
    unit_id: int | None
    claim_id: int | None
    percent: int | None
    marks: list[int]


def standing_judgments(pieces: Mapping[int, JudgedComparison]) -> Iterator[StandingJudgment]:
    """The current judgments in these comparisons of all that is in their lists of units today."""
    statement = sql.STANDING_JUDGMENTS.format(pieces=by_hand.places(pieces))
    for key, piece, unit_id, claim_id, percent, marks in by_hand.rows(statement, list(pieces)):
        said = StandingJudgment(key, piece, unit_id, claim_id, percent, _read_json(marks))
        if (said.claim_id is not None) == pieces[said.piece].has_claims_as_units:
            yield said


def slips_in(project: Project, sitting_id: int) -> list[int]:
    """Of each judgment of a sitting that looks like a slip, the number of its peer summary.

    It gives a percent although no peer unit is marked, or 0 % although one is.
    """
    progress = AssessingProgress.read(project, [sitting_id])
    pieces = {piece.key: piece for reading in progress.readings() for piece in reading.pieces}
    slips = []
    for said in standing_judgments(pieces) if pieces else ():
        reading = pieces[said.piece].reading
        # Marks may be left on peer units that a later import took away.
        is_marked = any(mark <= reading.peer_units for mark in said.marks)
        if said.percent is not None and (said.percent > 0) != is_marked:
            slips.append(reading.number)
    return sorted(slips)


class ListedUnit(NamedTuple):
    """A unit that stands in the list of its summary today."""

    key: int
    model_id: int | None
    number: int


def listed_units(public_ids: Collection[str]) -> dict[str, ListedUnit]:
    """The units of these public ids that were not joined or split; no query for none."""
    if not public_ids:
        return {}
    statement = sql.LISTED_UNITS.format(names=by_hand.places(public_ids))
    return {name: ListedUnit(*row) for name, *row in by_hand.rows(statement, list(public_ids))}


class _ProgressRow(NamedTuple):
    sitting_id: int
    key: int
    assignment_id: str
    state: str
    peer_id: int
    model_id: int
    target_words: int | None
    peer_units: int
    model_units: int
    model_claims: int | None
    judged_units: int
    judged_claims: int
    quality_answers: str | dict[str, int] | None
    unmarked_percent: int | None


def _rows(sitting_ids: Collection[int]) -> list[_ProgressRow]:
    if not sitting_ids:
        return []
    statement = sql.PROGRESS.format(sittings=by_hand.places(sitting_ids))
    return [_ProgressRow(*row) for row in by_hand.rows(statement, list(sitting_ids))]


def _reading(row: _ProgressRow, number: int, questions: tuple[QualityQuestion, ...]) -> PeerReading:
    answers = row.quality_answers or {}
    is_short = row.target_words is not None and row.target_words <= SHORT_TARGET
    return PeerReading(
        number=number,
        peer_id=row.peer_id,
        target_words=row.target_words,
        peer_units=row.peer_units,
        # A text without a unit is empty, and a headline is too short to ask about.
        questions=questions if row.peer_units and not is_short else (),
        answers=dict(_read_json(answers)),
        unmarked_percent=row.unmarked_percent,
    )


def _read_json(value: Any) -> Any:
    """A JSON column as the database's own driver gives it: text, or read already."""
    return json.loads(value) if isinstance(value, str) else value
