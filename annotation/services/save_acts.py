"""An assessor's acts in the SEE form are saved, each once and in order.

The path of every click, so it asks the database little: what does not change by acts is read before the
transaction, which is short, and nothing of the form is computed anew.
"""

from __future__ import annotations

import re
import secrets
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from functools import reduce
from itertools import chain, count
from operator import or_
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from django.db import transaction
from django.db.models import Max, Q
from django.utils import timezone

from annotation.models import Assignment, Claim, Project, Sitting, SummaryJudgment, UnitJudgment
from annotation.permissions import Verb, require
from annotation.queries.guidelines import current_id
from annotation.queries.progress import (
    UNMARKED_PERCENTS,
    Gates,
    ListedUnit,
    Piece,
    Progress,
    Reading,
    SittingProgress,
    Standing,
    listed_units,
    standing_judgments,
)
from annotation.refusals import Conflict, Invalid, NotFound, Refusal
from annotation.services.act_rows import insert, outdate, take_turn
from annotation.services.acts import Act, ActResult, QualityAct, UnitAct, UnmarkedAct
from evaluation import Marks

if TYPE_CHECKING:
    from django.contrib.auth.models import User

PERCENT_STEP = {
    Project.PercentScale.SIX: 20,
    Project.PercentScale.FIVES: 5,
    Project.PercentScale.FREE: 1,
}
LONGEST_NOTE = 4000
ATTEMPTS = 5
NO_TEXT = re.compile("[\0\ud800-\udfff]")
UNITS_CHANGED = "units-"
"""How a pen begins that was taken from all forms, because the units that they show are no longer there."""
MOVING = ("pen", "pen_seq", "assessor", "closed_at", "recalled_at", "recalled_as")
"""What others may have changed in a sitting since it was read."""


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


def save_acts(*, sitting: Sitting, by: User, client_id: str, acts: Sequence[Act]) -> Saved:
    """Save acts of an open form, one or more, in order. The same act arriving twice is saved once.

    `client_id` is the name of the form, which numbers its acts from 1 in each sitting. Nothing is scored before
    the sitting is closed. An act that makes no sense is refused in its own result. Raises Conflict, with what
    the server holds (`theirs`) and what was sent (`yours`), and nothing of it saved: code `gap` where an act
    before these has not arrived, `closed`, `lapsed` or `recalled` where the sitting is over, `elsewhere` where another
    form has the pen of an open one; NotFound where the sitting is not the person's.
    """
    _enter(sitting, by)
    for _ in range(ATTEMPTS):
        fresh = _not_heard(sitting, client_id, acts)
        saving = _Saving.of(sitting, acts, client_id)
        if not fresh:
            return saving.saved(_repeated(acts))
        with transaction.atomic():
            # While nobody has been heard in between, everything that was read of the sitting still stands.
            is_heard = _hear(sitting, client_id, fresh[-1].seq, if_unheard=True)
            written = saving.write(fresh) if is_heard else []
        if is_heard:
            return saving.saved([*_repeated(acts[: len(acts) - len(fresh)]), *written])
        sitting.refresh_from_db(fields=MOVING)
        _enter(sitting, by)
    raise _busy()


def save_at_once(*, sitting: Sitting, by: User, acts: Sequence[Act], client_id: str = "") -> Saved:
    """Save acts of a form that does not number them, such as a page without scripts: all of them, or none.

    Such a form has the pen for these acts, so an open form elsewhere is told at its next one. Raises what is
    wrong with the first act that makes no sense; Conflict (`closed`, `lapsed`, `recalled`) and NotFound as
    `save_acts`.
    """
    _enter(sitting, by)
    pen = client_id or secrets.token_hex(16)
    with transaction.atomic():
        if not _hear(sitting, pen, acts[-1].seq):
            sitting.refresh_from_db(fields=MOVING)
            may_write(sitting, by)
            raise _busy()
        _note_guideline(sitting)
        saving = _Saving.of(sitting, acts, pen, is_strict=True)
        written = saving.write(acts)
    return saving.saved(written)


