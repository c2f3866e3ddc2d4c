"""A reviewer answers a check, or takes an answer back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone

from annotation.models import Check, CheckLook, DrawnCheck, ErrorType, Label, Summary, Verdict
from annotation.permissions import Verb, require
from annotation.queries.check_text import text_held_against
from annotation.queries.guidelines import current_id
from annotation.queries.reveal import look_of
from annotation.refusals import Conflict, Invalid, NotAllowed, Refusal
from annotation.services.events import log
from annotation.services.look_at_check import disclose, reveal
from annotation.services.rescore import rescore_now

if TYPE_CHECKING:
    from django.contrib.auth.models import User

NOT_LOOKED = "not looked"
MOST_QUOTES = 50
LONGEST_MS = 2_147_483_647


@dataclass(frozen=True, slots=True)
class Quote:
    """A passage that a reviewer selected: the number of its unit, and where in the unit it lies (end exclusive)."""

    unit: int
    start: int
    end: int


@transaction.atomic
def override(
    *,
    check: Check,
    by: User,
    label: str,
    reason: str = "",
    evidence: Sequence[int] = (),
    quotes: Sequence[Quote] = (),
    error_type: str = "",
    confidence: float | None = None,
    shown: str = Verdict.Shown.NOTHING,
    active_ms: int = 0,
    seen: str = NOT_LOOKED,
) -> Verdict:
    """Record a reviewer's verdict on a check, confirming or changing what stood before.

    The summary's final scores follow in the same transaction. `seen` is the public id of the
    last reviewer's verdict that `by` had on screen ("" for none): where another one has arrived
    since, Conflict (code `newer_verdict`) carries both answers and nothing is written; `is_own` in
    it tells that `by` gave it, in another window. Somebody else who gave the same answer is no conflict: both
    are kept. Left out, no such test is made. Conflict too (code
    `claim_changed`) where the claim was reworded, split, joined or deleted since.

    What `by` had seen of the judge is known from their looks at the check and their answers to it; `shown` is
    what the caller knows beyond that. With the answer the judge's verdict is revealed to them; a planted one that
    they knew is disclosed. The first answer of somebody who knew nothing is also that of every draw in which
    the check waits.

    Evidence holds unit numbers of the text that the claim is held against, as it is cut now; those of `quotes`
    count among them. Invalid (field `evidence`) where that text has no such unit.
    `active_ms` is the time at the check before the answer.
    """
    require(by, check.project, Verb.REVIEW)
    _validate(label=label, confidence=confidence, evidence=evidence, error_type=error_type, quotes=quotes)
    if active_ms < 0:
        raise Invalid("Time at the check is 0 ms or more.", field="active_ms")
    check = lock(check)
    newest = _newest_review(check)
    if seen not in (NOT_LOOKED, newest.public_id if newest else "") and not _agrees(newest, by, label):
        raise _conflict(check, by=by, label=label, reason=reason, newest=newest, seen=seen)
    if not check.is_current:
        raise _claim_changed(label=label, reason=reason)
    named = sorted({*evidence, *(quote.unit for quote in quotes)})
    _check_units(check, named)
    before = (check.final_label, check.final_source)
    look = look_of(check, by)
    known = _known(check, by, look, claimed=shown)
    verdict = Verdict.objects.create(
        check_row=check,
        source=Verdict.Source.REVIEWER,
        person=by,
        label=label,
        confidence=confidence,
        evidence=named,
        quotes=[asdict(quote) for quote in quotes],
        error_type=error_type,
        reason=reason.strip(),
        shown=known,
        active_ms=min(active_ms, LONGEST_MS),
        guideline_id=current_id(check.project),
    )
    if known == Verdict.Shown.NOTHING:
        DrawnCheck.objects.filter(check_row=check, verdict__isnull=True).update(verdict=verdict)
    look = reveal(check=check, to=by, look=look)
    if known == Verdict.Shown.PLANTED:
        look.check_row, look.person = check, by
        disclose(look)
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
            "shown": known,
            **({"error_type": error_type} if error_type else {}),
        },
    )
    return verdict


def _known(check: Check, by: User, look: CheckLook | None, *, claimed: str) -> str:
    """What the person knew of the judge's verdict before this answer."""
    if look is not None and look.revealed_at is not None:
        is_fooled = look.planted_label is not None and look.disclosed_at is None
        return Verdict.Shown.PLANTED if is_fooled else Verdict.Shown.JUDGE
    if Verdict.objects.filter(check_row=check, person=by).exists():
        return Verdict.Shown.JUDGE
    return claimed


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


