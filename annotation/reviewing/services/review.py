"""Saving and withdrawing a reviewer's answer to a check."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone

from annotation.core.events import log
from annotation.core.permissions import Verb, require
from annotation.core.refusals import Conflict, Invalid, NotAllowed
from annotation.models import (
    Answer,
    Check,
    CoverageJudgment,
    ErrorType,
    Label,
    Rating,
    SampledCheck,
    Summary,
    Verdict,
)
from annotation.reviewing.queries.before_answer import BeforeAnswer, before_answer
from annotation.reviewing.services.lease_check import end_lease
from annotation.reviewing.services.look_at_check import reveal
from annotation.sampling.services.finish_sample import finish_check_samples
from annotation.scoring.records import SummaryRecord, hold_scored
from annotation.scoring.rescore import rescore_held, rescore_now
from annotation.texts.queries.check_text import compared_text
from evaluation.judging import LABELS_IN_WORDS

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from annotation.models import Project

NOT_LOOKED = "not looked"
LONGEST_REASON = 4000
LONGEST_MS = 2_147_483_647


@dataclass(frozen=True, slots=True)
class GivenAnswer:
    """The saved verdict, its check after rescoring, and the rows that were loaded before the answer."""

    verdict: Verdict
    check: Check
    before: BeforeAnswer


@transaction.atomic
def override(
    *,
    check: Check,
    by: User,
    label: str,
    reason: str = "",
    evidence: Sequence[int] = (),
    error_type: str = "",
    confidence: float | None = None,
    active_ms: int = 0,
    seen: str = NOT_LOOKED,
) -> GivenAnswer:
    """Save a reviewer's verdict on a check and rescore its summary, or the whole set for a check without a summary.

    `seen` is the public id of the person's own answer on screen, "" if there is none. Without `seen`, another answer
    that the person gave meanwhile is no conflict. `evidence` has unit numbers of the compared text. `active_ms` is the
    time that the person spent on the check, in milliseconds. Saving also records that the person sees others' answers.
    A blind answer becomes the answer of each random sample that waits for the check. Raises Conflict (code
    `newer_verdict`) if the person has meanwhile answered or withdrawn elsewhere. Raises Conflict (code `claim_changed`)
    if the claim is no longer checked. Raises Invalid for unusable values, and the errors of `before_answer`.
    """
    reason = reason.strip()
    _validate(label, reason, evidence, error_type, confidence, active_ms)
    held = hold_scored(check)
    before = before_answer(check, by, verb=Verb.REVIEW)
    check = before.check
    if held:
        check.document_set = held[0].document_set
        check.summary = held[0] if check.summary_id else None
    yours = {"label": label, "reason": reason}
    if not check.is_current:
        raise Conflict(
            "The claim was reworded or removed after you opened it, so it is no longer checked. Your answer is "
            "kept here. Continue with the next claim.",
            code="claim_changed",
            details={"yours": yours, "theirs": None},
        )
    _check_units(check, evidence)
    _refuse_stale(before, yours, by=by, seen=seen)
    verdict = Verdict.objects.create(
        check_row=check,
        role=Verdict.Role.REVIEWER,
        person=by,
        label=label,
        confidence=confidence,
        evidence=sorted(set(evidence)),
        error_type=error_type,
        reason=reason,
        had_seen=_had_seen(before, by),
        active_ms=min(active_ms, LONGEST_MS),
        guideline_id=before.guideline_id,
    )
    if before.is_sampled and not verdict.had_seen:
        SampledCheck.objects.filter(check_row=check, verdict__isnull=True).update(verdict=verdict)
        finish_check_samples(verdict=verdict, by=by)
    reveal(check=check, to=by, look=before.look)
    records = rescore_held(project=check.project, held=held)
    if check.leased_to_id == by.pk:
        end_lease(check=check, by=by)
    log_answer(
        verdict,
        verb="override",
        project=check.project,
        by=by,
        reason=verdict.reason,
        had_seen=verdict.had_seen,
        final_before=check.final_label,
        final_source_before=check.final_source,
    )
    return GivenAnswer(verdict, _as_scored(check, records), before)


def _as_scored(check: Check, records: Sequence[SummaryRecord]) -> Check:
    scored = (row.check for record in records for row in record.checks if row.check.pk == check.pk)
    now = next(scored, check)
    now.project, now.claim = check.project, check.claim
    now.summary, now.document_set = check.summary, check.document_set
    return now


def _had_seen(before: BeforeAnswer, by: User) -> bool:
    look = before.look
    return bool(before.answers_of(by)) or (look is not None and look.revealed_at is not None)


@transaction.atomic
def withdraw_answer(*, answer: Verdict | CoverageJudgment | Rating, by: User) -> None:
    """Withdraw one's own verdict, or any decision, and rescore.

    A second call changes nothing. Raises NotAllowed for another person's verdict, and the errors of `require`.
    """
    place = answer.place
    rated = place if isinstance(place, Summary | Check) else place.summary
    project = rated.project if isinstance(rated, Check) else rated.document_set.project
    is_decision = answer.role == Answer.Role.ADJUDICATOR
    require(by, project, Verb.ADJUDICATE if is_decision else Verb.REVIEW)
    if not is_decision and answer.person_id != by.pk:
        raise NotAllowed("Only the person who gave a verdict can withdraw it.")
    held = hold_scored(place)
    answer.refresh_from_db(fields=["withdrawn_at"])
    if answer.withdrawn_at is not None:
        return
    answer.withdrawn_at = timezone.now()
    answer.save(update_fields=["withdrawn_at"])
    rescore_now(project=project, summary_ids=[summary.pk for summary in held])
    log_answer(answer, verb=f"withdraw {_kind(answer)}", project=project, by=by)


def log_answer(
    answer: Verdict | CoverageJudgment | Rating, *, verb: str, project: Project, by: User, **more: object
) -> None:
    """Log that `by` did `verb` with a reviewer's or adjudicator's answer, in the caller's transaction."""
    data: dict[str, object] = {_kind(answer): answer.public_id}
    if isinstance(answer, Verdict):
        data["label"] = answer.label
    elif isinstance(answer, Rating):
        data["ratings"] = {answer.criterion.name: answer.value}
    else:
        data |= {"unit": answer.unit_judged.public_id, "percent": answer.percent}
    if answer.error_type:
        data["error_type"] = answer.error_type
    log(project=project, actor=by, verb=verb, target=answer.place, data={**data, **more})