@transaction.atomic
def judge_unit(
    *,
    assignment: Assignment,
    by: User,
    unit_id: str,
    percent: int | None,
    marks: Sequence[int] = (),
    note: str = "",
    client_id: str = "",
    seq: int = 0,
) -> UnitJudgment:
    """Save one judgment of a model unit by itself, as `save_at_once` does, and return its row.

    With a client id, the same act (client id and sequence number) arriving twice is saved once.
    """
    sitting = assignment.sitting
    if sitting is None or sitting.assessor_id != by.pk:
        raise NotFound("There is no such assignment.")
    rows = UnitJudgment.objects.filter(assignment=assignment).select_related("unit", "claim")
    if client_id:
        Sitting.objects.select_for_update().get(pk=sitting.pk)
        earlier = rows.filter(client_id=client_id, seq=seq).first()
        if earlier is not None:
            return earlier
    act = UnitAct(seq, assignment.public_id, unit_id, percent, tuple(marks), note)
    save_at_once(sitting=sitting, by=by, acts=[act], client_id=client_id)
    return rows.filter(Q(unit__public_id=unit_id) | Q(claim__public_id=unit_id)).get(is_current=True)


def may_write(sitting: Sitting, by: User) -> None:
    """Refuse unless the sitting is the person's own and still open. Raises as `save_acts`."""
    _enter(sitting, by)
    check_open(sitting)


def last_saved(sitting: Sitting, client_id: str) -> int:
    """The greatest number among the acts of this form that have rows in the sitting; 0 where there is none."""
    of_units = UnitJudgment.objects.filter(assignment__sitting=sitting, client_id=client_id)
    of_peers = SummaryJudgment.objects.filter(sitting=sitting, client_id=client_id)
    numbers = (rows.order_by().aggregate(last=Max("seq"))["last"] for rows in (of_units, of_peers))
    return max(number or 0 for number in numbers)


def lease(sitting: Sitting, now: datetime) -> dict[str, datetime]:
    """The columns that an act or sign of life renews."""
    if not sitting.is_pulled:
        return {"worked_at": now}
    minutes = sitting.document_set.project.lease_minutes
    return {"worked_at": now, "lease_until": now + timedelta(minutes=minutes)}


def _enter(sitting: Sitting, by: User) -> None:
    if sitting.assessor_id != by.pk:
        raise NotFound("There is no such sitting.")
    require(by, sitting.document_set.project, Verb.ASSESS)


def check_open(sitting: Sitting) -> None:
    """Refuse a sitting that takes no more judgments. Raises Conflict (codes `closed`, `lapsed`, `recalled`)."""
    if sitting.closed_at is not None:
        raise Conflict(
            "This document set is closed, so its judgments can no longer be changed.", code="closed"
        )
    if sitting.recalled_at is None:
        return
    if sitting.recalled_as == Sitting.Recalled.LAPSED:
        raise Conflict(
            "Nobody worked at this document set for a while, so it went back to the queue. What you judged in "
            "it is kept: take it up again from your work, unless somebody else has it by now.",
            code="lapsed",
        )
    raise Conflict(
        "This document set is no longer yours to judge. What you judged in it is kept.", code="recalled"
    )


# Whose turn it is


def _not_heard(sitting: Sitting, client_id: str, acts: Sequence[Act]) -> Sequence[Act]:
    """Those of the acts that have not been heard yet, of which the first is the next one. Raises Conflict."""
    heard = _heard(sitting, client_id, acts)
    fresh = [act for act in acts if act.seq > heard]
    if len(fresh) < len(acts):
        _check_repeated(sitting, client_id, acts[: len(acts) - len(fresh)])
    if not fresh:
        return fresh
    _check_still_open(sitting, fresh)
    for expected, act in zip(count(heard + 1), fresh, strict=False):
        if act.seq != expected:
            gap = Conflict(
                f"Act {expected} has not arrived, so act {act.seq} was not saved. Send all from {expected} on.",
                code="gap",
                details={"expected": expected},
            )
            raise _with_both(gap, sitting, fresh)
    return fresh


