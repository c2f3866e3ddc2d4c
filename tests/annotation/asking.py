"""Answers to questions, stored as a judge's answers."""

from __future__ import annotations

from django.db.models import QuerySet

from annotation.models import Check, Claim, ClaimSet, DocumentSet, Judge, Summary, Verdict
from annotation.scoring.rescore import rescore


def questions() -> QuerySet[Claim]:
    return Claim.all_claims.filter(claim_set__kind="questions").order_by(
        "claim_set__document_set", "position"
    )


def answers() -> QuerySet[Verdict]:
    return Verdict.objects.filter(check_row__side="question").order_by("pk")


def make_question(document_set: DocumentSet, text: str, *, position: int = 1, origin: str = "judge") -> Claim:
    asked = ClaimSet.objects.create(
        kind="questions", document_set=document_set, origin=origin, origin_name=f"{origin}'s"
    )
    return Claim.objects.create(claim_set=asked, position=position, text=text, origin=origin)


def answer(
    question: Claim, label: str | None, *, judge: Judge, summary: Summary | None = None, reason: str = ""
) -> Check:
    document_set = question.claim_set.document_set
    assert document_set is not None
    check, _ = Check.objects.get_or_create(
        claim=question,
        summary=summary,
        document_set=summary.document_set if summary else document_set,
        project=document_set.project,
        side="question",
    )
    Verdict.objects.create(
        check_row=check, role="judge", judge=judge, origin_name=judge.name, label=label, reason=reason
    )
    summaries = Summary.objects.filter(document_set=check.document_set_id, is_summary=True)
    rescore(project=document_set.project, summary_ids=list(summaries.values_list("pk", flat=True)))
    check.refresh_from_db()
    return check
