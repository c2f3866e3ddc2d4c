"""Acts of the SEE form on their way into rows: what each must be, and how far the sitting is after it."""

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
    Gates,
    JudgedComparison,
    ListedUnit,
    PeerReading,
    SittingProgress,
    StandingJudgment,
    listed_units,
    standing_judgments,
)
from annotation.assessing.services.act_rows import insert, outdate
from annotation.assessing.services.acts import Act, ActResult, QualityAct, UnitAct, UnmarkedAct
from annotation.core.refusals import Conflict, Invalid, NotFound, Refusal
from annotation.models import Assignment, Claim, Project, Sitting, SummaryJudgment, UnitJudgment
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
    """The acts of one request on their way into rows, and the sitting as they leave it.

    What was said before them is read once and kept up to date here, so that nothing has to be read again.
    """

    sitting: Sitting
    progress: AssessingProgress
    client_id: str
    touched: tuple[PeerReading, ...]
    before: dict[_JudgmentKey, StandingJudgment]
    units: Mapping[str, ListedUnit] | None
    is_strict: bool
    heard: int
    slips: dict[str, str] = field(default_factory=dict)
    judgments: dict[_JudgmentKey, list[UnitJudgment]] = field(default_factory=dict)
    answers: dict[PeerReading, list[SummaryJudgment]] = field(default_factory=dict)
    begun: set[int] = field(default_factory=set)

    @classmethod
    def of(cls, sitting: Sitting, acts: Sequence[Act], client_id: str, *, is_strict: bool = False) -> Saving:
        """How far the sitting is, what stands of the summaries that the acts touch, and which units they are of.

        Whoever joins or splits units takes the pen from a form that has it, and leaves a sitting alone that is in no
        form yet. So the units are read here for a form with the pen, and else when the sitting's row is held.
        """
        progress = AssessingProgress.read(sitting.document_set.project, [sitting.pk])
        found = (progress.of(sitting.pk).pieces.get(act.assignment_id) for act in acts)
        touched = tuple(dict.fromkeys(piece.reading for piece in found if piece is not None))
        pieces = {piece.key: piece for reading in touched for piece in reading.pieces}
        standing = standing_judgments(pieces) if pieces else ()
        return cls(
            sitting=sitting,
            progress=progress,
            client_id=client_id,
            touched=touched,
            before={(said.piece, said.unit_id, said.claim_id): said for said in standing},
            units=_listed(acts) if sitting.pen == client_id else None,
            is_strict=is_strict,
            heard=acts[-1].seq,
        )

    @property
    def here(self) -> SittingProgress:
        return self.progress.of(self.sitting.pk)

    def write(self, acts: Sequence[Act]) -> list[ActResult]:
        """Turn the acts into rows. The caller holds the sitting's row."""
        places = self._places([act for act in acts if isinstance(act, UnitAct)])
        results = [self._result(act, places) for act in acts]
        self._store_judgments()
        self._store_answers()
        if self.begun:
            Assignment.objects.filter(pk__in=self.begun, state=Assignment.State.OPEN).update(
                state=Assignment.State.DRAFT
            )
        return results

    def saved(self, results: Sequence[ActResult]) -> Saved:
        """What the form is told."""
        self._count_marks()
        here = self.here
        is_complete = all(
            reading.is_complete if reading in self.touched else reading.is_judged
            for reading in here.readings.values()
        )
        if is_complete:
            others = (reading for reading in here.readings.values() if reading not in self.touched)
            self.progress.load_marks(reading for reading in others if reading.unmarked_percent is None)
        return Saved(
            heard=self.heard,
            results=tuple(results),
            slips=self.slips,
            gates={piece.assignment_id: piece.gates for reading in self.touched for piece in reading.pieces},
            judged=here.judged,
            total=here.total,
            is_complete=is_complete and here.is_complete,
        )

    def _result(self, act: Act, places: Mapping[str, _JudgedPlace]) -> ActResult:
        try:
            piece = self.here.pieces.get(act.assignment_id)
            if piece is None:
                raise NotFound("This summary is not, or no longer, in the set.")
            if isinstance(act, UnitAct):
                self._judge(act, piece, places)
            else:
                self._answer(act, piece.reading)
        except Refusal as refusal:
            if self.is_strict:
                raise
            return ActResult(act.seq, "refused", refusal.code, refusal.message)
        if piece.state == Assignment.State.OPEN:
            self.begun.add(piece.key)
        return ActResult(act.seq, "saved")

    # Model units

    def _places(self, acts: Sequence[UnitAct]) -> dict[str, _JudgedPlace]:
        """The units by public id, and the claims in their stead."""
        pieces = [piece for act in acts if (piece := self.here.pieces.get(act.assignment_id))]
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
        if piece.reading.is_quality_open:
            raise Conflict(
                "Answer this summary's quality questions first to see the model summary.",
                code="quality_first",
            )
        place = places.get(act.unit_id)
        is_claim = place is not None and place.claim_id is not None
        if place is None or place.model_id != piece.model_id or is_claim != piece.has_claims_as_units:
            raise NotFound("This model unit is not, or no longer, in this comparison. Reload the page.")
        _check_percent(act.percent, self.progress.project)
        marks = _clean_marks(act.marks, piece.reading)
        row = UnitJudgment(
            assignment_id=piece.key,
            unit_id=place.unit_id,
            claim_id=place.claim_id,
            percent=act.percent,
            marks=marks,
            note=_clean_note(act.note),
            client_id=self.client_id,
            seq=act.seq,
            active_ms=act.active_ms,
            guideline_id=self.sitting.guideline_id,
        )
        self.slips[act.unit_id] = _slip(place.number, act.percent, marks, piece.reading.peer_units)
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
        for reading in self.touched:
            for each in reading.pieces:
                each.marked = frozenset(marked[each.key])

    def _store_judgments(self) -> None:
        """The last row on each unit is the current one; what was current before is kept."""
        if not self.judgments:
            return
        outdate([self.before[key].key for key in self.judgments if key in self.before])
        rows = list(chain.from_iterable(_last_is_current(rows) for rows in self.judgments.values()))
        insert(sorted(rows, key=lambda row: row.seq))

    # Quality questions and unmarked peer units

    def _answer(self, act: QualityAct | UnmarkedAct, reading: PeerReading) -> None:
        if isinstance(act, UnmarkedAct):
            self._count_marks()
            _check_unmarked(act, reading)
            reading.unmarked_percent = act.percent
        elif (answer := _checked_answer(act, reading)) is None:
            reading.answers.pop(act.question, None)
        else:
            reading.answers[act.question] = answer
        row = SummaryJudgment(
            sitting=self.sitting,
            peer_id=reading.peer_id,
            quality_answers=dict(reading.answers),
            unmarked_percent=reading.unmarked_percent,
            client_id=self.client_id,
            seq=act.seq,
            active_ms=act.active_ms,
            guideline_id=self.sitting.guideline_id,
        )
        self.answers.setdefault(reading, []).append(row)

    def _store_answers(self) -> None:
        if not self.answers:
            return
        peers = [reading.peer_id for reading in self.answers]
        before = SummaryJudgment.objects.filter(peer__in=peers, sitting=self.sitting, is_current=True)
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


