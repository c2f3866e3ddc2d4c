"""An adjudicator settles a check or a unit's percent, takes a decision back, or takes a settled one up again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone

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
from annotation.permissions import Verb, require
from annotation.queries.disputes import about
from annotation.queries.guidelines import current_id
from annotation.queries.voices import Voice, adopted, voices_on_check, voices_on_unit
from annotation.refusals import Conflict, Invalid, NotAllowed
from annotation.services.events import log
from annotation.services.rescore import rescore_now
from annotation.services.review import NOT_LOOKED, lock
from annotation.services.take_dispute import LEASE

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.db.models import QuerySet


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
    where `by` is one of the voices and the project leaves such checks to others; Conflict (code `newer_voices`)
    where the adopted answer was changed or taken back, (code `newer_claim`) where the claim was.
    """
    require(by, check.project, Verb.ADJUDICATE)
    if label and label not in Label.values:
        raise Invalid(f"A decision is yes, no or unsure, not {label!r}.", field="label")
    _check_error_type(error_type)
    check = lock(check)
    project = check.project
    voices = voices_on_check(check, by)
    _keep_own_apart(project, voices)
    if not check.is_current:
        raise Conflict(
            "The claim was put into other words since you opened the page, and the new one is checked instead.",
            code="newer_claim",
        )
    voice = _adopted(voices, adopt)
    _compare(
        _standing(Adjudication.objects.filter(check_row=check)),
        by=by,
        seen=seen,
        yours={"label": voice.label if voice else label, "reason": reason},
    )
    chosen = (voice.label if voice else "") or label
    if not chosen or (voice is not None and label not in ("", voice.label)):
        raise Invalid("Take over one of the answers, or give one of your own.", field="label")
    is_against_all = voice is None and all(each.label != chosen for each in voices)
    _need_reason(reason, is_against_all=is_against_all, voices=voices)
    decision = Adjudication.objects.create(
        check_row=check,
        label=chosen,
        reason=reason.strip(),
        error_type=error_type,
        is_guideline_gap=is_guideline_gap,
        adopted_verdict=voice.verdict if voice else None,
        is_against_all=is_against_all,
        guideline_id=current_id(project),
        decided_by=by,
    )
    _finish(project, Dispute.objects.filter(check_row=check), peer_id=check.peer_id)
    log(
        project=project,
        actor=by,
        verb="adjudicate",
        target=check,
        data={"decision": decision.public_id, "label": chosen, **_said_of(decision)},
    )
    return decision


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
    project = comparison.peer.document_set.project
    require(by, project, Verb.ADJUDICATE)
    if percent is not None and not 0 <= percent <= 100:
        raise Invalid("A percent lies between 0 and 100.", field="percent")
    _check_error_type(error_type)
    text_id = unit.summary_id if isinstance(unit, Unit) else unit.claim_set.summary_id
    if text_id != comparison.model_id:
        raise Invalid("That unit does not belong to the model summary of this comparison.", field="unit")
    Summary.objects.select_for_update().only("pk").get(pk=comparison.peer_id)
    _check_cut(unit)
    voices = voices_on_unit(comparison, unit, by)
    _keep_own_apart(project, voices)
    voice = _adopted(voices, adopt)
    place = {"unit": unit} if isinstance(unit, Unit) else {"claim": unit}
    _compare(
        _standing(Adjudication.objects.filter(comparison=comparison, **place)),
        by=by,
        seen=seen,
        yours={"percent": voice.percent if voice else percent, "reason": reason},
    )
    chosen = voice.percent if voice else percent
    if chosen is None or (voice is not None and percent not in (None, voice.percent)):
        raise Invalid("Take over one of the percents, or give one of your own.", field="percent")
    is_against_all = voice is None and all(each.percent != chosen for each in voices)
    _need_reason(reason, is_against_all=is_against_all, voices=voices)
    decision = Adjudication.objects.create(
        comparison=comparison,
        unit=unit if isinstance(unit, Unit) else None,
        claim=unit if isinstance(unit, Claim) else None,
        percent=chosen,
        reason=reason.strip(),
        error_type=error_type,
        is_guideline_gap=is_guideline_gap,
        adopted_judgment=voice.judgment if voice else None,
        is_against_all=is_against_all,
        guideline_id=current_id(project),
        decided_by=by,
    )
    _finish(project, Dispute.objects.filter(comparison=comparison, **place), peer_id=comparison.peer_id)
    log(
        project=project,
        actor=by,
        verb="adjudicate",
        target=comparison,
        data={
            "decision": decision.public_id,
            "unit": unit.public_id,
            "percent": chosen,
            **_said_of(decision),
        },
    )
    return decision


