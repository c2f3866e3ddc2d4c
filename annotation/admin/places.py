"""Where a row is seen in its context: the page of the web on which people meet it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from django.urls import reverse
from django.utils.http import urlencode

from annotation.admin.reach import verbs_by_project
from annotation.models import (
    Adjudication,
    Assignment,
    Check,
    CheckLook,
    Claim,
    ClaimChange,
    ClaimSet,
    Comment,
    Comparison,
    Dispute,
    DocumentSet,
    Draw,
    DrawnCheck,
    Event,
    Export,
    Guideline,
    Invitation,
    Job,
    Membership,
    Notice,
    Project,
    PromptVersion,
    Question,
    QuestionAnswer,
    Run,
    Score,
    Sitting,
    Summary,
    System,
    Unit,
    UnitChange,
    UnitJudgment,
    Verdict,
    VerdictBatch,
)
from annotation.permissions import Verb
from annotation.queries.disputes import about

if TYPE_CHECKING:
    from django.db.models import Model
    from django.http import HttpRequest


class Page(NamedTuple):
    """A page of a project: what opens it, its name among the addresses, and what is filled in."""

    verb: Verb
    name: str
    ids: Mapping[str, object] = {}
    query: Mapping[str, str] = {}


def address_of(row: Model, project: Project, request: HttpRequest) -> str | None:
    """The address on which this person sees the row in its context; None where no page shows it to them."""
    page = next((find(row) for kind, find in _PAGES.items() if isinstance(row, kind)), None)
    if page is None or page.verb not in verbs_by_project(request).get(project.pk, ()):
        return None
    address = reverse(page.name, kwargs={"slug": project.slug, **page.ids})
    return f"{address}?{urlencode(page.query)}" if page.query else address


def _check(check: Check) -> Page:
    return Page(Verb.REVIEW, "check", {"check_id": check.public_id})


def _dispute(dispute: Dispute) -> Page:
    return Page(Verb.ADJUDICATE, "dispute", {"dispute_id": dispute.public_id})


def _decision(decision: Adjudication) -> Page | None:
    dispute = about(decision).first()
    if dispute is not None:
        return _dispute(dispute)
    place = decision.check_row or decision.comparison
    return _summary(place.peer) if place else None


def _summary(summary: Summary) -> Page:
    if summary.is_peer:
        return Page(Verb.VIEW_SCORES, "summary", {"summary_id": summary.public_id})
    return Page(Verb.CHANGE_UNITS, "units", {"summary_id": summary.public_id})


def _units(summary: Summary | None) -> Page | None:
    return Page(Verb.CHANGE_UNITS, "units", {"summary_id": summary.public_id}) if summary else None


def _claims(claim_set: ClaimSet) -> Page | None:
    text = claim_set.summary or claim_set.document_set
    return Page(Verb.CHANGE_CLAIMS, "claims", {"text_id": text.public_id}) if text else None


def _judged(judgment: UnitJudgment) -> Page | None:
    comparison = judgment.assignment.comparison
    return _summary(comparison.peer) if comparison else None


def _questions(question: Question) -> Page:
    return Page(Verb.VIEW_SCORES, "questions", {"set_id": question.document_set.public_id})


def _comment(comment: Comment) -> Page | None:
    if comment.claim is not None:
        return Page(Verb.COMMENT, "claim-comments", {"claim_id": comment.claim.public_id})
    if comment.unit is not None:
        return Page(Verb.COMMENT, "unit-comments", {"unit_id": comment.unit.public_id})
    return None


def _draw(draw: Draw) -> Page:
    return Page(Verb.ASSIGN, "check-draws" if draw.item == Draw.Item.CHECK else "draws")


def _run(run: Run | None) -> Page | None:
    return Page(Verb.VIEW_RUNS, "run", {"run_id": run.public_id}) if run else None


_PAGES: Mapping[type[Any], Callable[[Any], Page | None]] = {
    Adjudication: _decision,
    Assignment: lambda _: Page(Verb.ASSIGN, "assignments"),
    Check: _check,
    CheckLook: lambda look: _check(look.check_row),
    Claim: lambda claim: _claims(claim.claim_set),
    ClaimChange: lambda change: _claims(change.claim_set),
    ClaimSet: _claims,
    Comment: _comment,
    Comparison: lambda comparison: _summary(comparison.peer),
    Dispute: _dispute,
    DocumentSet: lambda row: Page(Verb.VIEW_SCORES, "questions", {"set_id": row.public_id}),
    Draw: _draw,
    DrawnCheck: lambda drawn: _check(drawn.check_row),
    Event: lambda event: Page(Verb.VIEW_EVENTS, "log", query={"row": event.target_id}),
    Export: lambda _: Page(Verb.EXPORT, "exports"),
    Guideline: lambda row: Page(Verb.VIEW_PROJECT, "guideline", {"version": row.version}),
    Invitation: lambda _: Page(Verb.MANAGE_MEMBERS, "people"),
    Job: lambda job: _run(job.run),
    Membership: lambda _: Page(Verb.MANAGE_MEMBERS, "people"),
    Notice: lambda _: Page(Verb.VIEW_PROJECT, "project"),
    Project: lambda _: Page(Verb.VIEW_PROJECT, "project"),
    PromptVersion: lambda row: Page(Verb.VIEW_RUNS, "prompt", {"step": row.step}),
    Question: _questions,
    QuestionAnswer: lambda answer: _questions(answer.question),
    Run: _run,
    Score: lambda score: _summary(score.summary),
    Sitting: lambda _: Page(Verb.ASSIGN, "assignments"),
    Summary: _summary,
    System: lambda row: Page(Verb.VIEW_SCORES, "system", {"system_id": row.public_id}),
    Unit: lambda unit: _units(unit.summary),
    UnitChange: lambda change: _units(change.summary),
    UnitJudgment: _judged,
    Verdict: lambda verdict: _check(verdict.check_row),
    VerdictBatch: lambda _: Page(Verb.REVIEW, "review", query={"only": "answered"}),
}
