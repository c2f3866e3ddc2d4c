"""Acts of the SEE form on their way into rows: what each must be, and how far the assignment is after it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import chain
from typing import NamedTuple, TypeVar

from annotation.assessing.queries.progress import (
    UNMARKED_PERCENTS,
    AssessingProgress,
    AssignmentProgress,
    Gates,
    JudgedComparison,
    ListedUnit,
    StandingJudgment,
    SummaryState,
    listed_units,
    standing_judgments,
)
from annotation.assessing.services.act_rows import insert, outdate
from annotation.assessing.services.acts import Act, ActResult, QualityAct, UnitAct, UnmarkedAct
from annotation.core.refusals import Conflict, Invalid, NotFound, Refusal
from annotation.models import Assignment, Claim, Project, Reading, SummaryJudgment, UnitJudgment
from evaluation.metrics import Marks

LONGEST_UNIT_NOTE = 4000
NO_TEXT = re.compile("[\0\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Saved:
    """What became of some acts, and where the comparisons that they touched stand now.

    `heard` is the number of the last act heard of the form: all up to it may be forgotten there. `slips` has
    an entry for each unit act that was saved, empty where nothing looks like a slip.
    """

    heard: int
    results: tuple[ActResult, ...]
    slips: Mapping[str, str]
    gates: Mapping[str, Gates]
    judged: int
    total: int
    is_complete: bool

    def as_json(self) -> dict[str, object]:
        return {
            "saved": self.heard,
            "results": [asdict(result) for result in self.results],
            "slips": dict(self.slips),
            "gates": {key: asdict(gates) for key, gates in self.gates.items()},
            "set": {"judged": self.judged, "total": self.total, "is_complete": self.is_complete},
        }


class _JudgedPlace(NamedTuple):
    """A unit, or the claim that stands in for one."""

    unit_id: int | None
    claim_id: int | None
    model_id: int | None
    number: int


_JudgmentKey = tuple[int, int | None, int | None]
"""Comparison, unit, claim."""


@dataclass(slots=True)
class Saving:
    """The acts of one request on their way into rows, and the assignment as they leave it.

    What was said before them is read once and kept up to date here, so that nothing has to be read again.
    """

    assignment: Assignment
    progress: AssessingProgress
    client_id: str
    touched: tuple[SummaryState, ...]
    before: dict[_JudgmentKey, StandingJudgment]
    units: Mapping[str, ListedUnit] | None
    is_strict: bool
    heard: int
    slips: dict[str, str] = field(default_factory=dict)
    judgments: dict[_JudgmentKey, list[UnitJudgment]] = field(default_factory=dict)
    answers: dict[SummaryState, list[SummaryJudgment]] = field(default_factory=dict)
    begun: set[int] = field(default_factory=set)

    @classmethod
    def of(
        cls, assignment: Assignment, acts: Sequence[Act], client_id: str, *, is_strict: bool = False
    ) -> Saving:
        """How far the assignment is, what stands of the summaries that the acts touch, and which units they are of.

        Joining or splitting units takes the pen from a form that has it, and leaves an assignment alone that is
        in no form yet. So the units are read here for a form with the pen, and else when the assignment's row is held.
        """
        progress = AssessingProgress.read(assignment.document_set.project, [assignment.pk])
        found = (progress.of(assignment.pk).pieces.get(act.reading_id) for act in acts)
        touched = tuple(dict.fromkeys(piece.summary for piece in found if piece is not None))
        pieces = {piece.key: piece for summary in touched for piece in summary.pieces}
        standing = standing_judgments(pieces) if pieces else ()
        return cls(
            assignment=assignment,
            progress=progress,
            client_id=client_id,
            touched=touched,
            before={(said.piece, said.unit_id, said.claim_id): said for said in standing},
            units=_listed(acts) if assignment.pen == client_id else None,
            is_strict=is_strict,
            heard=acts[-1].seq,
        )

    @property
    def here(self) -> AssignmentProgress:
        return self.progress.of(self.assignment.pk)

    def write(self, acts: Sequence[Act]) -> list[ActResult]:
        """Turn the acts into rows. The caller holds the assignment's row."""
        places = self._places([act for act in acts if isinstance(act, UnitAct)])
        results = [self._result(act, places) for act in acts]
        self._store_judgments()
        self._store_answers()
        if self.begun:
            Reading.objects.filter(pk__in=self.begun, state=Reading.State.OPEN).update(
                state=Reading.State.DRAFT
            )
        return results

    def saved(self, results: Sequence[ActResult]) -> Saved:
        """What the form is told."""
        self._count_marks()
        here = self.here
        is_complete = all(
            summary.is_complete if summary in self.touched else summary.is_judged
            for summary in here.summaries.values()
        )
        if is_complete:
            others = (summary for summary in here.summaries.values() if summary not in self.touched)
            self.progress.load_marks(summary for summary in others if summary.unmarked_percent is None)
        return Saved(
            heard=self.heard,
            results=tuple(results),
            slips=self.slips,
            gates={piece.reading_id: piece.gates for summary in self.touched for piece in summary.pieces},
            judged=here.judged,
            total=here.total,
            is_complete=is_complete and here.is_complete,
        )

    def _result(self, act: Act, places: Mapping[str, _JudgedPlace]) -> ActResult:
        try:
            piece = self.here.pieces.get(act.reading_id)
            if piece is None:
                raise NotFound("This summary is not, or no longer, in the set.")
            if isinstance(act, UnitAct):
                self._judge(act, piece, places)
            else:
                self._answer(act, piece.summary)
        except Refusal as refusal:
            if self.is_strict:
                raise
            return ActResult(act.seq, "refused", refusal.code, refusal.message)
        if piece.state == Reading.State.OPEN:
            self.begun.add(piece.key)
        return ActResult(act.seq, "saved")

    # Model units

    def _places(self, acts: Sequence[UnitAct]) -> dict[str, _JudgedPlace]:
        """The units by public id, and the claims in their stead."""
        pieces = [piece for act in acts if (piece := self.here.pieces.get(act.reading_id))]
        places: dict[str, _JudgedPlace] = {}
        if any(not piece.has_claims_as_units for piece in pieces):
            units = _listed(acts) if self.units is None else self.units
            places |= {
                name: _JudgedPlace(unit.key, None, unit.model_id, unit.number) for name, unit in units.items()
            }
        if any(piece.has_claims_as_units for piece in pieces):
            wanted = {act.unit_id for act in acts}
            claims = Claim.objects.filter(public_id__in=wanted, claim_set__is_active=True)
            for key, public_id, model_id, number in claims.values_list(
                "pk", "public_id", "claim_set__summary_id", "position"
            ):
                places[public_id] = _JudgedPlace(None, key, model_id, number)
        return places

    def _judge(self, act: UnitAct, piece: JudgedComparison, places: Mapping[str, _JudgedPlace]) -> None:
        if piece.summary.is_quality_open:
            raise Conflict(
                "Answer this summary's quality questions first to see the model summary.",
                code="quality_first",
            )
        place = places.get(act.unit_id)
        is_claim = place is not None and place.claim_id is not None
        if place is None or place.model_id != piece.model_id or is_claim != piece.has_claims_as_units:
            raise NotFound("This model unit is not, or no longer, in this comparison. Reload the page.")
        _check_percent(act.percent, self.progress.project)
        marks = _clean_marks(act.marks, piece.summary)
        row = UnitJudgment(
            reading_id=piece.key,
            unit_id=place.unit_id,
            claim_id=place.claim_id,
            percent=act.percent,
            marks=marks,
            note=_clean_note(act.note),
            client_id=self.client_id,
            seq=act.seq,
            active_ms=act.active_ms,
            guideline_id=self.assignment.guideline_id,
        )
        self.slips[act.unit_id] = _slip(place.number, act.percent, marks, piece.summary.peer_units)
        key = (piece.key, place.unit_id, place.claim_id)
        piece.judged += (act.percent is not None) - (self._percent(key) is not None)
        self.judgments.setdefault(key, []).append(row)

    def _percent(self, key: _JudgmentKey) -> int | None:
        """The percent that stands at this point of the acts."""
        if key in self.judgments:
            return self.judgments[key][-1].percent
        return self.before[key].percent if key in self.before else None

    def _count_marks(self) -> None:
        """Bring the marks of the readings that are touched up to this point of the acts."""
        stands = {key: said.marks for key, said in self.before.items()}
        stands |= {key: rows[-1].marks for key, rows in self.judgments.items()}
        marked: dict[int, set[int]] = defaultdict(set)
        for (piece, *_), marks in stands.items():
            marked[piece].update(marks)
        for summary in self.touched:
            for each in summary.pieces:
                each.marked = frozenset(marked[each.key])

    def _store_judgments(self) -> None:
        """The last row on each unit is the current one; what was current before is kept."""
        if not self.judgments:
            return
        outdate([self.before[key].key for key in self.judgments if key in self.before])
        rows = list(chain.from_iterable(_last_is_current(rows) for rows in self.judgments.values()))
        insert(sorted(rows, key=lambda row: row.seq))

    # Quality questions and unmarked peer units

    def _answer(self, act: QualityAct | UnmarkedAct, summary: SummaryState) -> None:
        if isinstance(act, UnmarkedAct):
            self._count_marks()
            _check_unmarked(act, summary)
            summary.unmarked_percent = act.percent
        elif (answer := _checked_answer(act, summary)) is None:
            summary.answers.pop(act.question, None)
        else:
            summary.answers[act.question] = answer
        row = SummaryJudgment(
            assignment=self.assignment,
            peer_id=summary.peer_id,
            quality_answers=dict(summary.answers),
            unmarked_percent=summary.unmarked_percent,
            client_id=self.client_id,
            seq=act.seq,
            active_ms=act.active_ms,
            guideline_id=self.assignment.guideline_id,
        )
        self.answers.setdefault(summary, []).append(row)

    def _store_answers(self) -> None:
        if not self.answers:
            return
        peers = [summary.peer_id for summary in self.answers]
        before = SummaryJudgment.objects.filter(peer__in=peers, assignment=self.assignment, is_current=True)
        before.update(is_current=False)
        rows = list(chain.from_iterable(_last_is_current(rows) for rows in self.answers.values()))
        insert(sorted(rows, key=lambda row: row.seq))


