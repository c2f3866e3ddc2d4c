"""Where a row is seen in its context: the page of the web on which people meet it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from django.urls import reverse
from django.utils.http import urlencode

from annotation.adjudicating.queries.disputes import about
from annotation.admin.reach import verbs_by_project
from annotation.core.permissions import Verb

if TYPE_CHECKING:
    from django.db.models import Model
    from django.http import HttpRequest

    from annotation.models import (
        Adjudication,
        Check,
        ClaimSet,
        Comment,
        Dispute,
        Draw,
        Project,
        Question,
        Run,
        Summary,
        UnitJudgment,
    )


class RowPage(NamedTuple):
    """A page of a project: what opens it, its name among the addresses, and what is filled in."""

    verb: Verb
    name: str
    ids: Mapping[str, object] = {}
    query: Mapping[str, str] = {}


def address_of(row: Model, project: Project, request: HttpRequest) -> str | None:
    """The address on which this person sees the row in its context; None where no page shows it to them."""
    find = _PAGES.get(type(row).__name__)
    page = find(row) if find else None
    if page is None or page.verb not in verbs_by_project(request).get(project.pk, ()):
        return None
    address = reverse(page.name, kwargs={"slug": project.slug, **page.ids})
    return f"{address}?{urlencode(page.query)}" if page.query else address


def _check(check: Check) -> RowPage:
    return RowPage(Verb.REVIEW, "check", {"check_id": check.public_id})


def _dispute(dispute: Dispute) -> RowPage:
    return RowPage(Verb.ADJUDICATE, "dispute", {"dispute_id": dispute.public_id})


def _decision(decision: Adjudication) -> RowPage | None:
    dispute = about(decision).first()
    if dispute is not None:
        return _dispute(dispute)
    place = decision.check_row or decision.comparison
    return _summary(place.peer) if place else None


def _summary(summary: Summary) -> RowPage:
    if summary.is_peer:
        return RowPage(Verb.VIEW_SCORES, "summary", {"summary_id": summary.public_id})
    return RowPage(Verb.CHANGE_UNITS, "units", {"summary_id": summary.public_id})


def _units(summary: Summary | None) -> RowPage | None:
    return RowPage(Verb.CHANGE_UNITS, "units", {"summary_id": summary.public_id}) if summary else None


def _claims(claim_set: ClaimSet) -> RowPage | None:
    text = claim_set.summary or claim_set.document_set
    return RowPage(Verb.CHANGE_CLAIMS, "claims", {"text_id": text.public_id}) if text else None


def _judged(judgment: UnitJudgment) -> RowPage | None:
    return _summary(judgment.assignment.comparison.peer)


def _questions(question: Question) -> RowPage:
    return RowPage(Verb.VIEW_SCORES, "questions", {"set_id": question.document_set.public_id})


def _comment(comment: Comment) -> RowPage | None:
    if comment.claim is not None:
        return RowPage(Verb.COMMENT, "claim-comments", {"claim_id": comment.claim.public_id})
    if comment.unit is not None:
        return RowPage(Verb.COMMENT, "unit-comments", {"unit_id": comment.unit.public_id})
    return None


def _draw(draw: Draw) -> RowPage:
    return RowPage(Verb.ASSIGN, "check-draws")


def _run(run: Run | None) -> RowPage | None:
    return RowPage(Verb.VIEW_RUNS, "run", {"run_id": run.public_id}) if run else None


_PAGES: Mapping[str, Callable[[Any], RowPage | None]] = {
    "Adjudication": _decision,
    "Assignment": lambda _: RowPage(Verb.ASSIGN, "assignments"),
    "Check": _check,
    "CheckLook": lambda look: _check(look.check_row),
    "Claim": lambda claim: _claims(claim.claim_set),
    "ClaimChange": lambda change: _claims(change.claim_set),
    "ClaimSet": _claims,
    "Comment": _comment,
    "Comparison": lambda comparison: _summary(comparison.peer),
    "Dispute": _dispute,
    "DocumentSet": lambda row: RowPage(Verb.VIEW_SCORES, "questions", {"set_id": row.public_id}),
    "Draw": _draw,
    "DrawnCheck": lambda drawn: _check(drawn.check_row),
    "Event": lambda event: RowPage(Verb.VIEW_EVENTS, "log", query={"row": event.target_id}),
    "Export": lambda _: RowPage(Verb.EXPORT, "exports"),
    "Guideline": lambda row: RowPage(Verb.VIEW_PROJECT, "guideline", {"version": row.version}),
    "Import": lambda row: RowPage(Verb.IMPORT, "import-progress", {"import_id": row.public_id}),
    "Invitation": lambda _: RowPage(Verb.MANAGE_MEMBERS, "people"),
    "Job": lambda job: _run(job.run),
    "Membership": lambda _: RowPage(Verb.MANAGE_MEMBERS, "people"),
    "Notice": lambda _: RowPage(Verb.VIEW_PROJECT, "project"),
    "Project": lambda _: RowPage(Verb.VIEW_PROJECT, "project"),
    "PromptVersion": lambda row: RowPage(Verb.VIEW_RUNS, "prompt", {"step": row.step}),
    "Question": _questions,
    "QuestionAnswer": lambda answer: _questions(answer.question),
    "Run": _run,
    "Score": lambda score: _summary(score.summary),
    "Sitting": lambda _: RowPage(Verb.ASSIGN, "assignments"),
    "Summary": _summary,
    "System": lambda row: RowPage(Verb.VIEW_SCORES, "system", {"system_id": row.public_id}),
    "Unit": lambda unit: _units(unit.summary),
    "UnitChange": lambda change: _units(change.summary),
    "UnitJudgment": _judged,
    "Verdict": lambda verdict: _check(verdict.check_row),
    "VerdictBatch": lambda _: RowPage(Verb.REVIEW, "review", query={"only": "answered"}),
}
"""By the name of the row's kind."""