def _kind(answer: Verdict | CoverageJudgment | Rating) -> str:
    return "decision" if answer.role == Answer.Role.ADJUDICATOR else "verdict"


def check_reason(reason: str) -> None:
    """Raise Invalid (field `reason`) if the reason is too long."""
    if len(reason.strip()) > LONGEST_REASON:
        raise Invalid(f"A reason has at most {LONGEST_REASON:,} characters.", field="reason")


def _validate(
    label: str,
    reason: str,
    evidence: Sequence[int],
    error_type: str,
    confidence: float | None,
    active_ms: int,
) -> None:
    if label not in Label.values:
        raise Invalid(f"A verdict is {LABELS_IN_WORDS}, not {label!r}.", field="label")
    if confidence is not None and not 0 <= confidence <= 1:
        raise Invalid("Confidence must be between 0 and 1.", field="confidence")
    if any(number < 1 for number in evidence):
        raise Invalid("Evidence must be unit numbers, starting at 1.", field="evidence")
    if error_type and error_type not in ErrorType.values:
        known = ", ".join(ErrorType.values)
        raise Invalid(f"An error is one of {known}, not {error_type!r}.", field="error_type")
    check_reason(reason)
    if active_ms < 0:
        raise Invalid("Time at the check is 0 ms or more.", field="active_ms")


def _check_units(check: Check, named: Sequence[int]) -> None:
    if not named:
        return
    known = {unit.number for unit in compared_text(check)}
    unknown = next((number for number in named if number not in known), None)
    if unknown is not None:
        raise Invalid(f"There is no unit {unknown} here.", field="evidence")


def _refuse_stale(before: BeforeAnswer, yours: dict[str, str], *, by: User, seen: str) -> None:
    own = before.answers_of(by)
    newest = next((said for said in reversed(own) if said.withdrawn_at is None), None)
    if seen in (NOT_LOOKED, newest.public_id if newest else ""):
        return
    if seen and all(said.public_id != seen for said in own):
        raise Invalid(
            f"You have given no answer with the id {seen!r} to this check. Send the last one that you saw, or "
            "leave it empty for none.",
            field="seen",
        )
    raise Conflict(
        "You answered this check in another window after opening it here. Your answer is kept here. Compare "
        "both, then answer again.",
        code="newer_verdict",
        details={
            "yours": yours,
            "theirs": {"label": newest.label, "reason": newest.reason} if newest else None,
        },
    )
