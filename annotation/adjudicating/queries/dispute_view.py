"""One dispute as an adjudicator sees it: what is asked, the text that decides it, and the voices without names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from django.db.models import Q

from annotation.adjudicating.queries.disputes import (
    DisputeFilter,
    DisputeKind,
    decisions_on,
    held_by,
    kind_of,
    left_in,
)
from annotation.adjudicating.queries.disputes import text_of as words_of
from annotation.adjudicating.queries.voices import NamelessVoice, has_judged, voices_on_check, voices_on_unit
from annotation.core.refusals import NotFound
from annotation.models import Adjudication, Check, Claim, Dispute, Label, Unit
from annotation.texts.queries.check_text import (
    ContextUnit,
    TextUnit,
    found_passages,
    shown_places,
    text_of,
    texts_around,
)

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.db.models import QuerySet

    from annotation.models import Comparison, Project


@dataclass(frozen=True, slots=True)
class LitPassage:
    """A numbered unit of the text. `letters` are the voices that point to it.

    `is_found` tells that it shares words with the claim; `follows_gap` that units before it are left out; `opens` that
    a document or paragraph begins.
    """

    number: int
    text: str
    letters: tuple[str, ...]
    is_found: bool = False
    follows_gap: bool = False
    opens: bool = False


@dataclass(frozen=True, slots=True)
class MadeDecision:
    """A decision on a dispute, standing or taken back."""

    decision_id: str
    answer: str
    reason: str
    error_type: str
    is_guideline_gap: bool
    is_against_all: bool
    adopted: str
    is_own: bool
    at: datetime
    is_withdrawn: bool


@dataclass(frozen=True, slots=True)
class DisputeView:
    """One dispute in an adjudicator's hands. No name of a system, a reviewer or a judge is in it.

    `statement` is the claim or the model unit; `context` what stands around it there; `passages` the text that
    decides it. `seen` is the standing decision's id, for the compare-and-set of the next one. `is_own` tells that the
    reader has judged it, be it taken back; `may_decide` that they may settle it all the same.
    """

    dispute_id: str
    kind: str
    side: str
    why: str
    state: str
    spread: float
    statement: str
    unit_number: int | None
    context: tuple[ContextUnit, ...]
    passages: tuple[LitPassage, ...]
    is_whole_text: bool
    text_units: int
    voices: tuple[NamelessVoice, ...]
    decisions: tuple[MadeDecision, ...]
    document_set: str
    summary_id: str
    target_id: str
    held_by: str
    is_own: bool
    may_decide: bool
    left: int
    is_left_counted_out: bool

    @property
    def standing(self) -> MadeDecision | None:
        return next((made for made in reversed(self.decisions) if not made.is_withdrawn), None)

    @property
    def seen(self) -> str:
        standing = self.standing
        return standing.decision_id if standing else ""

    @property
    def is_settled(self) -> bool:
        return self.state == Dispute.State.SETTLED

    @property
    def withdrawn(self) -> tuple[MadeDecision, ...]:
        return tuple(made for made in self.decisions if made.is_withdrawn)

    @property
    def nobody_said(self) -> tuple[str, ...]:
        """The labels that none of the voices gave; empty for a unit."""
        if self.kind != DisputeKind.CHECK:
            return ()
        said = {voice.label for voice in self.voices}
        return tuple(label for label in Label.values if label not in said)


def dispute_view(
    dispute: Dispute, person: User, filters: DisputeFilter, *, whole_text: bool = False
) -> DisputeView:
    """A dispute as this adjudicator may see it now. The number of queries is the same for every dispute of a kind."""
    place = dispute.place
    if isinstance(place, Check):
        return _of_check(dispute, place, person, filters, whole_text=whole_text)
    return _of_unit(dispute, place, dispute.unit_judged, person, filters)


def lit(
    units: Sequence[TextUnit],
    voices: Sequence[NamelessVoice],
    *,
    found: Iterable[int] = (),
    whole_text: bool = True,
) -> tuple[LitPassage, ...]:
    """The passages of a text with every voice's evidence lit; `found` are places from 0."""
    places = frozenset(found)
    pointing = [_letters(unit.number, voices) for unit in units]
    interesting = {place for place, letters in enumerate(pointing) if letters} | places
    shown = shown_places(len(units), interesting, whole_text=whole_text)
    before = -1
    passages: list[LitPassage] = []
    for place in shown:
        unit = units[place]
        passages.append(
            LitPassage(
                number=unit.number,
                text=unit.text,
                letters=pointing[place],
                is_found=place in places,
                follows_gap=place != before + 1,
                opens=unit.opens,
            )
        )
        before = place
    return tuple(passages)


