from __future__ import annotations

from collections.abc import Iterator, Mapping

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.template.defaultfilters import pluralize

from annotation.core.criteria import asked_of_reviewers
from annotation.core.permissions import Verb
from annotation.core.refusals import Conflict, Invalid
from annotation.models import SCORE_SIDES, Check, Project, Sample
from annotation.models.base import SEED_BITS, new_seed
from annotation.sampling.queries.check_samples import check_samples, eligible
from annotation.sampling.queries.extension import Extension, extension
from annotation.sampling.queries.forecast import forecast
from annotation.sampling.queries.pace import seconds_per_check
from annotation.sampling.queries.rating_samples import rating_samples, summaries_to_rate
from annotation.sampling.services.cancel_sample import cancel_sample
from annotation.sampling.services.extend_sample import extend_sample
from annotation.sampling.services.sample_checks import design_of, need_blind_answers
from annotation.sampling.services.sample_checks import sample_checks as take_sample
from annotation.sampling.services.sample_ratings import sample_ratings
from annotation.web.confirm import is_confirmed
from annotation.web.htmx import Request
from annotation.web.numbers import need_whole_number, whole_number
from annotation.web.refusals import status_of
from annotation.web.rooms import Room, enter, found
from annotation.web.screen import screen
from evaluation.statistics import FEWEST_FOR_INTERVAL, Forecast

METHODS = (
    (Sample.Method.ACTIVE, "more claims where the judge is unsure"),
    (Sample.Method.UNIFORM, "the same chance for every claim"),
)
PROPOSED_MINUTES = 60
MOST_MINUTES = 100_000
UNKNOWN_SECONDS = 30.0
"""The assumed seconds of an answer if no answer has been timed."""


@screen("GET")
def check_samples_page(request: Request, slug: str) -> HttpResponse:
    return _page(request, enter(request, slug, Verb.ASSIGN, here="assignments"))


@screen("POST")
def sample_checks(request: Request, slug: str) -> HttpResponse:
    room = enter(request, slug, Verb.ASSIGN, here="assignments")
    try:
        return _sample(request, room)
    except Invalid as refusal:
        return _page(request, room, refusal=refusal)


def _side(request: Request) -> Check.Side:
    side = SCORE_SIDES.get(request.POST.get("score", ""))
    if side is None:
        raise Invalid(f"The score is one of {', '.join(SCORE_SIDES)}.", field="score")
    return side


def _sample(request: Request, room: Room) -> HttpResponse:
    project, method = room.project, request.POST.get("method", "")
    side = _side(request)
    checks = eligible(project, side).count()
    seed = whole_number(request.POST.get("seed", ""), most=2**SEED_BITS - 1)
    if not is_confirmed(request):
        need_blind_answers(project)
        size, says = _forecast(request, room, side, checks)
        proposed = {"size": size, "says": says, "seed": new_seed()}
        return _page(request, room, proposed=proposed)
    share = _size(request, checks) / checks
    sampled = take_sample(project=project, by=request.user, method=method, share=share, side=side, seed=seed)
    messages.success(request, f"{sampled.sampled_checks.count():,} claims sampled for review.")
    return redirect("samples", project.slug)


def _forecast(request: Request, room: Room, side: Check.Side, checks: int) -> tuple[int, list[str]]:
    seconds = seconds_per_check(room.project)
    if request.POST.get("size"):
        size = _size(request, checks)
    elif checks:
        size = min(checks, max(1, int(_minutes(request) * 60 / (seconds or UNKNOWN_SECONDS))))
    else:
        raise Invalid("There are no claims to sample. Start a run first.", field="score")
    expected = forecast(room.project, side, design_of(request.POST.get("method", "")))
    return size, [_work(size, seconds), _precision(expected, size)]


def _precision(expected: Forecast, size: int) -> str:
    reached = expected.margin(size) if size <= expected.items else None
    if reached is not None:
        return f"Each average would be within about ±{reached:.2f}. This range covers other documents of this kind."
    fewest = min((system.count for system in expected.systems), default=0)
    if fewest < FEWEST_FOR_INTERVAL:
        return (
            f"Nobody can say how precise the averages become: this needs {FEWEST_FOR_INTERVAL} documents of every "
            f"system, and one has only {fewest or 1}. The answers still show how often the judge is right."
        )
    if expected.items and expected.margin(expected.items) is not None:
        return (
            f"With so few answers, some system would have answers in fewer than {FEWEST_FOR_INTERVAL} documents, so "
            "its average would have no range. Enter more minutes."
        )
    return "Nobody can say how precise the averages become, because the judge finds no difference between documents."