SpokenRow = TypeVar("SpokenRow", UnitJudgment, SummaryJudgment)


def _listed(acts: Iterable[Act]) -> dict[str, ListedUnit]:
    return listed_units({act.unit_id for act in acts if isinstance(act, UnitAct)})


def _last_is_current(rows: Sequence[SpokenRow]) -> Sequence[SpokenRow]:
    for row in rows[:-1]:
        row.is_current = False
    return rows


def _check_percent(percent: int | None, project: Project) -> None:
    step = project.percent_step
    if percent is not None and (not 0 <= percent <= 100 or percent % step):
        raise Invalid(f"A percent must be between 0 and 100 in steps of {step}.", field="percent")


def _clean_marks(given: Iterable[int], summary: SummaryState) -> list[int]:
    marks = sorted(set(given))
    unknown = [mark for mark in marks if not 1 <= mark <= summary.peer_units]
    if unknown:
        raise Invalid(f"The peer summary has no unit {unknown[0]}.", field="marks")
    return marks


def _clean_note(note: str) -> str:
    note = note.strip()
    # The zero character and half of a surrogate pair are text for JSON, but for no database.
    if len(note) > LONGEST_UNIT_NOTE or NO_TEXT.search(note):
        raise Invalid(f"A note can have at most {LONGEST_UNIT_NOTE} characters.", field="note")
    return note


