"""The page of the leaderboard's slices."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render

from annotation.analysis.leaderboard.leaderboards import target_word
from annotation.analysis.leaderboard.web import distinct_scores, head_of, shown_table
from annotation.analysis.slices.slices import slices
from annotation.analysis.slices.split import chosen_split, splits
from annotation.core.permissions import Verb
from annotation.core.refusals import Invalid
from annotation.web.htmx import Request
from annotation.web.rooms import enter
from annotation.web.screen import screen
from evaluation.statistics import FEWEST_IN_SLICE


@screen("GET")
def slices_page(request: Request, slug: str) -> HttpResponse:
    room = enter(request, slug, Verb.VIEW_SCORES, here="scores")
    shown = shown_table(request, room.project)
    offered = splits(room.project)
    split = chosen_split(offered, request.GET.get("key") or next(iter(offered), ""))
    found = None
    if shown.table and split:
        weights = {
            name.removeprefix("weight:"): _weight(str(value))
            for name, value in request.GET.items()
            if name.startswith("weight:") and value
        }
        found = slices(room.project, split, shown.table, score=shown.score, weights=weights)
    context = {
        "room": room,
        "found": found,
        "fewest": FEWEST_IN_SLICE,
        "largest": max((each.document_sets for each in found.slices), default=0) if found else 0,
        "keys": list(offered),
        "split": split,
        "score": shown.score,
        "score_in_words": head_of(shown.score),
        "scores": [(name, head_of(name)) for name in distinct_scores(shown.table, room.project)]
        if shown.table
        else [],
        "target": target_word(shown.table.target_words) if shown.table else "",
        "is_weighted": bool(found and any(each.weight for each in found.slices)),
    }
    return render(request, "analysis/slices/page.html", context)


def _weight(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise Invalid(f"A weight is a number, not {text!r}.", field="weights") from None