def _check_repeated(sitting: Sitting, client_id: str, acts: Sequence[Act]) -> None:
    """Raise Conflict where a number comes again with something else: two tabs gave it to two different acts."""
    numbers = [act.seq for act in acts]
    rows = UnitJudgment.objects.filter(assignment__sitting=sitting, client_id=client_id, seq__in=numbers)
    judged = {
        seq: (assignment, unit or claim, percent, marks, note)
        for seq, assignment, unit, claim, percent, marks, note in rows.values_list(
            "seq",
            "assignment__public_id",
            "unit__public_id",
            "claim__public_id",
            "percent",
            "marks",
            "note",
        )
    }
    summaries = SummaryJudgment.objects.filter(sitting=sitting, client_id=client_id, seq__in=numbers)
    answered = {row.seq: row for row in summaries}
    # An act that was refused left no row: nothing tells what it said.
    others = [act for act in acts if not _is_the_same(act, judged.get(act.seq), answered.get(act.seq))]
    if others:
        told = "This set is open in two tabs that both judged at the same time."
        raise _with_both(Conflict(told, code="elsewhere", details={"pen": sitting.pen}), sitting, others)


def _is_the_same(act: Act, judged: tuple[object, ...] | None, answered: SummaryJudgment | None) -> bool:
    """Whether what was kept under the number of an act is that act, as far as anything was kept."""
    match act:
        case UnitAct():
            said = (
                act.assignment_id,
                act.unit_id,
                act.percent,
                sorted(set(act.marks)),
                act.note.strip(),
            )
            return answered is None and judged in (None, said)
        case QualityAct():
            return judged is None and (
                answered is None or answered.quality_answers.get(act.question) == act.answer
            )
        case UnmarkedAct():
            return judged is None and (answered is None or answered.unmarked_percent == act.percent)


def _heard(sitting: Sitting, client_id: str, acts: Sequence[Act]) -> int:
    """The number up to which the form has been heard. Raises Conflict where another one has the pen."""
    if sitting.pen == client_id:
        return sitting.pen_seq
    last = last_saved(sitting, client_id)
    if sitting.pen == "" or acts[-1].seq <= last:
        return last
    fresh = [act for act in acts if act.seq > last]
    # Who has the pen of a set that is over helps nobody.
    _check_still_open(sitting, fresh)
    told = "This set was opened in another tab or on another device, and goes on there."
    if sitting.pen.startswith(UNITS_CHANGED):
        told = "Units of a summary in this set were joined or split in the meantime. Load the page anew."
    elsewhere = Conflict(told, code="elsewhere", details={"pen": sitting.pen})
    raise _with_both(elsewhere, sitting, fresh)


def _check_still_open(sitting: Sitting, fresh: Sequence[Act]) -> None:
    try:
        check_open(sitting)
    except Conflict as refusal:
        raise _with_both(refusal, sitting, fresh) from None


def _hear(sitting: Sitting, client_id: str, seq: int, *, if_unheard: bool = False) -> bool:
    """Take the turn: one update that holds the sitting's row to the end of the transaction."""
    renewed = lease(sitting, timezone.now())
    return take_turn(sitting, pen=client_id, seq=seq, renewed=renewed, if_unheard=if_unheard)


def _note_guideline(sitting: Sitting) -> None:
    """Keep the version in force as the one that a form without scripts had on screen, which tells of none itself."""
    key = current_id(sitting.document_set.project)
    if key != sitting.guideline_id:
        sitting.guideline_id = key
        Sitting.objects.filter(pk=sitting.pk).update(guideline=key)


def _busy() -> Conflict:
    return Conflict("Other acts on this set are arriving at this moment. Try again.", code="busy")


def _repeated(acts: Iterable[Act]) -> list[ActResult]:
    return [ActResult(act.seq, "repeated") for act in acts]


def _with_both(refusal: Conflict, sitting: Sitting, acts: Sequence[Act]) -> Conflict:
    """The refusal with what stands on the server of what the acts touch, and the acts."""
    details = {"theirs": _standing(sitting, acts), "yours": [act.as_json() for act in acts]}
    return Conflict(refusal.message, code=refusal.code, details={**refusal.details, **details})


