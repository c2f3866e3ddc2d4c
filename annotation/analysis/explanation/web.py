"""What the scores of one summary are made of."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render

from annotation.analysis.explanation.explanation import explain
from annotation.analysis.leaderboard.taken_over import taken_over_of
from annotation.analysis.leaderboard.words import taken_over_in_words
from annotation.core.permissions import Verb
from annotation.core.summaries import summary_of
from annotation.reviewing.services.look_at_check import see_summary
from annotation.scoring.records import score_rules, summary_records
from annotation.web.htmx import Request
from annotation.web.rooms import enter
from annotation.web.screen import screen
from evaluation.blend import score


@screen("GET")
def summary(request: Request, slug: str, summary_id: str) -> HttpResponse:
    room = enter(request, slug, Verb.VIEW_SCORES, here="scores")
    row = summary_of(room.project, summary_id)
    record = next(summary_records(room.project, [row.pk]))
    result = score(record.value, score_rules(room.project))
    made = explain(room.project, row, record.value, result, record.conciseness_terms)
    see_summary(project=room.project, summary=row, by=request.user)
    context = {
        "room": room,
        "made": made,
        "taken_over": taken_over_in_words(*taken_over_of(row)),
        "address": request.build_absolute_uri(request.path),
    }
    return render(request, "analysis/explanation/summary.html", context)
