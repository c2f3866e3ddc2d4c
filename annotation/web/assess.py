"""An assessor's own work, blind: the list of sets, the SEE form, each act in it, and closing a set."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache

from annotation.permissions import Verb
from annotation.queries.assessment import (
    SeeForm,
    own_assignment,
    own_sitting,
    own_work,
    see_form,
    source_text,
)
from annotation.refusals import Invalid
from annotation.services.assess import close_sitting as close
from annotation.services.assess import judge_unit as judge
from annotation.web.htmx import Request, page_or_fragment
from annotation.web.rooms import enter
from annotation.web.screen import screen
from evaluation import Marks, MarkWarning


@screen("GET")
@never_cache
def work(request: Request, slug: str) -> HttpResponse:
    room = enter(request, slug, Verb.ASSESS, here="work")
    sets = own_work(room.project, request.user)
    sets.sort(key=lambda work: work.closed_at is not None)
    return render(request, "assess/work.html", {"room": room, "sets": sets})


@screen("GET")
@never_cache
def assess(request: Request, slug: str, assignment_id: str) -> HttpResponse:
    room = enter(request, slug, Verb.ASSESS, here="work")
    assignment = own_assignment(room.project, request.user, assignment_id)
    form = see_form(room.project, request.user, assignment)
    context = {"room": room, "form": form, "units": list(zip(form.units, _slips(form), strict=True))}
    return page_or_fragment(request, page="assess/page.html", fragment="assess/_form.html", context=context)


@screen("GET")
def source(request: Request, slug: str, assignment_id: str) -> HttpResponse:
    room = enter(request, slug, Verb.ASSESS, here="work")
    assignment = own_assignment(room.project, request.user, assignment_id)
    context = {"room": room, "assignment_id": assignment_id, "source": source_text(assignment)}
    return page_or_fragment(
        request, page="assess/source.html", fragment="assess/_source.html", context=context
    )


@screen("POST")
def judge_unit(request: Request, slug: str, assignment_id: str, unit_id: str) -> HttpResponse:
    """One act: the percent and marks of one model unit. htmx gets the saved state and the progress."""
    room = enter(request, slug, Verb.ASSESS, here="work")
    assignment = own_assignment(room.project, request.user, assignment_id)
    saved = judge(
        assignment=assignment,
        by=request.user,
        unit_id=unit_id,
        percent=_whole(request.POST.get("percent", ""), "percent"),
        marks=[_number(mark, "marks") for mark in request.POST.getlist("marks")],
        note=request.POST.get("note", ""),
        client_id=request.POST.get("client_id", "")[:36],
        seq=_whole(request.POST.get("seq", ""), "seq") or 0,
    )
    if not request.htmx:
        page = reverse("assess", kwargs={"slug": slug, "assignment_id": assignment_id})
        return redirect(f"{page}#unit-{unit_id}")
    form = see_form(room.project, request.user, assignment)
    slip = next(slip for unit, slip in zip(form.units, _slips(form), strict=True) if unit.unit_id == unit_id)
    context = {"room": room, "form": form, "saved": saved, "unit_id": unit_id, "slip": slip}
    return render(request, "assess/_saved.html", context)


@screen("POST")
def close_sitting(request: Request, slug: str, sitting_id: str) -> HttpResponse:
    room = enter(request, slug, Verb.ASSESS, here="work")
    sitting = close(sitting=own_sitting(room.project, request.user, sitting_id), by=request.user)
    messages.success(
        request, f"{sitting.document_set.external_id} is closed. Your judgments count from now on."
    )
    return redirect("work", slug=slug)


def _slips(form: SeeForm) -> list[MarkWarning | None]:
    """What looks like a slip in the judgment of each unit, in their order; it is said and never blocks."""
    there = {peer.number for peer in form.peer_units}
    # Marks on peer units that a later import took away are no longer on the form.
    marks = Marks.of(
        {unit.number: there.intersection(unit.marks) for unit in form.units},
        model_units=len(form.units),
        peer_units=max(there, default=0),
    )
    slips = {slip.model_unit: slip for slip in marks.warnings([unit.percent for unit in form.units])}
    return [slips.get(unit.number) for unit in form.units]


def _whole(text: str, field: str) -> int | None:
    """A whole number from 0, None where nothing was given. Raises Invalid."""
    return _number(text, field) if text.strip() else None


def _number(text: str, field: str) -> int:
    if not text.strip().isdecimal():
        raise Invalid(f"{field} is a whole number, not {text!r}.", field=field)
    return int(text)
