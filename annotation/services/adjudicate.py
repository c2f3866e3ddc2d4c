"""An adjudicator settles a check or a unit's percent, or takes a decision back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone

from annotation.models import Adjudication, Check, Claim, Comparison, Label, Summary, Unit
from annotation.permissions import Verb, require
from annotation.refusals import Conflict, Invalid
from annotation.services.events import log
from annotation.services.rescore import rescore_now
from annotation.services.review import lock

if TYPE_CHECKING:
    from django.contrib.auth.models import User


@transaction.atomic
def decide_check(*, check: Check, by: User, label: str, reason: str) -> Adjudication:
    """Settle a check: the label stands above every verdict until it is withdrawn.

    A reason is compulsory. The scores follow in the same transaction.
    """
    require(by, check.project, Verb.ADJUDICATE)
    if label not in Label.values:
        raise Invalid(f"A decision is yes, no or unsure, not {label!r}.", field="label")
    _need_reason(reason)
    check = lock(check)
    decision = Adjudication.objects.create(check_row=check, label=label, reason=reason.strip(), decided_by=by)
    rescore_now(project=check.project, summary_ids=[check.peer_id])
    log(
        project=check.project,
        actor=by,
        verb="adjudicate",
        target=check,
        data={"decision": decision.public_id, "label": label, "reason": decision.reason},
    )
    return decision


@transaction.atomic
def decide_unit(
    *, comparison: Comparison, unit: Unit | Claim, by: User, percent: int, reason: str
) -> Adjudication:
    """Settle how much of a model unit the peer summary expresses.

    `unit` is a claim where claims stand in for units. The percent stands above every assessor's
    until it is withdrawn. A reason is compulsory.
    """
    project = comparison.peer.document_set.project
    require(by, project, Verb.ADJUDICATE)
    _need_reason(reason)
    if not 0 <= percent <= 100:
        raise Invalid("A percent lies between 0 and 100.", field="percent")
    text_id = unit.summary_id if isinstance(unit, Unit) else unit.claim_set.summary_id
    if text_id != comparison.model_id:
        raise Invalid("That unit does not belong to the model summary of this comparison.", field="unit")
    Summary.objects.select_for_update().only("pk").get(pk=comparison.peer_id)
    if isinstance(unit, Unit) and not Unit.objects.filter(pk=unit.pk).exists():
        raise Conflict(
            "This unit was joined or split since you opened the page. Load it anew, then decide on the units that "
            "stand now.",
            code="newer_cut",
        )
    decision = Adjudication.objects.create(
        comparison=comparison,
        unit=unit if isinstance(unit, Unit) else None,
        claim=unit if isinstance(unit, Claim) else None,
        percent=percent,
        reason=reason.strip(),
        decided_by=by,
    )
    rescore_now(project=project, summary_ids=[comparison.peer_id])
    log(
        project=project,
        actor=by,
        verb="adjudicate",
        target=comparison,
        data={
            "decision": decision.public_id,
            "unit": unit.public_id,
            "percent": percent,
            "reason": decision.reason,
        },
    )
    return decision


@transaction.atomic
def withdraw_decision(*, decision: Adjudication, by: User) -> Adjudication:
    """Take a decision back; what stood before it stands again. Twice changes nothing."""
    target: Check | Comparison | None = decision.check_row or decision.comparison
    assert target is not None, "the database holds a decision to one of the two"
    project = target.project if isinstance(target, Check) else target.peer.document_set.project
    require(by, project, Verb.ADJUDICATE)
    Summary.objects.select_for_update().only("pk").get(pk=target.peer_id)
    decision.refresh_from_db()
    if decision.withdrawn_at is not None:
        return decision
    decision.withdrawn_at = timezone.now()
    decision.save(update_fields=["withdrawn_at"])
    rescore_now(project=project, summary_ids=[target.peer_id])
    log(
        project=project,
        actor=by,
        verb="withdraw decision",
        target=target,
        data={"decision": decision.public_id},
    )
    return decision


def _need_reason(reason: str) -> None:
    if not reason.strip():
        raise Invalid("Say why: a decision stands against what others said.", field="reason")
