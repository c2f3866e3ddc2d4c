"""A system's claims by final verdict."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from annotation.analysis.explanation.explanation import ExplainedClaim
from annotation.analysis.explanation.statements import answers_on, says_who, with_overruled
from annotation.core.paging import page_after
from annotation.core.refusals import Invalid
from annotation.models import SIDE_SCORES, Check, Label
from annotation.models.claim import NOT_YES

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from annotation.models import Project, Summary, System
    from evaluation.judging import Label as VerdictLabel

UNSCORED = "unscored"
VERDICTS = (*(label.value for label in NOT_YES), UNSCORED, Label.YES.value)
ORDER = ("summary_id", "claim_id")
CLAIMS_ON_A_PAGE = 20


@dataclass(frozen=True, slots=True)
class SystemClaim:
    """A claim that is checked for one of the system's summaries, with `is_overruled` of `with_overruled`."""

    summary: Summary
    claim: ExplainedClaim
    is_overruled: bool


def system_claims(
    project: Project, system: System, *, side: str, verdict: str, after: str = ""
) -> tuple[list[SystemClaim], str, int, str]:
    """Return one page of the system's claims whose final verdict is `verdict`, and three facts about these claims.

    The facts are the start of the next page, the number of claims on all pages, and the words of `says_who`. The start
    is a check id, to be passed as `after`; it is "" after the last page.

    Raises Invalid for an unknown side, verdict or page.
    """
    if side not in SIDE_SCORES:
        raise Invalid(f"side is one of {', '.join(SIDE_SCORES)}, not {side!r}.", field="side")
    if verdict not in VERDICTS:
        raise Invalid(f"verdict is one of {', '.join(VERDICTS)}, not {verdict!r}.", field="verdict")
    current = Check.objects.filter(project=project, is_current=True, side=side, summary__system=system)
    listed = current.filter(final_label=None if verdict == UNSCORED else verdict)
    rows = with_overruled(listed).select_related("claim", "summary__document_set")
    checks, following = page_after(rows, order=ORDER, after=after, size=CLAIMS_ON_A_PAGE, scope=current)
    answers = answers_on(check_row__in=[check.pk for check in checks])
    return (
        [
            SystemClaim(
                summary=cast("Summary", check.summary),
                claim=ExplainedClaim(
                    claim_id=check.claim.public_id,
                    check_id=check.public_id,
                    text=check.claim.text,
                    final=cast("VerdictLabel | None", check.final_label),
                    source=check.final_source,
                    answers=answers.get(check.pk, ()),
                ),
                is_overruled=getattr(check, "is_overruled", False),
            )
            for check in checks
        ],
        following,
        listed.count(),
        says_who(listed.order_by().values_list("final_source", flat=True).distinct()),
    )


def checks_in(claims: list[SystemClaim]) -> QuerySet[Check]:
    """Select the checks whose answers the page shows with these claims."""
    return Check.objects.filter(public_id__in=[each.claim.check_id for each in claims])