def _work(checks: int, seconds: float | None) -> str:
    each = UNKNOWN_SECONDS if seconds is None else seconds
    how = f"an assumed {each:.0f} s each" if seconds is None else f"{each:.0f} s each, as the newest took"
    return f"{_duration(checks, each).capitalize()} of work: {checks:,} answer{pluralize(checks)} at {how}."


def _duration(checks: int, each: float) -> str:
    hours, minutes = divmod(max(1, round(checks * each / 60)), 60)
    numbers = " ".join(
        f"{count:,} {noun if count == 1 else noun + 's'}"
        for count, noun in ((hours, "hour"), (minutes, "minute"))
        if count
    )
    return f"about {numbers}"


def _minutes(request: Request) -> int:
    message = f"Enter between 1 and {MOST_MINUTES:,} minutes."
    minutes = need_whole_number(request.POST.get("minutes", ""), message, field="minutes", most=MOST_MINUTES)
    if not minutes:
        raise Invalid(message, field="minutes")
    return minutes


def _size(request: Request, checks: int) -> int:
    message = f"Between 1 and {checks:,} claims can be sampled."
    size = need_whole_number(request.POST.get("size", ""), message, field="size", most=checks)
    if not size:
        raise Invalid(message, field="size")
    return size


@screen("POST")
def extend_sample_page(request: Request, slug: str) -> HttpResponse:
    room = enter(request, slug, Verb.ASSIGN, here="assignments")
    try:
        sampled = extend_sample(project=room.project, by=request.user, side=_side(request))
    except (Conflict, Invalid) as refusal:
        return _page(request, room, refusal=refusal)
    messages.success(request, f"{sampled.sampled_checks.count():,} claims sampled for review.")
    return redirect("samples", slug)


@screen("POST")
def cancel_sample_page(request: Request, slug: str, sample_id: str) -> HttpResponse:
    room = enter(request, slug, Verb.ASSIGN, here="assignments")
    rows = Sample.objects.filter(project=room.project).select_related("project").defer("frame")
    try:
        cancel_sample(sample=found(rows, sample_id, "random sample"), by=request.user)
    except (Conflict, Invalid) as refusal:
        return _page(request, room, refusal=refusal)
    messages.success(
        request, "Random sample cancelled. Its answers still count in scores, but no estimate uses them."
    )
    return redirect("samples", slug)


def _extensions(project: Project) -> Iterator[tuple[str, Extension, str]]:
    for score, side in SCORE_SIDES.items():
        if proposed := extension(project, side):
            yield score, proposed, _work(proposed.awaited, seconds_per_check(project))


@screen("POST")
def sample_ratings_page(request: Request, slug: str) -> HttpResponse:
    room = enter(request, slug, Verb.ASSIGN, here="assignments")
    criterion = asked_of_reviewers(room.project).filter(public_id=request.POST.get("criterion", "")).first()
    message, seed = "Enter the number of summaries.", whole_number(request.POST.get("seed", ""))
    try:
        if criterion is None:
            raise Invalid("Choose one of the questions.", field="criterion")
        size = need_whole_number(request.POST.get("summaries", ""), message, field="size", most=10**9)
        sample_ratings(project=room.project, by=request.user, criterion=criterion, size=size, seed=seed)
    except Invalid as refusal:
        return _page(request, room, refusal=refusal)
    messages.success(request, f"{size:,} summaries sampled. Reviewers rate them first.")
    return redirect("samples", slug)


def _page(
    request: Request,
    room: Room,
    *,
    refusal: Conflict | Invalid | None = None,
    proposed: Mapping[str, object] | None = None,
) -> HttpResponse:
    context = {
        "room": room,
        "samples": [*check_samples(room.project), *rating_samples(room.project)],
        "extensions": [] if proposed else list(_extensions(room.project)),
        "methods": METHODS,
        "scores": list(SCORE_SIDES),
        "questions": asked_of_reviewers(room.project),
        "summaries": summaries_to_rate(room.project).count(),
        "minutes": request.POST.get("minutes", PROPOSED_MINUTES),
        "refusal": refusal,
        "proposed": proposed,
        "form": request.POST,
    }
    return render(request, "sampling/samples.html", context, status=status_of(refusal) if refusal else 200)
