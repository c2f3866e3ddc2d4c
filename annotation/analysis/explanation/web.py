"""The pages of a summary's scores, of a system's claims, and of summaries side by side."""

from __future__ import annotations

from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render

from annotation.analysis.explanation.explanation import explain, summary_of
from annotation.analysis.explanation.side_by_side import (
    DOCUMENT_SETS,
    checks_of,
    sets_with_summaries,
    side_by_side,
)
from annotation.analysis.explanation.system_claims import VERDICTS, checks_in, system_claims
from annotation.core.permissions import Verb
from annotation.models import Check, Label, System
from annotation.reviewing.services.look_at_check import see_checks, see_summary
from annotation.reviewing.web.before_seeing import ask_before_seeing
from annotation.scoring.records import score_rules, summary_records
from annotation.web.htmx import Request
from annotation.web.lists import list_page
from annotation.web.rooms import enter, found
from annotation.web.screen import screen
from evaluation.blend import score

SIDES = ((Check.Side.REFERENCE.value, "Coverage"), (Check.Side.PEER.value, "Alignment"))


@screen("GET")
def summary(request: Request, slug: str, summary_id: str) -> HttpResponse:
    room = enter(request, slug, Verb.VIEW_SCORES, here="scores")
    row = summary_of(room.project, summary_id)
    if asked := ask_before_seeing(request, room, Check.objects.filter(peer=row, is_current=True)):
        return asked
    record = next(summary_records(room.project, [row.pk]))
    result = score(record.value, score_rules(room.project))
    made = explain(room.project, row, record.value, result, record.conciseness_terms)
    see_summary(project=room.project, summary=row, by=request.user)
    context = {
        "room": room,
        "summary": row,
        "score": result,
        "made": made,
        "address": request.build_absolute_uri(request.path),
    }
    return render(request, "analysis/explanation/summary.html", context)


@screen("GET")
def document_sets(request: Request, slug: str) -> HttpResponseBase:
    room = enter(request, slug, Verb.VIEW_SCORES, here="document-sets")
    return list_page(request, room, DOCUMENT_SETS, page="analysis/explanation/document_sets.html")


@screen("GET")
def summaries_of_set(request: Request, slug: str, set_id: str) -> HttpResponse:
    room = enter(request, slug, Verb.VIEW_SCORES, here="document-sets")
    sets = sets_with_summaries(room.project)
    document_set = found(sets, set_id, "document set with summaries")
    if asked := ask_before_seeing(request, room, checks_of(document_set)):
        return asked
    beside = side_by_side(document_set)
    see_checks(project=room.project, checks=checks_of(document_set), by=request.user)
    context = {
        "room": room,
        "document_set": document_set,
        "beside": beside,
        "documents": document_set.documents.order_by("position"),
        "models": document_set.summaries.filter(is_model=True).order_by("pk"),
        "previous": sets.filter(external_id__lt=document_set.external_id).last(),
        "next": sets.filter(external_id__gt=document_set.external_id).first(),
    }
    return render(request, "analysis/explanation/side_by_side.html", context)


@screen("GET")
def claims_of_system(request: Request, slug: str, system_id: str) -> HttpResponse:
    room = enter(request, slug, Verb.VIEW_SCORES, here="scores")
    system = found(System.objects.filter(project=room.project), system_id, "system")
    side = request.GET.get("side", Check.Side.REFERENCE.value)
    verdict, after = request.GET.get("verdict", Label.NO.value), request.GET.get("after", "")
    claims, following = system_claims(room.project, system, side=side, verdict=verdict, after=after)
    shown = checks_in(claims)
    if asked := ask_before_seeing(request, room, shown):
        return asked
    see_checks(project=room.project, checks=shown, by=request.user)
    context = {
        "room": room,
        "system": system,
        "side": side,
        "sides": SIDES,
        "verdict": verdict,
        "verdicts": VERDICTS,
        "claims": claims,
        "after": following,
        "is_first": not after,
    }
    return render(request, "analysis/explanation/system_claims.html", context)