def _validate(
    *,
    label: str,
    confidence: float | None,
    evidence: Sequence[int],
    error_type: str,
    quotes: Sequence[Quote],
) -> None:
    if label not in Label.values:
        raise Invalid(f"A verdict is yes, no or unsure, not {label!r}.", field="label")
    if confidence is not None and not 0 <= confidence <= 1:
        raise Invalid("Confidence lies between 0 and 1.", field="confidence")
    if any(number < 1 for number in (*evidence, *(quote.unit for quote in quotes))):
        raise Invalid("Evidence holds unit numbers, counted from 1.", field="evidence")
    if error_type and error_type not in ErrorType.values:
        known = ", ".join(ErrorType.values)
        raise Invalid(f"An error is one of {known}, not {error_type!r}.", field="error_type")
    if len(quotes) > MOST_QUOTES:
        raise Invalid(f"At most {MOST_QUOTES} passages can be selected.", field="quotes")
    if any(not 0 <= quote.start < quote.end for quote in quotes):
        raise Invalid("A passage begins in its unit and ends after its beginning.", field="quotes")


def _check_units(check: Check, named: Sequence[int]) -> None:
    if not named:
        return
    known = {unit.number for unit in text_held_against(check)}
    unknown = next((number for number in named if number not in known), None)
    if unknown is not None:
        raise Invalid(f"There is no unit {unknown} here.", field="evidence")


def _newest_review(check: Check) -> Verdict | None:
    return (
        Verdict.objects.filter(check_row=check, source=Verdict.Source.REVIEWER, withdrawn_at=None)
        .select_related("person")
        .order_by("-pk")
        .first()
    )


def _agrees(newest: Verdict | None, by: User, label: str) -> bool:
    """Whether what came in between is the same answer of somebody else."""
    return newest is not None and newest.person_id != by.pk and newest.label == label


def _conflict(
    check: Check, *, by: User, label: str, reason: str, newest: Verdict | None, seen: str
) -> Conflict:
    """`is_own` tells that nobody but `by` came in between: they answered, or took it back, elsewhere."""
    theirs = {"label": newest.label, "reason": newest.reason, "id": newest.public_id} if newest else None
    changed = newest or Verdict.objects.filter(check_row=check, public_id=seen).first()
    is_own = changed is not None and changed.person_id == by.pk
    did = (
        "You answered this in another window"
        if is_own
        else "Somebody answered this check since you opened it"
    )
    look = "look at the one from there" if is_own else "look at theirs"
    return Conflict(
        f"{did}. Your answer is kept here: {look}, then answer again.",
        code="newer_verdict",
        details={"yours": {"label": label, "reason": reason}, "theirs": theirs, "is_own": is_own},
    )


def shows_another(refusal: Refusal) -> bool:
    """Whether this refusal of an answer tells what somebody else has answered, so that the person now knows."""
    details = refusal.details
    return refusal.code == "newer_verdict" and bool(details["theirs"]) and not details["is_own"]


def _claim_changed(*, label: str, reason: str) -> Conflict:
    return Conflict(
        "The claim was changed since you opened it, and this wording is no longer checked. Your answer is kept "
        "here: go on with the claim as it is worded now.",
        code="claim_changed",
        details={"yours": {"label": label, "reason": reason}, "theirs": None, "is_own": False},
    )
