"""The plan page: what is known now, what answers to more checks would bring, and the draw that brings it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeVar
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from annotation.analysis.estimates.forecasts import DESIGNS, DOUBTS, DRAWABLE
from annotation.analysis.estimates.plan import WIDTHS, plan_key
from annotation.analysis.estimates.proposal import has_pilot, reachable, suited, useful_sizes, wanted_of
from annotation.analysis.estimates.sample_planned import refuse_plan, sample_planned
from annotation.analysis.estimates.table import PLAN_TABLES
from annotation.analysis.estimates.words import (
    DESIGN_NAMES,
    duration_in_words,
    effort_in_words,
    new_sample_in_words,
    replacing_in_words,
    width_in_words,
)
from annotation.analysis.figures import EMPTY, Figures, figures
from annotation.analysis.leaderboard.differences import target_word
from annotation.analysis.target_tables import LengthTable, opened_table, target_choices
from annotation.analysis.web import asked_score, figures_page, file_view
from annotation.core.permissions import Verb
from annotation.core.refusals import Invalid, NotFound
from annotation.models import SCORE_SIDES, Analysis, Check
from annotation.models.base import SEED_BITS, new_seed
from annotation.sampling.queries.check_samples import drawable, open_samples
from annotation.sampling.queries.pace import seconds_per_check
from annotation.sampling.words import SAMPLE_TERMS, time_in_words, work_in_words
from annotation.web.confirm import ask_to_confirm, is_confirmed
from annotation.web.htmx import Request
from annotation.web.numbers import need_whole_number
from annotation.web.refusals import status_of
from annotation.web.rooms import Room, enter
from annotation.web.screen import screen
from evaluation.statistics import FEW_DOCUMENTS, TOO_FEW_DOCUMENTS

HOW = {
    "uniform": "simple random sample within each system and length",
    "stratified": "random within each system, length and judge uncertainty, with more checks where the judge errs most",
    "active": "each check in proportion to the judge's expected error",
}

Number = TypeVar("Number", int, float)


class SizeLine(NamedTuple):
    """One size of a draw: its time, and what each design would bring, in the order of `DESIGNS`."""

    size: int
    time: str
    outlooks: list[tuple[str, dict[str, Any]]]
    is_chosen: bool


class ChosenDraw(NamedTuple):
    """What is looked at: a width, a size and a design, each from the address or the best that there is.

    `is_wished` tells that somebody asked for the width; else `why_width` says how it was found. There is
    no size where the address names none and no draw would add to what people have answered.
    """

    width: float
    size: int | None
    design: str
    is_wished: bool
    why_width: str


class SystemLine(NamedTuple):
    """A system in the chosen draw: the width that its interval would have, and its checks by stratum of doubt."""

    system: str
    width: float | None
    strata: list[tuple[str, int]]
    checks: int


@screen("GET")
def plan(request: Request, slug: str) -> HttpResponse:
    return _page(request, enter(request, slug, Verb.VIEW_SCORES, here="plan"))


def _score(request: Request) -> str:
    return asked_score(request) or "coverage"


plan_file = file_view(Analysis.Kind.PLAN, PLAN_TABLES, key_of=lambda request, _: plan_key(_score(request)))


@screen("POST")
def draw_plan(request: Request, slug: str) -> HttpResponse:
    room = enter(request, slug, Verb.ASSIGN, here="plan")
    # The blind may draw, and see nothing of the plan.
    may_look = Verb.VIEW_SCORES in room.verbs
    score = _score(request)
    try:
        asked: Any = {
            "side": SCORE_SIDES[score],
            "size": _whole(request.POST.get("size", ""), "size"),
            "design": request.POST.get("design", ""),
            "seed": _whole(request.POST.get("seed", ""), "seed"),
        }
        if not is_confirmed(request):
            refuse_plan(project=room.project, **asked)
            return _confirm(request, room, asked["size"], score, may_look=may_look)
        drawn = sample_planned(project=room.project, by=request.user, **asked)
    except Invalid as refusal:
        if not may_look:
            raise
        return _page(request, room, refusal=refusal)
    count = drawn.drawn_checks.count()
    checks = f"{count:,} {score} {'check' if count == 1 else 'checks'}"
    messages.success(request, f"{checks} sampled for review.")
    return redirect(_back(room, score, may_look=may_look))


def _back(room: Room, score: str, *, may_look: bool) -> str:
    address = reverse("plan" if may_look else "check-draws", args=[room.project.slug])
    return f"{address}?score={score}" if may_look and plan_key(score) else address


def _confirm(request: Request, room: Room, size: int, score: str, *, may_look: bool) -> HttpResponse:
    return ask_to_confirm(
        request,
        room,
        title=f"Create a random sample of {size:,} {score} {'check' if size == 1 else 'checks'}?",
        says=(work_in_words(size, *seconds_per_check(room.project)), SAMPLE_TERMS),
        act="Create the random sample",
        back=_back(room, score, may_look=may_look),
        fields={},
    )


def _page(request: Request, room: Room, *, refusal: Invalid | None = None) -> HttpResponse:
    score = _score(request)
    stored = figures(room.project, Analysis.Kind.PLAN, key=plan_key(score))
    found = stored.payload or EMPTY
    table = opened_table(request, room.project, found["targets"])
    draws = open_samples(room.project, side=SCORE_SIDES[score])
    waiting = sum(draw.drawn - draw.answered for draw in draws)
    context = {
        "score": score,
        "scores": list(SCORE_SIDES) if drawable(room.project, Check.Side.PEER).exists() else [],
        "table": table,
        "target": target_word(table["target_words"]) if table else "",
        "targets": target_choices(found["targets"]),
        "draws": draws,
        "refusal": refusal,
        **(_forecast(request, found, table, waiting) if table and table["outlooks"] else {}),
    }
    status = status_of(refusal) if refusal else 200
    return figures_page(request, room, "estimates", stored, PLAN_TABLES, context, status=status)


def _forecast(request: Request, found: Figures, table: LengthTable, waiting: int) -> dict[str, Any]:
    """What draws of all sizes would bring, and what the chosen one would ask of whom; `waiting` checks are open."""
    chosen = _chosen(request, found, table)
    wish: dict[str, Any] = {"width": chosen.width} if chosen.is_wished else {}
    if plan_key(found["score"]):
        wish["score"] = found["score"]
    wanted = wanted_of(table, chosen.width)
    draw = _draw(found, table, chosen.size, chosen.design) if chosen.size else {}
    lead = _answer(found, table, chosen, waiting, draw.get("widest"), is_reached=wanted["is_reached"])
    return {
        "query": urlencode({"target": target_word(table["target_words"]), **wish}),
        "chosen": chosen,
        "widths": WIDTHS,
        "lead": lead,
        "say": found["complete"] or wanted["sentence"],
        "lines": _lines(found, table, chosen),
        "designs": [DESIGN_NAMES[design] for design in DESIGNS],
        "drawable": [(design, DESIGN_NAMES[design], HOW[design]) for design in DRAWABLE],
        "few_documents": FEW_DOCUMENTS,
        "too_few_documents": TOO_FEW_DOCUMENTS,
        **draw,
    }


def _answer(
    found: Figures,
    table: LengthTable,
    chosen: ChosenDraw,
    waiting: int,
    widest: float | None,
    *,
    is_reached: bool,
) -> str:
    """What is asked of people next, and for what: first what is sampled already."""
    if waiting:
        return f"First finish the current sample: {_work(found, waiting)}."
    # Where the width is reached, that is what is said first.
    if is_reached or not chosen.size:
        return ""
    return effort_in_words(_work(found, chosen.size), chosen.width, widest, systems=table["foretold"])


def _work(found: Figures, size: int) -> str:
    what = "1 claim" if size == 1 else f"{size:,} claims"
    return f"{what} ({time_in_words(size, found['seconds'])})"


def _draw(found: Figures, table: LengthTable, size: int, design: str) -> dict[str, Any]:
    """What the chosen draw would ask of whom, and whether it would take the place of a larger one."""
    outlooks = table["outlooks"][str(size)]
    outlook = outlooks[design]
    # Drawn by lot, few answers are still what people alone go by.
    told = outlooks["people"] if outlook["is_few"] and design == DRAWABLE[0] else outlook
    now, then = table["widest_now"], told["widest"]
    return {
        "outlook": outlook,
        "widest": then,
        # Downwards: fewer than it takes are never told as enough.
        "documents": math.floor(outlook["documents"]),
        "systems": _systems(outlook, told["systems"]),
        "replacing": replacing_in_words(
            size,
            found["pilot_answered"],
            is_narrower=now is not None and then is not None and then < now,
        ),
        "doubts": DOUBTS,
        "new_draw": new_sample_in_words(
            size,
            checks=found["checks"],
            answered=found["drawn_before"],
            is_by_lot=design == DRAWABLE[0],
        ),
        "seed": new_seed(),
    }


def _chosen(request: Request, found: Figures, table: LengthTable) -> ChosenDraw:
    """What the address asks for, else what suits the wished width. Raises NotFound for what is not planned."""
    wished = _among(WIDTHS, request.GET.get("width", ""), "width")
    narrowest = reachable(found, table)
    width = wished or narrowest or WIDTHS[0]
    sizes = useful_sizes(found, table)
    size = _among(sizes, request.GET.get("size", ""), "size") or suited(found, table, width, sizes)
    # Without a pilot nothing shows yet that the judge's doubt means anything: by lot.
    best = _narrowest(table, size) if size and has_pilot(found) else DRAWABLE[0]
    design = request.GET.get("design", "") or best
    if design not in DRAWABLE:
        raise NotFound(f"There is no design {design!r}; there are {', '.join(DRAWABLE)}.")
    return ChosenDraw(width, size, design, is_wished=wished is not None, why_width=width_in_words(narrowest))


def _among(known: Sequence[Number], asked: str, what: str) -> Number | None:
    """The known number that was asked for, None where none was. Raises NotFound."""
    if not asked:
        return None
    named = next((number for number in known if number == _as_number(asked)), None)
    if named is None:
        raise NotFound(f"The plan has no {what} of {asked}.")
    return named


def _as_number(words: str) -> float | None:
    """What the words are as a number, however it is written: 0.2, 0.20, .2."""
    try:
        return float(words)
    except ValueError:
        return None


def _narrowest(table: LengthTable, size: int) -> str:
    """The design whose widest interval is narrowest at this size; by lot where the judge cannot be leant on."""
    outlooks = table["outlooks"][str(size)]
    known = [design for design in DRAWABLE if outlooks[design]["widest"] is not None]
    return min(known, key=lambda design: outlooks[design]["widest"], default=DRAWABLE[0])


def _lines(found: Figures, table: LengthTable, chosen: ChosenDraw) -> list[SizeLine]:
    hours = {each["size"]: each["hours"] for each in found["sizes"]}
    return [
        SizeLine(
            size=size,
            time=duration_in_words(hours[size]),
            outlooks=[(DESIGN_NAMES[design], table["outlooks"][str(size)][design]) for design in DESIGNS],
            is_chosen=size == chosen.size,
        )
        for size in useful_sizes(found, table)
    ]


def _systems(outlook: Mapping[str, Any], widths: Mapping[str, float | None]) -> list[SystemLine]:
    lines = []
    for system, strata in outlook["strata"].items():
        counts = whole_parts([strata[name] for name in DOUBTS])
        lines.append(
            SystemLine(
                system, widths[system], strata=list(zip(DOUBTS, counts, strict=True)), checks=sum(counts)
            )
        )
    return lines


def whole_parts(expected: Sequence[float]) -> list[int]:
    """Expected numbers as whole ones that add up to their rounded sum: the largest remainders are rounded up."""
    parts = [math.floor(each) for each in expected]
    short = round(math.fsum(expected)) - sum(parts)
    largest = sorted(range(len(parts)), key=lambda place: parts[place] - expected[place])
    for place in largest[:short]:
        parts[place] += 1
    return parts


def _whole(words: str, field: str) -> int:
    message = f"The {field} must be a whole number below {2**SEED_BITS:,}."
    return need_whole_number(words, message, field=field, most=2**SEED_BITS - 1)