def _clean_marks(given: Iterable[int], reading: PeerReading) -> list[int]:
    marks = sorted(set(given))
    unknown = [mark for mark in marks if not 1 <= mark <= reading.peer_units]
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


def _checked_answer(act: QualityAct, reading: PeerReading) -> int | None:
    """The answer itself, where it fits the question and the stage."""
    question = next((each for each in reading.questions if each.id == act.question), None)
    if question is None:
        raise NotFound("This question does not apply to this summary.")
    if act.answer is not None and act.answer not in question.values:
        low, high = question.values[0], question.values[-1]
        raise Invalid(f"The answer to this question is a whole number from {low} to {high}.", field="answer")
    if act.answer is None and not reading.is_quality_open:
        raise Conflict(
            "The model summary has been shown, so you can change this answer but not clear it.",
            code="quality_answered",
        )
    return act.answer


def _check_unmarked(act: UnmarkedAct, reading: PeerReading) -> None:
    if act.percent is None:
        return
    if act.percent not in UNMARKED_PERCENTS:
        raise Invalid("The percent of unmarked peer units must be 0, 20, 40, 60, 80 or 100.", field="percent")
    if not reading.is_judged:
        raise Conflict(
            "Give every model unit of this summary a percent first, then judge the unmarked peer units.",
            code="units_first",
        )
    if not reading.unmarked:
        raise Conflict("All peer units are marked, so there is nothing to answer.", code="none_unmarked")
