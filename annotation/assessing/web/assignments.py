"""A manager hands document sets to assessors, fills the queue, and sees how far everybody is."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect

from annotation.assessing.queries.assignments import (
    SETS_SHOWN,
    WorkState,
    assessors_in,
    assignable_sets,
    authors_in,
    loads,
    member_named,
    queue_of,
    sitting_counts,
    sitting_in,
    sitting_page,
)
from annotation.assessing.services import recall_sitting
from annotation.assessing.services.assignment_orders import AssignmentOrder, AssignmentPlan, Way
from annotation.assessing.services.name_author import name_author as say_who_wrote
from annotation.assessing.services.plan_assignments import carry_out, plan_assignments
from annotation.assessing.words import given_in_words, plan_in_words, plan_notes, recalled_in_words
from annotation.core.permissions import BLIND_VERBS, Verb
from annotation.core.refusals import Conflict, Invalid
from annotation.models import System
from annotation.models.base import new_seed
from annotation.web.htmx import Request, page_or_fragment
from annotation.web.numbers import need_whole_number
from annotation.web.rooms import Room, enter, found
from annotation.web.screen import screen

WAY_WORDS = (
    (Way.HAND, "By hand", "Selected sets for one person."),
    (Way.MORE, "More sets", "A number of sets for one person, starting with the fewest assessors."),
    (Way.PLAN, "A plan", "The same number of assessors per set, spread evenly."),
    (Way.QUEUE, "The queue", "The same, but assessors take sets from the queue themselves."),
)

LISTS = (
    (WorkState.OPEN, "Open"),
    (WorkState.WAITING, "In the queue"),
    (WorkState.CLOSED, "Closed"),
    (WorkState.RECALLED, "Withdrawn"),
)


@screen("GET")
def assignments(request: Request, slug: str) -> HttpResponse:
    room = enter(request, slug, Verb.ASSIGN, here="assignments")
    return _show(request, room)


@screen("POST")
def assign(request: Request, slug: str) -> HttpResponse:
    """Show what the form comes to, or do it; a plan that has changed since it was shown is shown again."""
    room = enter(request, slug, Verb.ASSIGN, here="assignments")
    try:
        order = _order(request)
        if request.POST.get("act") == "preview":
            plan = plan_assignments(project=room.project, order=order, by=request.user)
            return _show(request, room, plan=plan)
        expected = request.POST.get("expected", "")
        given = carry_out(project=room.project, order=order, by=request.user, expected=expected)
    except (Conflict, Invalid) as refusal:
        return _show(request, room, refusal=refusal)
    messages.success(request, given_in_words(order, len(given)))
    return _show(request, room) if request.htmx else redirect("assignments", slug=slug)


@screen("POST")
def recall(request: Request, slug: str, sitting_id: str) -> HttpResponse:
    room = enter(request, slug, Verb.ASSIGN, here="assignments")
    sitting = recall_sitting.recall(sitting=sitting_in(room.project, sitting_id), by=request.user)
    name = sitting.document_set.external_id
    messages.success(request, f"{name} was withdrawn. Its judgments are kept but not counted.")
    return _show(request, room) if request.htmx else redirect("assignments", slug=slug)


@screen("POST")
def reassign(request: Request, slug: str, sitting_id: str) -> HttpResponse:
    room = enter(request, slug, Verb.ASSIGN, here="assignments")
    sitting = sitting_in(room.project, sitting_id)
    try:
        to = member_named(room.project, request.POST.get("assessor", ""), field="assessor")
        given = recall_sitting.reassign(sitting=sitting, to=to, by=request.user)
    except (Conflict, Invalid) as refusal:
        return _show(request, room, refusal=refusal)
    messages.success(request, f"{to.username} has {given.document_set.external_id} to judge.")
    return _show(request, room) if request.htmx else redirect("assignments", slug=slug)


@screen("POST")
def requeue(request: Request, slug: str, sitting_id: str) -> HttpResponse:
    room = enter(request, slug, Verb.ASSIGN, here="assignments")
    sitting = recall_sitting.requeue(sitting=sitting_in(room.project, sitting_id), by=request.user)
    messages.success(request, f"{sitting.document_set.external_id} waits in the queue.")
    return _show(request, room) if request.htmx else redirect("assignments", slug=slug)


@screen("POST")
def withdraw_waiting(request: Request, slug: str) -> HttpResponse:
    """Take out of the queue what waits there for nobody."""
    room = enter(request, slug, Verb.ASSIGN, here="assignments")
    withdrawn = recall_sitting.withdraw_stranded(project=room.project, by=request.user)
    sittings = "1 assignment was" if withdrawn == 1 else f"{withdrawn} assignments were"
    messages.success(request, f"{sittings} removed from the queue.")
    return _show(request, room) if request.htmx else redirect("assignments", slug=slug)


@screen("POST")
def name_author(request: Request, slug: str, system_id: str) -> HttpResponse:
    """Say which member wrote a system's summaries. Closed to the blind."""
    room = enter(request, slug, Verb.NAME_AUTHORS, here="assignments")
    system = found(System.objects.filter(project=room.project), system_id, "system")
    name = request.POST.get("person", "").strip()
    try:
        person = member_named(room.project, name, field="assessor") if name else None
        say_who_wrote(system=system, person=person, by=request.user)
    except Invalid as refusal:
        return _show(request, room, refusal=refusal)
    messages.success(request, f"{system.name}: {f'written by {name}' if name else 'by no member'}.")
    return _show(request, room) if request.htmx else redirect("assignments", slug=slug)