@transaction.atomic
def withdraw_decision(*, decision: Adjudication, by: User) -> Adjudication:
    """Take a decision back; what stood before it stands again, and `by` has it in hand. Twice changes nothing.

    Raises NotAllowed (code `own_judgment`) where it is somebody else's and `by` is one of the voices.
    """
    target = _target(decision)
    project = _project(target)
    require(by, project, Verb.ADJUDICATE)
    Summary.objects.select_for_update().only("pk").get(pk=target.peer_id)
    decision.refresh_from_db()
    if decision.withdrawn_at is not None:
        return decision
    _keep_decision_apart(decision, by)
    decision.withdrawn_at = timezone.now()
    decision.save(update_fields=["withdrawn_at"])
    rescore_now(project=project, summary_ids=[target.peer_id])
    _take_up(about(decision), by)
    log(
        project=project,
        actor=by,
        verb="withdraw decision",
        target=target,
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
    place = dispute.check_row or dispute.comparison
    assert place is not None, "the database holds a dispute to one of the two"
    Summary.objects.select_for_update().only("pk").get(pk=place.peer_id)
    standing = list(decisions_on(dispute).filter(withdrawn_at=None).order_by("pk"))
    if not standing:
        return []
    latest = standing[-1]
    _compare(latest, by=by, seen=seen, yours={"reason": reason})
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


def decisions_on(dispute: Dispute) -> QuerySet[Adjudication]:
    """Every decision that was ever made on what a dispute is about."""
    if dispute.check_row_id is not None:
        return Adjudication.objects.filter(check_row=dispute.check_row_id)
    return Adjudication.objects.filter(
        comparison=dispute.comparison_id, unit=dispute.unit_id, claim=dispute.claim_id
    )


def _finish(project: Project, disputes: QuerySet[Dispute], *, peer_id: int) -> None:
    """The scores follow, and whoever had it in hand lays it down."""
    rescore_now(project=project, summary_ids=[peer_id])
    disputes.filter(lease_until__isnull=False).update(leased_to=None, lease_until=None)


def _take_up(disputes: QuerySet[Dispute], by: User) -> None:
    disputes.filter(state=Dispute.State.OPEN).update(leased_to=by, lease_until=timezone.now() + LEASE)


def _said_of(decision: Adjudication) -> dict[str, object]:
    """What a decision says beside its answer, as the log keeps it."""
    row = decision.adopted_verdict or decision.adopted_judgment
    return {
        "reason": decision.reason,
        "error_type": decision.error_type,
        "is_guideline_gap": decision.is_guideline_gap,
        "adopted": row.public_id if row else None,
        "is_against_all": decision.is_against_all,
    }


def _adopted(voices: Sequence[Voice], token: str) -> Voice | None:
    if not token:
        return None
    voice = adopted(voices, token)
    if voice is None:
        raise Conflict(
            "The answer that you took over was changed or taken back since you opened the page. Look at what is "
            "said now, then decide.",
            code="newer_voices",
        )
    return voice


def is_left_to_others(project: Project, voices: Sequence[Voice]) -> bool:
    """Whether one of the voices is the adjudicator's own, and the project leaves such disputes to somebody else."""
    return not project.own_adjudication and any(voice.is_own for voice in voices)


def may_withdraw(decision: Adjudication, by: User) -> bool:
    """Whether `by` may take this decision back: their own, and any on what they have not answered themselves.

    Roles are not looked at here; where the project lets people settle what they judged, any decision will do.
    """
    if decision.decided_by_id == by.pk:
        return True
    return not is_left_to_others(_project(_target(decision)), _voices(decision, by))


def _keep_own_apart(project: Project, voices: Sequence[Voice]) -> None:
    if is_left_to_others(project, voices):
        raise _own_judgment()


def _keep_decision_apart(decision: Adjudication, by: User) -> None:
    if not may_withdraw(decision, by):
        raise _own_judgment()


def _own_judgment() -> NotAllowed:
    return NotAllowed(
        "One of these answers is your own, and in this project nobody settles what they have judged themselves. "
        "Leave it to another adjudicator.",
        code="own_judgment",
    )


def _compare(newest: Adjudication | None, *, by: User, seen: str, yours: dict[str, object]) -> None:
    if seen in (NOT_LOOKED, newest.public_id if newest else ""):
        return
    theirs = _told(newest) if newest else None
    is_own = newest is not None and newest.decided_by_id == by.pk
    did = (
        "You decided this in another window"
        if is_own
        else f"Somebody {'decided this' if newest else 'took the decision back'} since you opened it"
    )
    raise Conflict(
        f"{did}. Yours is kept here: look at what stands now, then decide again.",
        code="newer_decision",
        details={"yours": yours, "theirs": theirs, "is_own": is_own},
    )


def _told(decision: Adjudication) -> dict[str, object]:
    value = {"label": decision.label} if decision.label else {"percent": decision.percent}
    return {**value, "reason": decision.reason, "id": decision.public_id}


def _standing(decisions: QuerySet[Adjudication]) -> Adjudication | None:
    return decisions.filter(withdrawn_at=None).order_by("-pk").first()


def _need_reason(reason: str, *, is_against_all: bool, voices: Sequence[Voice]) -> None:
    if is_against_all and not reason.strip():
        said = "nobody who was asked said so" if voices else "nobody was asked"
        raise Invalid(f"Say why: {said}.", field="reason")


def _check_error_type(error_type: str) -> None:
    if error_type and error_type not in ErrorType.values:
        raise Invalid(
            f"An error type is one of {', '.join(ErrorType.values)}, not {error_type!r}.", field="error_type"
        )


def _check_cut(unit: Unit | Claim) -> None:
    if isinstance(unit, Unit) and not Unit.objects.filter(pk=unit.pk).exists():
        raise Conflict(
            "This unit was joined or split since you opened the page. Load it anew, then decide on the units that "
            "stand now.",
            code="newer_cut",
        )
    if isinstance(unit, Claim) and not Claim.objects.filter(pk=unit.pk, claim_set__is_active=True).exists():
        raise Conflict(
            "The claims were changed since you opened the page. Load it anew, then decide on those that stand now.",
            code="newer_cut",
        )


def _target(decision: Adjudication) -> Check | Comparison:
    target: Check | Comparison | None = decision.check_row or decision.comparison
    assert target is not None, "the database holds a decision to one of the two"
    return target


def _project(target: Check | Comparison) -> Project:
    return target.project if isinstance(target, Check) else target.peer.document_set.project


def _voices(decision: Adjudication, by: User) -> tuple[Voice, ...]:
    target = _target(decision)
    if isinstance(target, Check):
        return voices_on_check(target, by)
    unit = decision.unit or decision.claim
    assert unit is not None, "the database holds such a decision to a unit or a claim"
    return voices_on_unit(target, unit, by)