def _standing(sitting: Sitting, acts: Sequence[Act]) -> list[dict[str, object]]:
    """What the server holds of everything that the acts touch, as acts without a number."""
    said = UnitJudgment.objects.filter(assignment__sitting=sitting, is_current=True)
    rows = said.filter(assignment__public_id__in={act.assignment_id for act in acts}).order_by("pk")
    judged = {
        (assignment, unit or claim): UnitAct(0, assignment, unit or claim, percent, marks, note)
        for assignment, unit, claim, percent, marks, note in rows.values_list(
            "assignment__public_id", "unit__public_id", "claim__public_id", "percent", "marks", "note"
        )
    }
    pieces = Progress.read(sitting.document_set.project, [sitting.pk]).of(sitting.pk).pieces
    theirs: list[Act] = []
    for act in acts:
        piece = pieces.get(act.assignment_id)
        if piece is not None and (stands := _stands(act, piece.reading, judged)) not in theirs:
            theirs.append(stands)
    return [act.as_json() for act in theirs]


def _stands(act: Act, reading: Reading, judged: Mapping[tuple[str, str], UnitAct]) -> Act:
    match act:
        case UnitAct():
            nothing = UnitAct(0, act.assignment_id, act.unit_id, None)
            return judged.get((act.assignment_id, act.unit_id), nothing)
        case QualityAct():
            return QualityAct(0, act.assignment_id, act.question, reading.answers.get(act.question))
        case UnmarkedAct():
            return UnmarkedAct(0, act.assignment_id, reading.unmarked_percent)


# Writing


class _Place(NamedTuple):
    """A unit, or the claim that stands in for one."""

    unit_id: int | None
    claim_id: int | None
    model_id: int | None
    number: int


_Key = tuple[int, int | None, int | None]
"""Comparison, unit, claim."""


@dataclass(slots=True)
class _Saving:
    """The acts of one request on their way into rows, and the sitting as they leave it.

    What was said before them is read once and kept up to date here, so that nothing has to be read again.
    """

    sitting: Sitting
    progress: Progress
    client_id: str
    touched: tuple[Reading, ...]
    before: dict[_Key, Standing]
    units: Mapping[str, ListedUnit] | None
    is_strict: bool
    heard: int
    slips: dict[str, str] = field(default_factory=dict)
    judgments: dict[_Key, list[UnitJudgment]] = field(default_factory=dict)
    answers: dict[Reading, list[SummaryJudgment]] = field(default_factory=dict)
    begun: set[int] = field(default_factory=set)

    @classmethod
    def of(cls, sitting: Sitting, acts: Sequence[Act], client_id: str, *, is_strict: bool = False) -> _Saving:
        """How far the sitting is, what stands of the summaries that the acts touch, and which units they are of.

        Whoever joins or splits units takes the pen from a form that has it, and leaves a sitting alone that is in no
        form yet. So the units are read here for a form with the pen, and else when the sitting's row is held.
        """
        progress = Progress.read(sitting.document_set.project, [sitting.pk])
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

    def _result(self, act: Act, places: Mapping[str, _Place]) -> ActResult:
        try:
            piece = self.here.pieces.get(act.assignment_id)
            if piece is None:
                raise NotFound("This summary is not in the set (any more).")
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

    def _places(self, acts: Sequence[UnitAct]) -> dict[str, _Place]:
        """The units by public id, and the claims in their stead."""
        pieces = [piece for act in acts if (piece := self.here.pieces.get(act.assignment_id))]
        places: dict[str, _Place] = {}
        if any(not piece.has_claims_as_units for piece in pieces):
            units = _listed(acts) if self.units is None else self.units
            places |= {
                name: _Place(unit.key, None, unit.model_id, unit.number) for name, unit in units.items()
            }
        if any(piece.has_claims_as_units for piece in pieces):
            wanted = {act.unit_id for act in acts}
            claims = Claim.objects.filter(public_id__in=wanted, claim_set__is_active=True)
            for key, public_id, model_id, number in claims.values_list(
                "pk", "public_id", "claim_set__summary_id", "position"
            ):
                places[public_id] = _Place(None, key, model_id, number)
        return places

    def _judge(self, act: UnitAct, piece: Piece, places: Mapping[str, _Place]) -> None:
        if piece.reading.is_quality_open:
            raise Conflict(
                "Answer the quality questions of this summary first; the model summary comes after them.",
                code="quality_first",
            )
        place = places.get(act.unit_id)
        is_claim = place is not None and place.claim_id is not None
        if place is None or place.model_id != piece.model_id or is_claim != piece.has_claims_as_units:
            raise NotFound("This model unit is not in this comparison (any more). Load the page anew.")
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

    def _percent(self, key: _Key) -> int | None:
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

    def _answer(self, act: QualityAct | UnmarkedAct, reading: Reading) -> None:
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
            is_repeat=reading.is_repeat,
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
        places = (Q(peer=reading.peer_id, is_repeat=reading.is_repeat) for reading in self.answers)
        before = SummaryJudgment.objects.filter(reduce(or_, places), sitting=self.sitting, is_current=True)
        before.update(is_current=False)
        rows = list(chain.from_iterable(_last_is_current(rows) for rows in self.answers.values()))
        insert(sorted(rows, key=lambda row: row.seq))