def _show(
    request: Request,
    room: Room,
    *,
    plan: AssignmentPlan | None = None,
    refusal: Conflict | Invalid | None = None,
) -> HttpResponse:
    state = _state(request.GET.get("state", ""))
    counts = sitting_counts(room.project)
    sets = assignable_sets(room.project)
    page = sitting_page(room.project, viewer=request.user, state=state, after=request.GET.get("after", ""))
    context = {
        "room": room,
        "page": page,
        "sittings": [(row, recalled_in_words(row)) for row in page.rows],
        "state": state,
        "lists": [(name, words, counts[name]) for name, words in LISTS],
        "loads": loads(room.project),
        "queue": queue_of(room.project),
        "sets": sets,
        "has_more_sets": len(sets) == SETS_SHOWN,
        "assessors": assessors_in(room.project),
        "authors": authors_in(room.project) if room.may["name_authors"] else [],
        "knows_authors": room.may["name_authors"],
        "ways": WAY_WORDS,
        "form": _typed(request, plan),
        "plan": plan,
        "plan_in_words": plan_in_words(plan) if plan else "",
        "plan_notes": list(plan_notes(plan)) if plan else [],
        "closes": _closes(request, room, plan),
        "refusal": refusal,
    }
    return page_or_fragment(
        request,
        page="assessing/assignments/page.html",
        fragment="assessing/assignments/_room.html",
        context=context,
        status=422 if refusal else 200,
    )


def _closes(request: Request, room: Room, plan: AssignmentPlan | None) -> bool:
    """Whether the plan would give the person work who looks at it, and so close rooms that are open to them now."""
    is_given = plan is not None and any(seat.person_id == request.user.pk for seat in plan.seats)
    return is_given and not room.verbs <= BLIND_VERBS


def _order(request: Request) -> AssignmentOrder:
    """What the form asks for. Raises Invalid."""
    form = request.POST
    try:
        way = Way(form.get("way", Way.HAND))
    except ValueError as error:
        raise Invalid("Choose how to assign sets.", field="way") from error
    is_wide = way in (Way.PLAN, Way.QUEUE)
    people = form.getlist("people") if way == Way.PLAN else [form.get("assessor", "")]
    return AssignmentOrder(
        way=way,
        seed=_whole(form.get("seed", ""), "seed", default=new_seed()),
        people=() if way == Way.QUEUE else tuple(name for name in people if name),
        document_sets=tuple(form.getlist("sets")) if way == Way.HAND else (),
        count=_whole(form.get("count", ""), "count", default=1) if way == Way.MORE else 1,
        per_set=_whole(form.get("per_set", ""), "per_set", default=1) if is_wide else 1,
        # A tick that is not sent is not ticked; a form without the field leaves it to the rule.
        avoid_own="avoid_own" in form or not is_wide,
        by_summary=is_wide and way != Way.QUEUE and "by_summary" in form,
    )


def _typed(request: Request, plan: AssignmentPlan | None) -> dict[str, object]:
    """The form as it was sent, or fresh. The seed of a plan that is shown is the one that it was made with."""
    sent = request.POST if request.method == "POST" and "way" in request.POST else None
    if sent is None:
        return {
            "way": Way.HAND,
            "per_set": 2,
            "count": 5,
            "avoid_own": True,
        }
    return {
        "way": sent.get("way"),
        "assessor": sent.get("assessor"),
        "sets": sent.getlist("sets"),
        "people": sent.getlist("people"),
        "count": sent.get("count"),
        "per_set": sent.get("per_set"),
        "avoid_own": "avoid_own" in sent,
        "by_summary": "by_summary" in sent,
        "seed": plan.order.seed if plan else "",
    }


def _state(word: str) -> WorkState:
    try:
        return WorkState(word or WorkState.OPEN)
    except ValueError as error:
        raise Invalid(f"There is no list of assignments called {word!r}.", field="state") from error


def _whole(text: str, field: str, *, default: int) -> int:
    if not text.strip():
        return default
    message = f"{field.replace('_', ' ')} is a whole number, not {text!r}."
    return need_whole_number(text, message, field=field)
