"""A reviewer answers a check, or takes an answer back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone

from annotation.models import Check, Label, Summary, Verdict
from annotation.permissions import Verb, require
from annotation.refusals import Conflict, Invalid, NotAllowed
from annotation.services.events import log
from annotation.services.rescore import rescore_now

if TYPE_CHECKING:
    from django.contrib.auth.models import User

NOT_LOOKED = "not looked"


@transaction.atomic
def override(
    *,
    check: Check,
    by: User,
    label: str,
    reason: str = "",
    evidence: Sequence[int] = (),
    confidence: float | None = None,
    shown: str = Verdict.Shown.NOTHING,
    seen: str = NOT_LOOKED,
) -> Verdict:
    """Record a reviewer's verdict on a check, confirming or changing what stood before.

    The summary's final scores follow in the same transaction. `seen` is the public id of the
    last reviewer's verdict that `by` had on screen ("" for none): where another one has arrived
    since, Conflict (code `newer_verdict`) carries both answers and nothing is written; `is_own` in
    it tells that `by` gave it, in another window. Left out, no such test is made. `shown` tells
    what `by` had seen of the judge. Evidence holds unit numbers of the text that the claim is held
    against.
    """
    require(by, check.project, Verb.REVIEW)
    _validate(label=label, confidence=confidence, evidence=evidence)
    check = lock(check)
    newest = _newest_review(check)
    if seen not in (NOT_LOOKED, newest.public_id if newest else ""):
        raise _conflict(check, by=by, label=label, reason=reason, newest=newest, seen=seen)
    before = (check.final_label, check.final_source)
    verdict = Verdict.objects.create(
        check_row=check,
        source=Verdict.Source.REVIEWER,
        person=by,
        label=label,
        confidence=confidence,
        evidence=sorted(set(evidence)),
        reason=reason.strip(),
        shown=shown,
    )
    rescore_now(project=check.project, summary_ids=[check.peer_id])
    log(
        project=check.project,
        actor=by,
        verb="override",
        target=check,
        data={
            "verdict": verdict.public_id,
            "label": label,
            "reason": verdict.reason,
            "final_before": before[0],
            "final_source_before": before[1],
            "shown": shown,
        },
    )
    return verdict


@transaction.atomic
def withdraw_verdict(*, verdict: Verdict, by: User) -> Verdict:
    """Take back one's own verdict; the one before it stands again.

    Withdrawing twice changes nothing. Raises NotAllowed for another person's verdict.
    """
    check = lock(verdict.check_row)
    require(by, check.project, Verb.REVIEW)
    if verdict.person_id != by.pk:
        raise NotAllowed("Only the person who gave a verdict can take it back.")
    verdict.refresh_from_db()
    if verdict.withdrawn_at is not None:
        return verdict
    verdict.withdrawn_at = timezone.now()
    verdict.save(update_fields=["withdrawn_at"])
    rescore_now(project=check.project, summary_ids=[check.peer_id])
    log(
        project=check.project,
        actor=by,
        verb="withdraw verdict",
        target=check,
        data={"verdict": verdict.public_id, "label": verdict.label},
    )
    return verdict


def lock(check: Check) -> Check:
    """The check as it stands now, with its summary's row locked first and its own second.

    Every verb that decides a check takes the locks in this order, so that two of them wait for
    each other and never deadlock.
    """
    Summary.objects.select_for_update().only("pk").get(pk=check.peer_id)
    return Check.objects.select_for_update(of=("self",)).select_related("project", "peer").get(pk=check.pk)


def _validate(*, label: str, confidence: float | None, evidence: Sequence[int]) -> None:
    if label not in Label.values:
        raise Invalid(f"A verdict is yes, no or unsure, not {label!r}.", field="label")
    if confidence is not None and not 0 <= confidence <= 1:
        raise Invalid("Confidence lies between 0 and 1.", field="confidence")
    if any(number < 1 for number in evidence):
        raise Invalid("Evidence holds unit numbers, counted from 1.", field="evidence")


def _newest_review(check: Check) -> Verdict | None:
    return (
        Verdict.objects.filter(check_row=check, source=Verdict.Source.REVIEWER, withdrawn_at=None)
        .select_related("person")
        .order_by("-pk")
        .first()
    )


def _conflict(
    check: Check, *, by: User, label: str, reason: str, newest: Verdict | None, seen: str
) -> Conflict:
    """`is_own` tells that nobody but `by` came in between: they answered, or took it back, elsewhere."""
    theirs = {"label": newest.label, "reason": newest.reason, "id": newest.public_id} if newest else None
    changed = newest or Verdict.objects.filter(check_row=check, public_id=seen).first()
    is_own = changed is not None and changed.person_id == by.pk
    who = "You" if is_own else "Somebody"
    look = "look at the one from there" if is_own else "look at theirs"
    return Conflict(
        f"{who} answered this check since you opened it. Your answer is kept here: {look}, then answer again.",
        code="newer_verdict",
        details={"yours": {"label": label, "reason": reason}, "theirs": theirs, "is_own": is_own},
    )