Row = TypeVar("Row", UnitJudgment, SummaryJudgment)


def _listed(acts: Iterable[Act]) -> dict[str, ListedUnit]:
    return listed_units({act.unit_id for act in acts if isinstance(act, UnitAct)})


def _last_is_current(rows: Sequence[Row]) -> Sequence[Row]:
    for row in rows[:-1]:
        row.is_current = False
    return rows


def _check_percent(percent: int | None, project: Project) -> None:
    step = PERCENT_STEP[Project.PercentScale(project.percent_scale)]
    if percent is not None and (not 0 <= percent <= 100 or percent % step):
        raise Invalid(f"A percent lies between 0 and 100 in steps of {step}.", field="percent")


def _clean_marks(given: Iterable[int], reading: Reading) -> list[int]:
    marks = sorted(set(given))
    unknown = [mark for mark in marks if not 1 <= mark <= reading.peer_units]
    if unknown:
        raise Invalid(f"The peer summary has no unit {unknown[0]}.", field="marks")
    return marks


def _clean_note(note: str) -> str:
    note = note.strip()
    # The zero character and half of a surrogate pair are text for JSON, but for no database.
    if len(note) > LONGEST_NOTE or NO_TEXT.search(note):
        raise Invalid(f"A note is text of at most {LONGEST_NOTE} characters.", field="note")
    return note


def _slip(number: int, percent: int | None, marks: Collection[int], peer_units: int) -> str:
    """What looks like a slip in one judgment; empty where nothing does."""
    made = Marks.of({number: marks}, model_units=number, peer_units=peer_units)
    warnings = made.warnings([*[None] * (number - 1), percent])
    return warnings[0].message if warnings else ""


def _checked_answer(act: QualityAct, reading: Reading) -> int | None:
    """The answer itself, where it fits the question and the stage."""
    question = next((each for each in reading.questions if each.id == act.question), None)
    if question is None:
        raise NotFound("This question is not asked of this summary.")
    if act.answer is not None and act.answer not in question.values:
        low, high = question.values[0], question.values[-1]
        raise Invalid(f"The answer to this question is a whole number from {low} to {high}.", field="answer")
    if act.answer is None and not reading.is_quality_open:
        raise Conflict(
            "The model summary has been shown, so this answer can be changed, but not taken back.",
            code="quality_answered",
        )
    return act.answer


def _check_unmarked(act: UnmarkedAct, reading: Reading) -> None:
    if act.percent is None:
        return
    if act.percent not in UNMARKED_PERCENTS:
        raise Invalid("The percent of unmarked peer units is one of 0, 20, 40, 60, 80, 100.", field="percent")
    if not reading.is_judged:
        raise Conflict(
            "Give every model unit of this summary its percent first; the unmarked peer units come after them.",
            code="units_first",
        )
    if not reading.unmarked:
        raise Conflict("Every peer unit is marked, so there is nothing to answer.", code="none_unmarked")
