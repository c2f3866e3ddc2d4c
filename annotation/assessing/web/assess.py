"""The pages of an assessor's own work: list of sets, queue, SEE form, acts and closing."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict

from django.contrib import messages
from django.http import HttpResponse, JsonResponse
from django.http.request import RawPostDataException
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache

from annotation.assessing.queries.assessment import (
    SeeForm,
    assignment_to_save,
    own_assignment,
    own_reading,
    see_form,
    source_text,
)
from annotation.assessing.queries.own_desk import own_desk
from annotation.assessing.queries.progress import slips_in
from annotation.assessing.services import queue
from annotation.assessing.services.acts import RatingAct, read_acts
from annotation.assessing.services.close_assignment import close_assignment as close
from annotation.assessing.services.open_assignment import open_assignment
from annotation.assessing.services.save_acts import LONGEST_UNIT_NOTE, save_acts
from annotation.assessing.services.save_acts import judge_unit as judge
from annotation.core.by_hand import kept_plans
from annotation.core.permissions import Verb, project_for
from annotation.core.refusals import Invalid
from annotation.web.confirm import ask_to_confirm, is_confirmed
from annotation.web.htmx import Request, page_or_fragment
from annotation.web.numbers import need_whole_number
from annotation.web.rooms import enter
from annotation.web.screen import json_screen, screen
from evaluation.metrics import Marks, MarkWarning

VALUE, FOLLOWS = "value-", "follows-"
"""Prefixes of the field names in a plain form: the answer to a criterion, and the version that it follows."""


@screen("GET")
@never_cache
def work(request: Request, slug: str) -> HttpResponse:
    room = enter(request, slug, Verb.ASSESS, here="work")
    desk = own_desk(room.project, request.user)
    context = {"room": room, "desk": desk}
    return render(request, "assessing/form/work.html", context)


@screen("GET")
@never_cache
def assess(request: Request, slug: str, reading_id: str) -> HttpResponse:
    room = enter(request, slug, Verb.ASSESS, here="work")
    reading = own_reading(room.project, request.user, reading_id)
    open_assignment(reading.assignment)
    form = see_form(room.project, request.user, reading)
    context = {
        "room": room,
        "form": form,
        "units": list(zip(form.units, _slips(form), strict=True)),
        "longest_note": LONGEST_UNIT_NOTE,
    }
    return render(request, "assessing/form/page.html", context)


@screen("GET")
def source(request: Request, slug: str, reading_id: str) -> HttpResponse:
    room = enter(request, slug, Verb.ASSESS, here="work")
    reading = own_reading(room.project, request.user, reading_id)
    context = {"room": room, "reading_id": reading_id, "source": source_text(reading)}
    return page_or_fragment(
        request, page="assessing/form/source.html", fragment="assessing/form/_source.html", context=context
    )


@screen("POST")
def judge_unit(request: Request, slug: str, reading_id: str, unit_id: str) -> HttpResponse:
    room = enter(request, slug, Verb.ASSESS, here="work")
    reading = own_reading(room.project, request.user, reading_id)
    judge(
        reading=reading,
        by=request.user,
        unit_id=unit_id,
        percent=_whole(request.POST.get("percent", ""), "percent"),
        marks=[_number(mark, "marks") for mark in request.POST.getlist("marks")],
        note=request.POST.get("note", ""),
        follows=_number(request.POST.get("follows", "0"), "follows"),
    )
    page = reverse("assess", kwargs={"slug": slug, "reading_id": reading_id})
    return redirect(f"{page}#unit-{unit_id}")


@screen("POST")
def rate(request: Request, slug: str, reading_id: str) -> HttpResponse:
    room = enter(request, slug, Verb.ASSESS, here="work")
    reading = own_reading(room.project, request.user, reading_id)
    acts = [
        RatingAct(
            reading_id,
            criterion := name.removeprefix(VALUE),
            _whole(text, name),
            follows=_number(request.POST.get(f"{FOLLOWS}{criterion}", "0"), "follows"),
        )
        for name, text in request.POST.dict().items()
        if name.startswith(VALUE)
    ]
    if not acts:
        raise Invalid("Choose an answer first.", field="value")
    save_acts(assignment=reading.assignment, by=request.user, acts=acts, all_or_none=True)
    return redirect("assess", slug=slug, reading_id=reading_id)


@json_screen
@kept_plans()
def acts(request: Request, slug: str, assignment_id: str) -> JsonResponse:
    assignment = assignment_to_save(slug, request.user, assignment_id)
    if assignment is None:
        project = project_for(request.user, slug, Verb.ASSESS)
        assignment = own_assignment(project, request.user, assignment_id)
    acts = read_acts(_body(request, {"acts"}).get("acts"))
    return JsonResponse(asdict(save_acts(assignment=assignment, by=request.user, acts=acts)))


@screen("POST")
def close_assignment(request: Request, slug: str, assignment_id: str) -> HttpResponse:
    room = enter(request, slug, Verb.ASSESS, here="work")
    own = own_assignment(room.project, request.user, assignment_id)
    slips = [] if is_confirmed(request) or own.closed_at else slips_in(room.project, own.pk)
    if slips:
        return ask_to_confirm(
            request,
            room,
            title="Close the set with these warnings?",
            says=(_slips_in_words(slips), "Closing the set submits it permanently."),
            act="Close the set",
            back=reverse("work", args=[slug]),
            fields={},
        )
    assignment = close(assignment=own, by=request.user)
    messages.success(request, f"{assignment.document_set.external_id} is closed. Your judgments now count.")
    return redirect("work", slug=slug)


@screen("POST")
def pull(request: Request, slug: str) -> HttpResponse:
    room = enter(request, slug, Verb.ASSESS, here="work")
    assignment = queue.pull(project=room.project, by=request.user)
    messages.success(request, f"You have {assignment.document_set.external_id} to judge.")
    return redirect("work", slug=slug)


@screen("POST")
def take_up(request: Request, slug: str, assignment_id: str) -> HttpResponse:
    room = enter(request, slug, Verb.ASSESS, here="work")
    lost = own_assignment(room.project, request.user, assignment_id)
    assignment = queue.take_up(assignment=lost, by=request.user)
    messages.success(
        request, f"You have {assignment.document_set.external_id} again. Your earlier judgments are kept."
    )
    return redirect("work", slug=slug)


@screen("POST")
def give_back(request: Request, slug: str, assignment_id: str) -> HttpResponse:
    room = enter(request, slug, Verb.ASSESS, here="work")
    assignment = own_assignment(room.project, request.user, assignment_id)
    queue.give_back(assignment=assignment, by=request.user)
    messages.success(request, f"{assignment.document_set.external_id} is back in the queue.")
    return redirect("work", slug=slug)


def _body(request: Request, known: Iterable[str]) -> dict[str, object]:
    try:
        body = json.loads(request.body)
    except (ValueError, RecursionError, RawPostDataException):
        raise Invalid("The body of the request is not JSON.") from None
    if not isinstance(body, dict):
        raise Invalid("The body of the request is a JSON object.")
    unknown = sorted(set(body) - set(known))
    if unknown:
        raise Invalid(f"There is no input {unknown[0]!r}.", field=unknown[0])
    return body


def _slips(form: SeeForm) -> list[MarkWarning | None]:
    there = {summary.number for summary in form.summary_units}
    # Ignore marks on summary units that a later import removed, because the form does not show these units.
    marks = Marks.of(
        {unit.number: there.intersection(unit.marks) for unit in form.units},
        reference_units=len(form.units),
        summary_units=max(there, default=0),
    )
    slips = {slip.reference_unit: slip for slip in marks.warnings([unit.percent for unit in form.units])}
    return [slips.get(unit.number) for unit in form.units]


def _slips_in_words(summaries: list[int]) -> str:
    what = "1 reference unit has" if len(summaries) == 1 else f"{len(summaries)} reference units have"
    named = ", ".join(f"summary {number}" for number in sorted(set(summaries)))
    return f"{what} a percent but no marked summary unit, or 0 % with a marked one: {named}."


def _whole(text: str, field: str) -> int | None:
    return _number(text, field) if text.strip() else None


def _number(text: str, field: str) -> int:
    return need_whole_number(text, f"{field} is a whole number, not {text!r}.", field=field)
