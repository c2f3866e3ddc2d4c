"""An adjudicator settles a check or a unit's percent, takes a decision back, or takes a settled one up again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone

from annotation.adjudicating.queries.disputes import about, decisions_on
from annotation.adjudicating.queries.voices import (
    NamelessVoice,
    adopted,
    is_left_to_others,
    voices_on_check,
    voices_on_unit,
)
from annotation.adjudicating.services.take_dispute import DISPUTE_LEASE
from annotation.core.events import log
from annotation.core.guidelines import current_id
from annotation.core.permissions import Verb, require
from annotation.core.refusals import Conflict, Invalid, NotAllowed
from annotation.models import (
    Adjudication,
    Check,
    Claim,
    Comparison,
    Dispute,
    ErrorType,
    Label,
    Project,
    Summary,
    Unit,
)
from annotation.reviewing.services.review import NOT_LOOKED, check_reason, lock
from annotation.scoring.rescore import rescore_now
from evaluation.judging import LABELS_IN_WORDS

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.db.models import QuerySet


@dataclass(frozen=True, slots=True)
class DecisionDetails:
    """What an adjudicator says beside the answer itself: see `decide_check`."""

    by: User
    adopt: str
    reason: str
    error_type: str
    is_guideline_gap: bool
    seen: str

    def check(self) -> None:
        """Raises Invalid."""
        check_reason(self.reason)
        _check_error_type(self.error_type)


@transaction.atomic
def settle(
    *,
    dispute: Dispute,
    by: User,
    label: str = "",
    percent: int | None = None,
    again: bool = False,
    adopt: str = "",
    reason: str = "",
    error_type: str = "",
    is_guideline_gap: bool = False,
    seen: str = NOT_LOOKED,
) -> Adjudication:
    """Resolve a disagreement by a label where a check is disputed, a percent where a unit is, or an accepted answer.

    With `again` the decisions that stand are taken back first, as by `reopen_dispute`: both or neither. All else is as
    for `decide_check` and `decide_unit`, also what is raised; Invalid for a percent on a check and a label on a unit.
    """
    if again:
        reopen_dispute(dispute=dispute, by=by, reason=reason, seen=seen)
        # Nothing stands any more, and nobody else gets between the two.
        seen = ""
    said = DecisionDetails(by, adopt, reason, error_type, is_guideline_gap, seen)
    place = dispute.place
    if isinstance(place, Check):
        if percent is not None:
            raise Invalid("A check is answered by a label.", field="percent")
        return _decide_check(place, label, said)
    if label:
        raise Invalid("A unit is answered by a percent.", field="label")
    return _decide_unit(place, dispute.unit_judged, percent, said)


@transaction.atomic
def decide_check(
    *,
    check: Check,
    by: User,
    label: str = "",
    adopt: str = "",
    reason: str = "",
    error_type: str = "",
    is_guideline_gap: bool = False,
    seen: str = NOT_LOOKED,
) -> Adjudication:
    """Settle a check: the label stands above every verdict until it is withdrawn.

    `adopt` is the token of a voice whose answer is taken over; else `label` is the decision. Where nobody among
    the voices gave that answer a reason is compulsory. The scores follow in the same transaction. `seen` is the
    public id of the decision that `by` had on screen ("" for none): where another one stands by now, Conflict
    (code `newer_decision`) carries both and nothing is written. Raises NotAllowed (code `own_judgment`)
    where `by` has judged it, also if they took that back, and the project leaves such checks to others; Conflict (code
    `newer_voices`)
    where the adopted answer was changed or taken back, (code `newer_claim`) where the claim was.
    """
    return _decide_check(check, label, DecisionDetails(by, adopt, reason, error_type, is_guideline_gap, seen))


@transaction.atomic
def decide_unit(
    *,
    comparison: Comparison,
    unit: Unit | Claim,
    by: User,
    percent: int | None = None,
    adopt: str = "",
    reason: str = "",
    error_type: str = "",
    is_guideline_gap: bool = False,
    seen: str = NOT_LOOKED,
) -> Adjudication:
    """Settle how much of a model unit the peer summary expresses, 0 to 100.

    `unit` is a claim where claims stand in for units. The percent stands above every assessor's
    until it is withdrawn. All else is as for `decide_check`, also what is raised.
    """
    said = DecisionDetails(by, adopt, reason, error_type, is_guideline_gap, seen)
    return _decide_unit(comparison, unit, percent, said)


def _decide_check(check: Check, label: str, said: DecisionDetails) -> Adjudication:
    require(said.by, check.project, Verb.ADJUDICATE)
    if label and label not in Label.values:
        raise Invalid(f"A decision is {LABELS_IN_WORDS}, not {label!r}.", field="label")
    said.check()
    check = lock(check)
    voices = voices_on_check(check, said.by)
    _keep_own_apart(check.project, check, None, said.by)
    if not check.is_current:
        raise Conflict(
            "The claim was reworded or removed after you opened the page, so it is no longer checked.",
            code="newer_claim",
        )
    voice = _adopted(voices, said.adopt)
    chosen = (voice.label if voice else "") or label
    _compare(Adjudication.objects.filter(check_row=check), said, yours={"label": chosen})
    if not chosen or (voice is not None and label not in ("", voice.label)):
        raise Invalid("Accept one of the answers, or give your own.", field="label")
    is_new = voice is None and all(each.label != chosen for each in voices)
    decision = Adjudication(check_row=check, label=chosen, is_against_all=is_new)
    return _keep(decision, said, voices, voice, told={"label": chosen})


def _decide_unit(
    comparison: Comparison, unit: Unit | Claim, percent: int | None, said: DecisionDetails
) -> Adjudication:
    project = comparison.peer.document_set.project
    require(said.by, project, Verb.ADJUDICATE)
    if percent is not None and not 0 <= percent <= 100:
        raise Invalid("A percent must be between 0 and 100.", field="percent")
    said.check()
    text_id = unit.summary_id if isinstance(unit, Unit) else unit.claim_set.summary_id
    if text_id != comparison.model_id:
        raise Invalid("That unit does not belong to the model summary of this comparison.", field="unit")
    Summary.objects.select_for_update().only("pk").get(pk=comparison.peer_id)
    _check_cut(unit)
    voices = voices_on_unit(comparison, unit, said.by)
    _keep_own_apart(project, comparison, unit, said.by)
    voice = _adopted(voices, said.adopt)
    chosen = voice.percent if voice else percent
    place = {"unit": unit} if isinstance(unit, Unit) else {"claim": unit}
    decisions = Adjudication.objects.filter(comparison=comparison, **place)
    _compare(decisions, said, yours={"percent": chosen})
    if chosen is None or (voice is not None and percent not in (None, voice.percent)):
        raise Invalid("Accept one of the percents, or give your own.", field="percent")
    is_new = voice is None and all(each.percent != chosen for each in voices)
    decision = Adjudication(comparison=comparison, **place, percent=chosen, is_against_all=is_new)
    return _keep(decision, said, voices, voice, told={"unit": unit.public_id, "percent": chosen})


def _keep(
    decision: Adjudication,
    said: DecisionDetails,
    voices: Sequence[NamelessVoice],
    voice: NamelessVoice | None,
    *,
    told: Mapping[str, object],
) -> Adjudication:
    """Write a decision with all that is said beside it; the scores follow, and its dispute is in hand no more.

    `told` is the answer as the log keeps it.
    """
    if decision.is_against_all and not said.reason.strip():
        nobody = "nobody gave this answer" if voices else "there are no answers"
        raise Invalid(f"Give a reason: {nobody}.", field="reason")
    place = decision.place
    project = _project(place)
    decision.reason = said.reason.strip()
    decision.error_type = said.error_type
    decision.is_guideline_gap = said.is_guideline_gap
    decision.adopted_verdict = voice.verdict if voice else None
    decision.adopted_judgment = voice.judgment if voice else None
    decision.guideline_id = current_id(project)
    decision.decided_by = said.by
    decision.save()
    rescore_now(project=project, summary_ids=[place.peer_id])
    about(decision).filter(lease_until__isnull=False).update(leased_to=None, lease_until=None)
    adopted_row = decision.adopted_verdict or decision.adopted_judgment
    log(
        project=project,
        actor=said.by,
        verb="adjudicate",
        target=place,
        data={
            "decision": decision.public_id,
            **told,
            "reason": decision.reason,
            "error_type": decision.error_type,
            "is_guideline_gap": decision.is_guideline_gap,
            "adopted": adopted_row.public_id if adopted_row else None,
            "is_against_all": decision.is_against_all,
        },
    )
    return decision


@transaction.atomic
def withdraw_decision(*, decision: Adjudication, by: User) -> Adjudication:
    """Take a decision back; what stood before it stands again, and `by` has it in hand. Twice changes nothing.

    Raises NotAllowed (code `own_judgment`) where it is somebody else's and `by` has judged it.
    """
    place = decision.place
    project = _project(place)
    require(by, project, Verb.ADJUDICATE)
    Summary.objects.select_for_update().only("pk").get(pk=place.peer_id)
    decision.refresh_from_db()
    if decision.withdrawn_at is not None:
        return decision
    _keep_decision_apart(decision, by)
    decision.withdrawn_at = timezone.now()
    decision.save(update_fields=["withdrawn_at"])
    rescore_now(project=project, summary_ids=[place.peer_id])
    _take_up(about(decision), by)
    log(
        project=project,
        actor=by,
        verb="withdraw decision",
        target=place,
        data={"decision": decision.public_id},
    )
    return decision


@transaction.atomic
def reopen_dispute(
    *, dispute: Dispute, by: User, reason: str = "", seen: str = NOT_LOOKED
) -> list[Adjudication]:
    """Take a settled dispute up again: every decision on it is withdrawn, and `by` has it in hand.

    Gives the decisions that were withdrawn; none where it was open, and then nothing is written. `seen` and what
    is raised are as for `decide_check`.
    """
    require(by, dispute.project, Verb.ADJUDICATE)
    check_reason(reason)
    place = dispute.place
    Summary.objects.select_for_update().only("pk").get(pk=place.peer_id)
    decisions = decisions_on(dispute)
    standing = list(decisions.filter(withdrawn_at=None).order_by("pk"))
    if not standing:
        return []
    _compare(decisions, DecisionDetails(by, "", reason, "", False, seen), yours={})
    for decision in standing:
        _keep_decision_apart(decision, by)
    now = timezone.now()
    for decision in standing:
        decision.withdrawn_at = now
        decision.save(update_fields=["withdrawn_at"])
    rescore_now(project=dispute.project, summary_ids=[place.peer_id])
    _take_up(Dispute.objects.filter(pk=dispute.pk), by)
    log(
        project=dispute.project,
        actor=by,
        verb="reopen dispute",
        target=place,
        data={
            "dispute": dispute.public_id,
            "decisions": [decision.public_id for decision in standing],
            "reason": reason.strip(),
        },
    )
    return standing


def _take_up(disputes: QuerySet[Dispute], by: User) -> None:
    disputes.filter(state=Dispute.State.OPEN).update(leased_to=by, lease_until=timezone.now() + DISPUTE_LEASE)


def _adopted(voices: Sequence[NamelessVoice], token: str) -> NamelessVoice | None:
    if not token:
        return None
    voice = adopted(voices, token)
    if voice is None:
        raise Conflict(
            "The answer that you accepted was changed or withdrawn after you opened the page. Check the "
            "current answers, then decide.",
            code="newer_voices",
        )
    return voice


def may_withdraw(decision: Adjudication, by: User) -> bool:
    """Whether `by` may take this decision back: their own, and any on what they have never answered themselves.

    Roles are not looked at here; where the project lets people settle what they judged, any decision will do.
    """
    if decision.decided_by_id == by.pk:
        return True
    place = decision.place
    return not is_left_to_others(_project(place), place, decision.unit or decision.claim, by)


def _keep_own_apart(project: Project, place: Check | Comparison, unit: Unit | Claim | None, by: User) -> None:
    if is_left_to_others(project, place, unit, by):
        raise _own_judgment()


def _keep_decision_apart(decision: Adjudication, by: User) -> None:
    if not may_withdraw(decision, by):
        raise _own_judgment()


def _own_judgment() -> NotAllowed:
    return NotAllowed(
        "You have judged this yourself. In this project, another adjudicator must resolve it, even if you "
        "withdraw your answer.",
        code="own_judgment",
    )


def _compare(
    decisions: QuerySet[Adjudication], said: DecisionDetails, *, yours: Mapping[str, object]
) -> None:
    """Refuse where another of these decisions stands than the one that was on screen."""
    newest = decisions.filter(withdrawn_at=None).order_by("-pk").first()
    if said.seen in (NOT_LOOKED, newest.public_id if newest else ""):
        return
    theirs = _told(newest) if newest else None
    is_own = newest is not None and newest.decided_by_id == said.by.pk
    did = (
        "You decided this in another window"
        if is_own
        else f"Someone {'decided this' if newest else 'withdrew the decision'} after you opened it"
    )
    raise Conflict(
        f"{did}. Your decision is kept here. Compare both, then decide again.",
        code="newer_decision",
        details={"yours": {**yours, "reason": said.reason}, "theirs": theirs, "is_own": is_own},
    )


def _told(decision: Adjudication) -> dict[str, object]:
    value = {"label": decision.label} if decision.label else {"percent": decision.percent}
    return {**value, "reason": decision.reason, "id": decision.public_id}


def _check_error_type(error_type: str) -> None:
    if error_type and error_type not in ErrorType.values:
        raise Invalid(
            f"An error type is one of {', '.join(ErrorType.values)}, not {error_type!r}.", field="error_type"
        )


def _check_cut(unit: Unit | Claim) -> None:
    if isinstance(unit, Unit) and not Unit.objects.filter(pk=unit.pk).exists():
        raise Conflict(
            "This unit was joined or split after you opened the page. Reload it, then decide on the current "
            "units.",
            code="newer_cut",
        )
    if isinstance(unit, Claim) and not Claim.objects.filter(pk=unit.pk, claim_set__is_active=True).exists():
        raise Conflict(
            "The claims were changed after you opened the page. Reload it, then decide on the current claims.",
            code="newer_cut",
        )


def _project(place: Check | Comparison) -> Project:
    return place.project if isinstance(place, Check) else place.peer.document_set.project
