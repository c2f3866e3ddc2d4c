"""Runs: start one, watch it, stop it, let it go on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar, cast

from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse

from annotation.core.permissions import Verb
from annotation.core.refusals import Invalid
from annotation.judging.queries.judges import judges_of
from annotation.judging.queries.prompts import name_of_step, own_versions_of
from annotation.judging.queries.run_estimate import run_estimate
from annotation.judging.queries.run_metrics import RUN_METRICS, parts_of
from annotation.judging.queries.runs import (
    RUNS,
    calls_of,
    is_worker_alive,
    last_reply,
    run_progress,
)
from annotation.judging.services.judges import LEXICAL, has_price, judge_by_name
from annotation.judging.services.start_run import cancel_run, cap_in, faults_of_start, resume_run, share_in
from annotation.judging.services.start_run import start_run as start
from annotation.models import Judge, Run
from annotation.web.htmx import Request, page_or_fragment
from annotation.web.lists import list_page, listed
from annotation.web.rooms import Room, enter, found
from annotation.web.screen import screen
from evaluation.metrics import USUAL_METRICS

TypedNumber = TypeVar("TypedNumber", int, float)


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
    form: dict[str, object] = {
        "judge": request.POST.get("judge", ""),
        "metrics": request.POST.getlist("metrics"),
        "n_questions": request.POST.get("n_questions", ""),
        "max_cost": request.POST.get("max_cost", ""),
        "repeat_share": request.POST.get("repeat_share", ""),
        "confirmed": request.POST.get("confirmed", ""),
    }
    judge = judge_by_name(str(form["judge"]), room.project)
    metrics = request.POST.getlist("metrics")
    n_questions, no_number = _read(_questions, request)
    max_cost, no_cap = _read(cap_in, request)
    repeat_share, no_share = _read(share_in, request)
    faults = [
        *no_number,
        *no_cap,
        *no_share,
        *faults_of_start(
            judge=judge,
            metrics=metrics,
            n_questions=n_questions,
            max_cost=max_cost,
            repeat_share=repeat_share,
        ),
    ]
    if faults:
        return _refused(request, room, form, faults)
    # Money is spent only by somebody who has seen how much, for just this.
    choice = _choice(request)
    found = run_estimate(
        project=room.project, judge=judge, parts=parts_of(metrics), repeat_share=repeat_share
    )
    if found.cost and form["confirmed"] != choice:
        form["confirmed"] = choice
        context = {**_list_context(request, room, form), "to_confirm": found}
        return page_or_fragment(
            request, page="judging/runs/list.html", fragment="judging/runs/_start.html", context=context
        )
    try:
        run = start(
            project=room.project,
            judge=judge,
            metrics=metrics,
            n_questions=n_questions,
            max_cost=max_cost,
            repeat_share=repeat_share,
            by=request.user,
        )
    except Invalid as refusal:
        return _refused(request, room, form, [refusal])
    response = redirect("run", slug=slug, run_id=run.public_id)
    return _follow(request, response)


@screen("GET")
def estimate(request: Request, slug: str) -> HttpResponse:
    """What the run that the form describes comes to, as the form is filled in."""
    room = enter(request, slug, Verb.RUN, here="runs")
    judge = judge_by_name(request.GET.get("judge", LEXICAL), room.project)
    found = run_estimate(project=room.project, judge=judge, parts=parts_of(request.GET.getlist("metrics")))
    return render(request, "judging/runs/_estimate.html", {"estimate": found})


@screen("GET")
def calls(request: Request, slug: str, run_id: str) -> HttpResponse:
    # What the judge said of every summary: not for somebody who is to stay blind to it.
    room = enter(request, slug, Verb.VIEW_SCORES, here="runs")
    run = _run(room, run_id)
    page, following = calls_of(run, after=request.GET.get("after", ""))
    context = {"room": room, "run": run, "calls": page, "following": following}
    return render(request, "judging/runs/calls.html", context)


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
        resumed = resume_run(run=_run(room, run_id), max_cost=cap_in(request.POST), by=request.user)
    except Invalid as refusal:
        return _show(request, room, _run(room, run_id), refusal=refusal)
    return _show(request, room, resumed) if request.htmx else redirect("run", slug=slug, run_id=run_id)


def _refused(request: Request, room: Room, form: dict[str, object], faults: list[Invalid]) -> HttpResponse:
    context = {
        **_list_context(request, room, form),
        "refusals": faults,
        "faulty": {fault.field for fault in faults},
    }
    return page_or_fragment(
        request,
        page="judging/runs/list.html",
        fragment="judging/runs/_start.html",
        context=context,
        status=422,
    )


def _choice(request: Request) -> str:
    """What the form asks for, in one word."""
    given = [request.POST.get(name, "") for name in ("judge", "n_questions", "max_cost", "repeat_share")]
    return "|".join([*given, *sorted(request.POST.getlist("metrics"))])


def _read(
    reader: Callable[[Mapping[str, str]], TypedNumber | None], request: Request
) -> tuple[TypedNumber | None, list[Invalid]]:
    """What the reader finds in the form, and what is wrong with it."""
    try:
        return reader(request.POST), []
    except Invalid as fault:
        return None, [fault]


def _questions(form: Mapping[str, str]) -> int | None:
    """How many questions the form asks for, or None. Raises Invalid for what is no whole number."""
    given = form.get("n_questions", "").strip()
    if not given:
        return None
    try:
        return int(given)
    except ValueError:
        raise Invalid(
            "The number of questions must be a whole number.", field="n_questions", code="invalid_questions"
        ) from None


def _show(request: Request, room: Room, run: Run, *, refusal: Invalid | None = None) -> HttpResponse:
    progress = run_progress(run)
    may_see_replies = Verb.VIEW_SCORES in room.verbs
    context = {
        "refusal": refusal,
        "room": room,
        "run": run,
        "progress": progress,
        "last_reply": last_reply(run) if may_see_replies and progress.outcome == "unusable" else None,
        "metrics": [name.replace("_", " ") for name in run.metrics],
        "deciding_judge": room.project.deciding_judge,
        "is_worker_alive": is_worker_alive(),
        "is_live": run.state == Run.State.ACTIVE,
        "is_of_use": progress.usable and progress.outcome != "unusable",
        "has_price": has_price(run.judge),
        "own_prompts": [(name_of_step(row.step), row) for row in own_versions_of(run)],
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


def _list_context(request: Request, room: Room, form: Mapping[str, object]) -> dict[str, object]:
    past = listed(request, room, RUNS, address=reverse("runs", args=[room.project.slug]))
    return {**past, **_form_context(room, form)}


def _form_context(room: Room, form: Mapping[str, object]) -> dict[str, object]:
    usable = judges_of(room.project).filter(archived_at=None)
    judges = [(judge.name, judge.get_kind_display()) for judge in usable]
    if LEXICAL not in dict(judges):
        judges.insert(0, (LEXICAL, Judge.Kind.LEXICAL.label))
    usual = [each for each in RUN_METRICS.items() if each[0] in USUAL_METRICS]
    more = [each for each in RUN_METRICS.items() if each[0] not in USUAL_METRICS]
    ticked = cast("list[str]", form["metrics"])
    return {
        "room": room,
        "form": form,
        "judges": judges,
        "usual_metrics": usual,
        "more_metrics": more,
        "is_more_open": bool(form.get("n_questions") or form.get("repeat_share"))
        or not set(ticked) <= set(USUAL_METRICS),
        "is_worker_alive": is_worker_alive(),
    }


def _follow(request: Request, response: HttpResponse) -> HttpResponse:
    """Let htmx go to the page that a plain form would be redirected to."""
    if not request.htmx:
        return response
    following = HttpResponse(status=204)
    following["HX-Redirect"] = response["Location"]
    return following