def _of_check(
    dispute: Dispute, check: Check, person: User, filters: DisputeFilter, *, whole_text: bool
) -> DisputeView:
    texts = texts_around(check)
    units = texts.compared
    voices = voices_on_check(check, person)
    found = found_passages(check.claim.text, [unit.text for unit in units])
    return _view(
        dispute,
        person,
        filters,
        side=check.side,
        unit_number=check.claim.unit.position if check.claim.unit else None,
        context=texts.context,
        passages=lit(units, voices, found=found, whole_text=whole_text),
        text_units=len(units),
        voices=voices,
        document_set=check.peer.document_set.external_id,
        summary_id=check.peer.public_id,
        target_id=check.public_id,
    )


def _of_unit(
    dispute: Dispute, comparison: Comparison, unit: Unit | Claim, person: User, filters: DisputeFilter
) -> DisputeView:
    units = text_of(comparison.peer)
    voices = voices_on_unit(comparison, unit, person)
    is_claim = isinstance(unit, Claim)
    context = () if is_claim else tuple(_model_units(comparison, unit.position))
    return _view(
        dispute,
        person,
        filters,
        side=Check.Side.REFERENCE,
        unit_number=unit.position,
        context=context,
        passages=lit(units, voices),
        text_units=len(units),
        voices=voices,
        document_set=comparison.peer.document_set.external_id,
        summary_id=comparison.peer.public_id,
        target_id=comparison.public_id,
    )


def _view(
    dispute: Dispute,
    person: User,
    filters: DisputeFilter,
    *,
    side: str,
    unit_number: int | None,
    context: tuple[ContextUnit, ...],
    passages: tuple[LitPassage, ...],
    text_units: int,
    voices: tuple[NamelessVoice, ...],
    document_set: str,
    summary_id: str,
    target_id: str,
) -> DisputeView:
    is_own = has_judged(dispute.place, dispute.unit or dispute.claim, person)
    left, is_all = left_in(dispute.project, person, filters)
    return DisputeView(
        dispute_id=dispute.public_id,
        kind=kind_of(dispute),
        side=side,
        why=dispute.why,
        state=dispute.state,
        spread=dispute.spread,
        statement=words_of(dispute),
        unit_number=unit_number,
        context=context,
        passages=passages,
        is_whole_text=len(passages) == text_units,
        text_units=text_units,
        voices=voices,
        decisions=tuple(_decisions(dispute, person, voices)),
        document_set=document_set,
        summary_id=summary_id,
        target_id=target_id,
        held_by=held_by(dispute, person),
        is_own=is_own,
        may_decide=dispute.project.own_adjudication or not is_own,
        left=left,
        is_left_counted_out=is_all,
    )


def _decisions(dispute: Dispute, person: User, voices: Sequence[NamelessVoice]) -> Iterator[MadeDecision]:
    """Every decision, oldest first."""
    for row in decisions_on(dispute).order_by("pk"):
        yield MadeDecision(
            decision_id=row.public_id,
            answer=row.label or f"{row.percent} %",
            reason=row.reason,
            error_type=row.get_error_type_display() if row.error_type else "",
            is_guideline_gap=row.is_guideline_gap,
            is_against_all=row.is_against_all,
            adopted=_letter_of(row, voices),
            is_own=row.decided_by_id == person.pk,
            at=row.created_at,
            is_withdrawn=row.withdrawn_at is not None,
        )


def _letter_of(decision: Adjudication, voices: Sequence[NamelessVoice]) -> str:
    """The letter of the voice that was accepted, where it still stands."""
    for voice in voices:
        is_verdict = voice.verdict is not None and voice.verdict.pk == decision.adopted_verdict_id
        is_judgment = voice.judgment is not None and voice.judgment.pk == decision.adopted_judgment_id
        if is_verdict or is_judgment:
            return voice.letter
    return ""


def _model_units(comparison: Comparison, here: int) -> Iterator[ContextUnit]:
    """The whole model summary, with the unit in question marked."""
    for unit in text_of(comparison.model):
        yield ContextUnit(number=unit.number, text=unit.text, is_here=unit.number == here)


def _letters(number: int, voices: Sequence[NamelessVoice]) -> tuple[str, ...]:
    return tuple(voice.letter for voice in voices if number in voice.evidence)


def decision_of(project: Project, public_id: str) -> Adjudication:
    """The decision of that public id in the project. Raises NotFound."""
    found = _decision_rows(project).filter(public_id=public_id).first()
    if found is None:
        raise NotFound("There is no such decision in this project.")
    return found


def own_decision(project: Project, public_id: str, by: User) -> Adjudication | None:
    """The same where it stands and is the person's own, else None."""
    own = _decision_rows(project).filter(decided_by=by, withdrawn_at=None, public_id=public_id)
    return own.first() if public_id else None


def _decision_rows(project: Project) -> QuerySet[Adjudication]:
    return Adjudication.objects.filter(
        Q(check_row__project=project) | Q(comparison__peer__document_set__project=project)
    ).select_related(
        "check_row__project",
        "check_row__peer__document_set",
        "comparison__peer__document_set__project",
        "unit",
        "claim",
    )