def _slip(number: int, percent: int | None, marks: Collection[int], peer_units: int) -> str:
    """What looks like a slip in one judgment; empty where nothing does."""
    made = Marks.of({number: marks}, model_units=number, peer_units=peer_units)
    warnings = made.warnings([*[None] * (number - 1), percent])
    return warnings[0].message if warnings else ""


def _checked_answer(act: QualityAct, summary: SummaryState) -> int | None:
    """The answer itself, where it fits the question and the stage."""
    question = next((each for each in summary.questions if each.id == act.question), None)
    if question is None:
        raise NotFound("This question does not apply to this summary.")
    if act.answer is not None and act.answer not in question.values:
        low, high = question.values[0], question.values[-1]
        raise Invalid(f"The answer to this question is a whole number from {low} to {high}.", field="answer")
    if act.answer is None and not summary.is_quality_open:
        raise Conflict(
            "The model summary has been shown, so you can change this answer but not clear it.",
            code="quality_answered",
        )
    return act.answer


def _check_unmarked(act: UnmarkedAct, summary: SummaryState) -> None:
    if act.percent is None:
        return
    if act.percent not in UNMARKED_PERCENTS:
        raise Invalid("The percent of unmarked peer units must be 0, 20, 40, 60, 80 or 100.", field="percent")
    if not summary.is_judged:
        raise Conflict(
            "Give every model unit of this summary a percent first, then judge the unmarked peer units.",
            code="units_first",
        )
    if not summary.unmarked:
        raise Conflict("All peer units are marked, so there is nothing to answer.", code="none_unmarked")
