"""The pages of runs: list, start, progress, calls, cancel and resume."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse

from annotation.core.permissions import Verb
from annotation.core.refusals import Invalid
from annotation.judging.queries.judges import judges_of
from annotation.judging.queries.run_estimate import RunEstimate, run_estimate
from annotation.judging.queries.run_metrics import RUN_METRICS, parts_of
from annotation.judging.queries.runs import RUNS, calls_of, is_worker_alive, run_progress
from annotation.judging.services.judges import LEXICAL, has_price, judge_by_name
from annotation.judging.services.start_run import (
    NUMBERS,
    cancel_run,
    number_in,
    require_startable,
    resume_run,
)
from annotation.judging.services.start_run import start_run as start
from annotation.models import Judge, Run
from annotation.web.htmx import Request, page_or_fragment
from annotation.web.lists import list_page, listed
from annotation.web.rooms import Room, enter, found
from annotation.web.screen import screen
from evaluation.metrics import USUAL_METRICS


@screen("GET")
def runs(request: Request, slug: str) -> HttpResponseBase:
    room = enter(request, slug, Verb.VIEW_RUNS, here="runs")
    decides = room.project.deciding_judge if Verb.VIEW_SCORES in room.verbs else None
    form = {
        "judge": LEXICAL if decides is None or decides.archived_at else decides.name,
        "metrics": room.project.usual_metrics,
    }
    return list_page(request, room, RUNS, page="judging/runs/list.html", context=_form_context(room, form))


@screen("POST")
def start_run(request: Request, slug: str) -> HttpResponse:
    room = enter(request, slug, Verb.RUN, here="runs")
    metrics = request.POST.getlist("metrics")
    form: dict[str, Any] = {name: request.POST.get(name, "") for name in ("judge", *NUMBERS)} | {
        "metrics": metrics
    }
    judge = judge_by_name(form["judge"], room.project)
    try:
        asked = {name: number_in(form, name) for name in NUMBERS}
        require_startable(Run(judge=judge, metrics=metrics, **asked))
        # Start a run that costs money only if the person has seen the estimate for these choices.
        choice = "|".join([*(form[name] for name in ("judge", *NUMBERS)), *sorted(metrics)])
        found = run_estimate(
            project=room.project, judge=judge, parts=parts_of(metrics), repeat_share=asked["repeat_share"]
        )
        if found.cost and request.POST.get("confirmed") != choice:
            return _start_form(request, room, {**form, "confirmed": choice}, to_confirm=found)
        run = start(project=room.project, judge=judge, metrics=metrics, by=request.user, **asked)
    except Invalid as refusal:
        return _start_form(request, room, form, refusal)
    response = redirect("run", slug=slug, run_id=run.public_id)
    if not request.htmx:
        return response
    # Send the address to htmx in a header, because it would follow a redirect inside the form.
    return HttpResponse(status=204, headers={"HX-Redirect": response["Location"]})


@screen("GET")
def estimate(request: Request, slug: str) -> HttpResponse:
    room = enter(request, slug, Verb.RUN, here="runs")
    judge = judge_by_name(request.GET.get("judge", LEXICAL), room.project)
    found = run_estimate(project=room.project, judge=judge, parts=parts_of(request.GET.getlist("metrics")))
    return render(request, "judging/runs/_estimate.html", {"estimate": found})


@screen("GET")
def calls(request: Request, slug: str, run_id: str) -> HttpResponseBase:
    # Close this page to people who are blind, because replies show the judge's verdicts.
    room = enter(request, slug, Verb.VIEW_SCORES, here="runs")
    run = _run(room, run_id)
    return list_page(request, room, calls_of(run), page="judging/runs/calls.html", context={"run": run})


@screen("GET")
def run(request: Request, slug: str, run_id: str) -> HttpResponse:
    room = enter(request, slug, Verb.VIEW_RUNS, here="runs")
    return _show(request, room, _run(room, run_id))


@screen("POST")
def cancel(request: Request, slug: str, run_id: str) -> HttpResponse:
    room = enter(request, slug, Verb.RUN, here="runs")
    stopped = cancel_run(run=_run(room, run_id), by=request.user)
    return _show(request, room, stopped) if request.htmx else redirect("run", slug=slug, run_id=run_id)


@screen("POST")
def resume(request: Request, slug: str, run_id: str) -> HttpResponse:
    room = enter(request, slug, Verb.RUN, here="runs")
    try:
        resumed = resume_run(
            run=_run(room, run_id), max_cost=number_in(request.POST, "max_cost"), by=request.user
        )
    except Invalid as refusal:
        return _show(request, room, _run(room, run_id), refusal=refusal)
    return _show(request, room, resumed) if request.htmx else redirect("run", slug=slug, run_id=run_id)


def _start_form(
    request: Request,
    room: Room,
    form: Mapping[str, Any],
    refusal: Invalid | None = None,
    to_confirm: RunEstimate | None = None,
) -> HttpResponse:
    context = {
        **listed(request, room, RUNS, address=reverse("runs", args=[room.project.slug])),
        **_form_context(room, form),
        "refusal": refusal,
        "to_confirm": to_confirm,
    }
    return page_or_fragment(
        request,
        page="judging/runs/list.html",
        fragment="judging/runs/_start.html",
        context=context,
        status=422 if refusal else 200,
    )


def _show(request: Request, room: Room, run: Run, *, refusal: Invalid | None = None) -> HttpResponse:
    progress = run_progress(run)
    context = {
        "refusal": refusal,
        "room": room,
        "run": run,
        "progress": progress,
        "metrics": [name.replace("_", " ") for name in run.metrics],
        "deciding_judge": room.project.deciding_judge,
        "is_worker_alive": is_worker_alive(),
        "is_live": run.state == Run.State.ACTIVE,
        "took": (run.finished_at - run.created_at).total_seconds() if run.finished_at else None,
        "is_of_use": progress.usable and progress.outcome != "unusable",
        "has_price": has_price(run.judge),
    }
    return page_or_fragment(
        request,
        page="judging/runs/run.html",
        fragment="judging/runs/_progress.html",
        context=context,
        status=422 if refusal else 200,
    )


def _run(room: Room, public_id: str) -> Run:
    rows = Run.objects.filter(project=room.project).select_related("project", "judge", "started_by")
    return found(rows, public_id, "run")


def _form_context(room: Room, form: Mapping[str, Any]) -> dict[str, object]:
    usable = judges_of(room.project).filter(archived_at=None)
    judges = [(judge.name, judge.get_kind_display()) for judge in usable]
    if LEXICAL not in dict(judges):
        judges.insert(0, (LEXICAL, Judge.Kind.LEXICAL.label))
    # The lexical judge cannot rate how a text reads.
    has_own = "criteria" in room.project.usual_metrics and any(name != LEXICAL for name, _ in judges)
    usual = {*USUAL_METRICS, "criteria"}
    offered = [each for each in RUN_METRICS.items() if has_own or each[0] != "criteria"]
    return {
        "room": room,
        "form": form,
        "judges": judges,
        "usual_metrics": [each for each in offered if each[0] in usual],
        "more_metrics": [each for each in offered if each[0] not in usual],
        "is_more_open": bool(form.get("n_questions") or form.get("repeat_share"))
        or not set(form["metrics"]) <= usual,
        "is_worker_alive": is_worker_alive(),
    }
