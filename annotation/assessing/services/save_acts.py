"""Saving an assessor's acts in the SEE form; each changed value becomes a new version."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from annotation.assessing.queries.progress import (
    AssessingProgress,
    AssignmentProgress,
    Gates,
    JudgedComparison,
    SummaryState,
    by_reading,
    standing_judgments,
)
from annotation.assessing.services.acts import Act, RatingAct, UnitAct
from annotation.assessing.services.open_assignment import check_open, enter, lease_end
from annotation.core.guidelines import current_id
from annotation.core.refusals import Conflict, Invalid, NotFound, Refusal
from annotation.models import (
    Assignment,
    Claim,
    CoverageJudgment,
    Criterion,
    Rating,
    Reading,
    Unit,
)
from evaluation.metrics import Marks

if TYPE_CHECKING:
    from django.contrib.auth.models import User

LONGEST_UNIT_NOTE = 4000
MOST_LISTED = 11
NO_TEXT = re.compile("[\0\ud800-\udfff]")
STATUSES = {Conflict: 409, NotFound: 404, Invalid: 422}


@dataclass(frozen=True, slots=True)
class ActResult:
    """The result of an act. `status` is an HTTP status: 200 if the act was saved, otherwise 404, 409 or 422.

    `version` is the newest version of the item, or 0 after a refusal with a code other than `newer`. If the act follows
    an older version (code `newer`), `theirs` is the current value and `yours` is the sent value.
    """

    status: int
    version: int = 0
    code: str = ""
    message: str = ""
    yours: Mapping[str, object] | None = None
    theirs: Mapping[str, object] | None = None


@dataclass(frozen=True, slots=True)
class Saved:
    """The results of acts in order, and the stages of all comparisons of the summaries that the acts name.

    `slips` has an entry for each saved unit act: a warning if the judgment looks like a mistake, otherwise "".
    """

    results: tuple[ActResult, ...]
    slips: Mapping[str, str]
    gates: Mapping[str, Gates]
    lease_until: datetime | None


@transaction.atomic
def save_acts(*, assignment: Assignment, by: User, acts: Sequence[Act], all_or_none: bool = False) -> Saved:
    """Save acts in order. An act that repeats the current value makes no new version.

    If an act is invalid or follows an older version, its own result has the refusal and the other acts are saved. With
    `all_or_none`, the first refusal is raised and nothing is saved. Raises Conflict (code `closed` or `unassigned`) if
    the assignment takes no answers, or (code `busy`) if it changes at the same time. Raises NotFound for another
    person's assignment, and the errors of `require`.
    """
    enter(assignment, by)
    if all_or_none:
        # A plain form does not say which version of the guidelines it showed, so record the current version.
        assignment.guideline_id = current_id(assignment.document_set.project)
    _hold(assignment)
    saving = _Saving.of(assignment, acts)
    results = tuple(saving.result(act, all_or_none=all_or_none) for act in acts)
    saving.store()
    return Saved(results, saving.slips, saving.gates(), assignment.lease_until)


def judge_unit(
    *,
    reading: Reading,
    by: User,
    unit_id: str,
    percent: int | None,
    marks: Sequence[int] = (),
    note: str = "",
    follows: int | None = None,
) -> CoverageJudgment:
    """Save one judgment of a reference unit and return its row. With `follows` None, it replaces any version.

    Raises the refusal of the act, if any.
    """
    act = UnitAct(reading.public_id, unit_id, percent, tuple(marks), note, follows=follows)
    save_acts(assignment=reading.assignment, by=by, acts=[act], all_or_none=True)
    rows = CoverageJudgment.objects.filter(reading=reading, is_current=True)
    return rows.get(Q(unit__public_id=unit_id) | Q(claim__public_id=unit_id))


def _hold(assignment: Assignment) -> None:
    """Renew the lease of an open assignment and lock its row until the transaction ends."""
    if assignment.lease_until is not None:
        assignment.lease_until = lease_end(assignment.document_set.project)
    still_open = Assignment.objects.filter(pk=assignment.pk, closed_at=None, unassigned_at=None)
    if not still_open.update(
        worked_at=timezone.now(), lease_until=assignment.lease_until, guideline=assignment.guideline_id
    ):
        assignment.refresh_from_db(fields=["closed_at", "unassigned_at"])
        check_open(assignment)
        raise Conflict("Other changes to this set are being saved. Try again.", code="busy")


class _Place(NamedTuple):
    unit_id: int | None
    claim_id: int | None
    reference_id: int | None
    number: int


_Key = tuple[int | None, int | None, int | None]
"""Reading, unit, claim."""


@dataclass(slots=True)
class _Saving:
    assignment: Assignment
    here: AssignmentProgress
    touched: tuple[SummaryState, ...]
    places: Mapping[str, _Place]
    standing: dict[_Key, CoverageJudgment]
    slips: dict[str, str] = field(default_factory=dict)
    outdated: list[int] = field(default_factory=list)
    judgments: list[CoverageJudgment] = field(default_factory=list)
    ratings: list[Rating] = field(default_factory=list)
    started: set[int] = field(default_factory=set)
    versions: dict[object, int] = field(default_factory=dict)
    """The version of each item before these acts."""

    @classmethod
    def of(cls, assignment: Assignment, acts: Sequence[Act]) -> _Saving:
        # Load only the summaries of these acts, because loading all summaries of a large set is slow.
        named, project = {act.reading_id for act in acts}, assignment.document_set.project
        here = AssessingProgress.read(project, [assignment.pk], readings=named).of(assignment.pk)
        found = (here.pieces.get(act.reading_id) for act in acts)
        touched = tuple(dict.fromkeys(piece.summary for piece in found if piece is not None))
        pieces = by_reading(touched)
        return cls(
            assignment=assignment,
            here=here,
            touched=touched,
            places=_places({act.unit_id for act in acts if isinstance(act, UnitAct)}, pieces.values()),
            standing={(row.reading_id, row.unit_id, row.claim_id): row for row in standing_judgments(pieces)},
        )

    def result(self, act: Act, *, all_or_none: bool) -> ActResult:
        try:
            piece = self.here.pieces.get(act.reading_id)
            if piece is None:
                raise NotFound(
                    "This summary was changed or is no longer in the set. Open it again from My work."
                )
            version = self._judge(act, piece) if isinstance(act, UnitAct) else self._rate(act, piece.summary)
        except Refusal as refusal:
            if all_or_none:
                raise
            status = STATUSES[type(refusal)]
            return ActResult(status, code=refusal.code, message=refusal.message, **refusal.details)  # type: ignore[arg-type]
        if piece.state == Reading.State.OPEN:
            self.started.add(piece.key)
        return ActResult(200, version)

    def store(self) -> None:
        """Write the rows. The last row of an item becomes the current one."""
        CoverageJudgment.objects.filter(pk__in=self.outdated).update(is_current=False)
        CoverageJudgment.objects.bulk_create(self.judgments)
        Rating.objects.bulk_create(self.ratings)
        if self.started:
            opened = Reading.objects.filter(pk__in=self.started, state=Reading.State.OPEN)
            opened.update(state=Reading.State.DRAFT)

    def gates(self) -> dict[str, Gates]:
        self._count_marks()
        return {piece.reading_id: piece.gates for summary in self.touched for piece in summary.pieces}

    def _judge(self, act: UnitAct, piece: JudgedComparison) -> int:
        if piece.summary.is_before_open:
            raise Conflict(
                "Answer the questions about this summary first to see the reference.",
                code="ratings_first",
            )
        place = self.places.get(act.unit_id)
        is_claim = place is not None and place.claim_id is not None
        if place is None or place.reference_id != piece.reference_id or is_claim != piece.has_claims_as_units:
            raise NotFound("This reference unit is no longer in this comparison. Reload the page.")
        _check_percent(act.percent, self.assignment.document_set.project.percent_step)
        row = CoverageJudgment(
            role=CoverageJudgment.Role.ASSESSOR,
            person_id=self.assignment.assessor_id,
            comparison_id=piece.comparison_id,
            reading_id=piece.key,
            unit_id=place.unit_id,
            claim_id=place.claim_id,
            percent=act.percent,
            evidence=_clean_marks(act.marks, piece.summary),
            reason=_clean_note(act.note),
            active_ms=act.active_ms,
            guideline_id=self.assignment.guideline_id,
            had_seen=self.assignment.may_have_seen,
        )
        key = (piece.key, place.unit_id, place.claim_id)
        before = self.standing.get(key)
        if before is not None and _said(before) == _said(row):
            row = before
        else:
            version = before.version if before else 0
            self._check_follows(key, act, version, _said(row), _said(before))
            self._follow(before)
            row.version = version + 1
            self.standing[key] = row
            self.judgments.append(row)
            piece.judged += (row.percent is not None) - (before is not None and before.percent is not None)
        self.slips[act.unit_id] = _slip(place.number, row, piece.summary.summary_units)
        return row.version

    def _follow(self, before: CoverageJudgment | None) -> None:
        if before is None:
            return
        before.is_current = False
        if before.pk is not None:
            self.outdated.append(before.pk)

    def _count_marks(self) -> None:
        marked: dict[int | None, set[int]] = {}
        for row in self.standing.values():
            marked.setdefault(row.reading_id, set()).update(row.evidence)
        for summary in self.touched:
            for piece in summary.pieces:
                piece.marked = frozenset(marked.get(piece.key, ()))

    def _rate(self, act: RatingAct, summary: SummaryState) -> int:
        self._count_marks()
        criterion = next((each for each in summary.criteria if each.public_id == act.criterion_id), None)
        if criterion is None:
            raise NotFound("This question does not apply to this summary.")
        version = summary.versions.get(criterion.pk, 0)
        said = summary.answers.get(criterion.pk)
        theirs = None if said is None else int(said)
        if act.value == theirs:
            return version
        key = (summary.summary_id, criterion.pk)
        self._check_follows(key, act, version, {"value": act.value}, {"value": theirs})
        _check_value(act.value, criterion, summary)
        summary.give(criterion.pk, act.value, version + 1)
        self.ratings.append(
            Rating(
                criterion=criterion,
                summary_id=summary.summary_id,
                role=Rating.Role.ASSESSOR,
                person_id=self.assignment.assessor_id,
                assignment=self.assignment,
                value=act.value,
                version=version + 1,
                active_ms=act.active_ms,
                guideline_id=self.assignment.guideline_id,
                had_seen=self.assignment.may_have_seen,
            )
        )
        return version + 1

    def _check_follows(
        self, key: object, act: Act, version: int, yours: Mapping[str, object], theirs: Mapping[str, object]
    ) -> None:
        # Accept two versions: the one that an earlier act of this request wrote, and the one before the request.
        if act.follows in (None, version, self.versions.setdefault(key, version)):
            return
        raise Conflict(
            "This was changed in another window or on another device after you opened it. There it is now: "
            f"{_in_words(theirs)}. Yours, not saved: {_in_words(yours)}.",
            code="newer",
            details={"version": version, "yours": yours, "theirs": theirs},
        )


def _places(names: Iterable[str], pieces: Iterable[JudgedComparison]) -> dict[str, _Place]:
    pieces = list(pieces)
    places: dict[str, _Place] = {}
    if any(not piece.has_claims_as_units for piece in pieces):
        units = Unit.objects.filter(public_id__in=names).values_list(
            "public_id", "pk", "summary_id", "position"
        )
        places |= {name: _Place(key, None, reference, number) for name, key, reference, number in units}
    if any(piece.has_claims_as_units for piece in pieces):
        claims = Claim.objects.filter(public_id__in=names, claim_set__is_active=True).values_list(
            "public_id", "pk", "claim_set__summary_id", "position"
        )
        places |= {name: _Place(None, key, reference, number) for name, key, reference, number in claims}
    return places


def _said(row: CoverageJudgment | None) -> dict[str, object]:
    if row is None:
        return {"percent": None, "marks": [], "note": ""}
    return {"percent": row.percent, "marks": row.evidence, "note": row.reason}


def _in_words(said: Mapping[str, object]) -> str:
    number = said.get("percent", said.get("value"))
    words = ["no answer" if number is None else f"{number} %" if "percent" in said else f"answer {number}"]
    if marks := said.get("marks"):
        words.append(f"marked {', '.join(map(str, marks))}")  # type: ignore[call-overload]
    if note := said.get("note"):
        words.append(f"note “{note}”")
    return ", ".join(words)


def _check_percent(percent: int | None, step: int) -> None:
    if percent is not None and (not 0 <= percent <= 100 or percent % step):
        raise Invalid(f"A percent must be between 0 and 100 in steps of {step}.", field="percent")


def _clean_marks(given: Iterable[int], summary: SummaryState) -> list[int]:
    marks = sorted(set(given))
    unknown = [mark for mark in marks if not 1 <= mark <= summary.summary_units]
    if unknown:
        raise Invalid(f"The summary has no unit {unknown[0]}.", field="marks")
    return marks


def _clean_note(note: str) -> str:
    note = note.strip()
    # Refuse the zero character and lone surrogates, which JSON may contain but PostgreSQL does not store.
    if len(note) > LONGEST_UNIT_NOTE or NO_TEXT.search(note):
        raise Invalid(f"A note can have at most {LONGEST_UNIT_NOTE} characters.", field="note")
    return note


def _slip(number: int, row: CoverageJudgment, summary_units: int) -> str:
    made = Marks.of({number: row.evidence}, reference_units=number, summary_units=summary_units)
    warnings = made.warnings([*[None] * (number - 1), row.percent])
    return warnings[0].message if warnings else ""


def _check_value(value: int | None, criterion: Criterion, summary: SummaryState) -> None:
    values = criterion.fact.values
    if value is not None and value not in values:
        raise Invalid(f"The answer to this question is one of {_listed(values)}.", field="value")
    if criterion.asked == Criterion.Asked.BEFORE:
        if value is None and not summary.is_before_open:
            raise Conflict(
                "The reference has been shown, so you can change this answer but not clear it.",
                code="model_shown",
            )
    elif value is not None and not summary.is_judged:
        raise Conflict(
            "Give every reference unit of this summary a percent first, then answer this question.",
            code="units_first",
        )
    elif value is not None and summary.is_by_rule(criterion):
        raise Conflict("All summary units are marked, so there is nothing to answer.", code="none_unmarked")


def _listed(values: Sequence[int]) -> str:
    if len(values) > MOST_LISTED:
        return f"the whole numbers from {values[0]} to {values[-1]}"
    return ", ".join(map(str, values))
