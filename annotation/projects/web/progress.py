"""How far a project's assessors and reviewers are: by set, person, system and sample, and what is closed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from django.http import HttpResponse

from annotation.assessing.queries.assignments import queue_of, sitting_counts
from annotation.assessing.queries.flags import FASTEST_WORDS_PER_SECOND, FEWEST_ALIKE, Flags
from annotation.assessing.queries.oversight import (
    COUNTED,
    closed_rows,
    closed_sittings,
    comparable_sets,
    judged_systems,
    person_rows,
    set_rows,
    system_rows,
)
from annotation.core.paging import page_after
from annotation.core.permissions import Verb, require
from annotation.core.refusals import Invalid
from annotation.core.search import holds
from annotation.core.words import counted
from annotation.projects.queries.overview import check_counts
from annotation.sampling.queries.sample_work import sample_works
from annotation.web.htmx import Request, page_or_fragment
from annotation.web.listing import listing_of
from annotation.web.rooms import Room, enter
from annotation.web.screen import screen


@dataclass(frozen=True, slots=True)
class View:
    """One way to look at progress: its name in the address, its words, and the verb that it needs."""

    name: str
    words: str
    verb: Verb
    rows: Callable[[Request, Room], dict[str, object]]


@screen("GET")
def progress(request: Request, slug: str) -> HttpResponse:
    room = enter(request, slug, Verb.ASSIGN, here="progress")
    counts = sitting_counts(room.project)
    # Where nothing is assigned, what reviewers do is all that there is.
    name = request.GET.get("view", "") or (VIEWS[0].name if any(counts.values()) else "draws")
    view = next((view for view in VIEWS if view.name == name), None)
    if view is None:
        raise Invalid(f"Progress has no view {name!r}.", field="view")
    require(request.user, room.project, view.verb)
    context = {
        "room": room,
        "view": view.name,
        "views": [(each.name, each.words, each is view) for each in VIEWS if each.verb in room.verbs],
        "counts": {state.value: count for state, count in counts.items()},
        "is_assigned": any(counts.values()),
        "checks": check_counts(room.project),
        **view.rows(request, room),
    }
    return page_or_fragment(
        request, page="projects/progress/page.html", fragment="projects/progress/_room.html", context=context
    )


def flags_in_words(flags: Flags) -> list[str]:
    """What is raised, in words; nothing where nothing is."""
    return list(_flags_in_words(flags))


def _flags_in_words(flags: Flags) -> Iterator[str]:
    if flags.fast_summaries:
        yield f"{flags.fast_summaries} of {counted(flags.summaries, 'summary', 'summaries')} faster than reading"
    if flags.fast_units:
        yield f"{flags.fast_units} of {counted(flags.units, 'unit')} faster than reading"
    if flags.alike_sittings:
        of = f" in {flags.alike_sittings} of {flags.sittings} sets" if flags.sittings > 1 else ""
        yield f"the same percent throughout{of}"
    if flags.percents_without_marks:
        yield f"{counted(flags.percents_without_marks, 'percent')} without marks"
    if flags.marks_without_percent:
        yield f"{counted(flags.marks_without_percent, 'marked unit')} at 0 %"
    if flags.own_models:
        yield f"{flags.own_models} with their own model summary"
    if flags.own_peers:
        yield f"{counted(flags.own_peers, 'peer summary', 'peer summaries')} of their own"
    if flags.given_again:
        of = f" ({flags.given_again} of {flags.sittings} sets)" if flags.sittings > 1 else ""
        yield f"reassigned after withdrawal: scores may have been seen in between{of}"


def _sets(request: Request, room: Room) -> dict[str, object]:
    columns = {"name": "external_id", **{state.value: state.value for state in COUNTED}}
    listing = listing_of(
        request,
        what="document sets",
        target="#sets-list",
        columns=columns,
        keep={"view": VIEWS[0].name},
    )
    counted = listing.sort.removeprefix("-")
    sets = comparable_sets(room.project, counted=counted if counted in COUNTED else "")
    found = sets.filter(holds(listing.words, "external_id"))
    shown, after = page_after(found, order=listing.order, after=listing.after, scope=sets)
    stalled = [row for row in queue_of(room.project).held if row.is_stalled]
    rows = set_rows(room.project, shown, viewer=request.user)
    return {"rows": rows, "after": after, "stalled": stalled, "listing": listing}


def _people(request: Request, room: Room) -> dict[str, object]:
    knows_flags = room.may["view_flags"]
    rows = [
        (row, flags_in_words(row.flags) if row.flags else [])
        for row in person_rows(room.project, with_judgments=knows_flags)
    ]
    return {"rows": rows, "knows_flags": knows_flags, **_limits()}


def _systems(request: Request, room: Room) -> dict[str, object]:
    systems = judged_systems(room.project)
    shown, after = page_after(systems, order=("name",), after=_after(request), scope=systems)
    return {"rows": system_rows(shown), "after": after}


def _closed(request: Request, room: Room) -> dict[str, object]:
    person = request.GET.get("person", "")
    shown, after = page_after(
        closed_sittings(room.project, person=person).select_related("assessor", "document_set"),
        order=("-pk",),
        after=_after(request),
        scope=closed_sittings(room.project),
    )
    rows = [(row, flags_in_words(row.flags)) for row in closed_rows(shown)]
    return {"rows": rows, "after": after, "person": person, **_limits()}


def _draws(request: Request, room: Room) -> dict[str, object]:
    return {"rows": sample_works(room.project)}


VIEWS = (
    View("sets", "Sets", Verb.ASSIGN, _sets),
    View("people", "Assessors", Verb.ASSIGN, _people),
    View("systems", "Systems", Verb.VIEW_SCORES, _systems),
    View("closed", "Closed", Verb.VIEW_FLAGS, _closed),
    View("draws", "Random samples", Verb.ASSIGN, _draws),
)


def _after(request: Request) -> str:
    return request.GET.get("after", "")


def _limits() -> dict[str, object]:
    return {"fastest": FASTEST_WORDS_PER_SECOND, "fewest_alike": FEWEST_ALIKE}
