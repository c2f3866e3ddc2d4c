"""Deciding disputes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction

from annotation.adjudicating.queries.disputes import about, decisions_on
from annotation.core.criteria import criteria_in_force
from annotation.core.guidelines import current_id
from annotation.core.permissions import Verb, require
from annotation.core.refusals import Conflict, Invalid
from annotation.models import (
    Answer,
    Check,
    Claim,
    Comparison,
    CoverageJudgment,
    Criterion,
    Dispute,
    ErrorType,
    Label,
    Project,
    Rating,
    Summary,
    Unit,
    Verdict,
)
from annotation.reviewing.services.review import NOT_LOOKED, check_reason, log_answer
from annotation.scoring.records import hold_scored
from annotation.scoring.rescore import rescore_now
from evaluation.judging import LABELS_IN_WORDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from django.contrib.auth.models import User

    Decision = Verdict | CoverageJudgment | Rating


def settle(
    *,
    dispute: Dispute,
    by: User,
    label: str = "",
    percent: int | None = None,
    rating: int | None = None,
    reason: str = "",
    error_type: str = "",
    seen: str = NOT_LOOKED,
) -> Decision:
    """Decide a disputed check by a label, a disputed unit by a percent, or a disputed rating by a value of its scale.

    Raises Invalid for an answer of another kind, and the errors of `decide_check`, `decide_unit` and `decide_rating`.
    """
    place = dispute.place
    name = {Check: "label", Comparison: "percent", Summary: "rating"}[type(place)]
    for other, given in (("label", label or None), ("percent", percent), ("rating", rating)):
        if other != name and given is not None:
            raise Invalid(f"This is answered by a {name}, not by a {other}.", field=other)
    if isinstance(place, Summary):
        assert dispute.criterion is not None, "the database holds a dispute about a summary to a criterion"
        return decide_rating(
            summary=place,
            criterion=dispute.criterion,
            by=by,
            value=rating,
            reason=reason,
            error_type=error_type,
            seen=seen,
        )
    if isinstance(place, Check):
        return decide_check(check=place, by=by, label=label, reason=reason, error_type=error_type, seen=seen)
    return decide_unit(
        comparison=place,
        unit=dispute.unit_judged,
        by=by,
        percent=percent,
        reason=reason,
        error_type=error_type,
        seen=seen,
    )


@transaction.atomic
def decide_check(
    *, check: Check, by: User, label: str, reason: str = "", error_type: str = "", seen: str = NOT_LOOKED
) -> Decision:
    """Decide a check, and update the scores.

    `seen` is the public id of the decision on the caller's screen, "" for none. By default, the current decision is not
    compared. Raises Conflict (code `newer_decision`) if another decision is current, Conflict (code `newer_claim`) if
    the claim was reworded or removed, Invalid for unusable values, and the errors of `require`.
    """
    require(by, check.project, Verb.ADJUDICATE)
    if label not in Label.values:
        raise Invalid(f"A decision is {LABELS_IN_WORDS}, not {label!r}.", field="label")
    _check_words(reason, error_type)
    held = hold_scored(check)
    if not Check.objects.filter(pk=check.pk, is_current=True).exists():
        raise Conflict(
            "The claim was reworded or removed after you opened the page, so it is no longer checked.",
            code="newer_claim",
        )
    decision = Verdict(check_row=check, label=label, reason=reason.strip(), error_type=error_type)
    return _keep(decision, check.project, held, by, seen)


@transaction.atomic
def decide_unit(
    *,
    comparison: Comparison,
    unit: Unit | Claim,
    by: User,
    percent: int | None,
    reason: str = "",
    error_type: str = "",
    seen: str = NOT_LOOKED,
) -> Decision:
    """Decide the percent (0 to 100) of a reference unit that the summary expresses, and update the scores.

    `unit` is a claim if claims replace units. `seen` has the same meaning as in `decide_check`. Raises Conflict (code
    `newer_decision`) if another decision is current, Conflict (code `newer_cut`) if the unit no longer exists, Invalid
    for unusable values, and the errors of `require`.
    """
    project = comparison.summary.document_set.project
    require(by, project, Verb.ADJUDICATE)
    if percent is None or not 0 <= percent <= 100:
        raise Invalid("A percent must be between 0 and 100.", field="percent")
    _check_words(reason, error_type)
    text_id = unit.summary_id if isinstance(unit, Unit) else unit.claim_set.summary_id
    if text_id != comparison.reference_id:
        raise Invalid("That unit does not belong to the reference of this comparison.", field="unit")
    held = hold_scored(comparison)
    _check_cut(unit)
    decision = CoverageJudgment(
        comparison=comparison,
        unit=unit if isinstance(unit, Unit) else None,
        claim=unit if isinstance(unit, Claim) else None,
        percent=percent,
        reason=reason.strip(),
        error_type=error_type,
    )
    return _keep(decision, project, held, by, seen)


@transaction.atomic
def decide_rating(
    *,
    summary: Summary,
    criterion: Criterion,
    by: User,
    value: int | None,
    reason: str = "",
    error_type: str = "",
    seen: str = NOT_LOOKED,
) -> Decision:
    """Decide the answer to a criterion about a summary, and update the scores.

    `seen` has the same meaning as in `decide_check`. Raises Conflict (code `newer_decision`) if another decision is
    current, Conflict (code `newer_criterion`) if the criterion was changed or retired, Invalid for unusable values, and
    the errors of `require`.
    """
    project = summary.document_set.project
    require(by, project, Verb.ADJUDICATE)
    if value is None or value not in criterion.fact.values:
        raise Invalid("Choose an answer of this question's scale.", field="rating")
    _check_words(reason, error_type)
    held = hold_scored(summary)
    if not criteria_in_force(project).filter(pk=criterion.pk).exists():
        raise Conflict("This question was changed or is no longer asked.", code="newer_criterion")
    decision = Rating(
        summary=summary, criterion=criterion, value=value, reason=reason.strip(), error_type=error_type
    )
    return _keep(decision, project, held, by, seen)


def _keep(decision: Decision, project: Project, held: Sequence[Summary], by: User, seen: str) -> Decision:
    newest = decisions_on(decision).filter(withdrawn_at=None).order_by("-pk").first()
    if seen not in (NOT_LOOKED, newest.public_id if newest else ""):
        raise Conflict(
            "This was decided or withdrawn after you opened it. Your decision is kept here. Compare both, then "
            "decide again.",
            code="newer_decision",
            details={"yours": _in_details(decision), "theirs": newest and _in_details(newest)},
        )
    decision.role, decision.person, decision.guideline_id = Answer.Role.ADJUDICATOR, by, current_id(project)
    decision.save()
    rescore_now(project=project, summary_ids=[summary.pk for summary in held])
    about(decision).filter(lease_until__isnull=False).update(leased_to=None, lease_until=None)
    log_answer(decision, verb="adjudicate", project=project, by=by, reason=decision.reason)
    return decision


def _in_details(decision: Decision) -> dict[str, object]:
    names = ("label", "percent", "rating", "reason")
    return {"answer": str(decision), **{name: getattr(decision, name, None) for name in names}}


def _check_words(reason: str, error_type: str) -> None:
    check_reason(reason)
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
