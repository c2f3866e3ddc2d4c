from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence

from django.db.models import Q

from annotation.core.lists import Choices, Column, Filter, Kind, List, Viewer
from annotation.core.permissions import Verb
from annotation.models import Event
from annotation.models.event import Events


def _rows(viewer: Viewer) -> Events:
    return Event.objects.filter(project=viewer.project).select_related("actor")


def _details(event: Event) -> str:
    return json.dumps(event.data, ensure_ascii=False) if event.data else ""


SENTENCES = {
    "override": "Answered {label}",
    "withdraw verdict": "Withdrew the answer {label}",
    "adjudicate": "Decided a dispute: {label}{percent}",
    "assign": "Assigned {document_set} to {assessor}",
    "close assignment": "Finished {document_set}",
    "start run": "Started a run of {judge}",
    "import": "Imported {file}",
    "add member": "Added {person}",
    "change member": "Changed the roles of {person}",
    "remove member": "Removed {person}",
    "invite": "Invited {for}",
}
"""Sentences about verbs; the braces name values of the event. Other verbs are shown in the past tense."""

PAST = {"cancel": "cancelled", "make": "made", "split": "split", "stop": "stopped", "take": "took"}
PAST |= {"give": "gave", "teach": "taught", "withdraw": "withdrew", "write": "wrote"}


def sentence(event: Event) -> str:
    """Describe an event in a few words, such as "Answered no; the judge had said yes"."""
    values = defaultdict(str, {name: value for name, value in event.data.items() if value is not None})
    verb, _, rest = event.verb.partition(" ")
    past = f"{PAST.get(verb, verb.removesuffix('e') + 'ed')} {rest}".strip()
    said = SENTENCES.get(event.verb, past.capitalize()).format_map(values)
    if event.verb == "override" and values["final_before"]:
        source = {"judge": "the judge", "rule": "a rule"}.get(values["final_source_before"], "a person")
        too = " too" if values["final_before"] == values["label"] else ""
        said += f"; {source} had said {values['final_before']}{too}"
    return said


ABOUT = {
    "answers": ("check", "comparison", "comment"),
    "texts": ("document set", "summary", "claim"),
    "assignments": ("assignment",),
    "judges": ("judge", "run", "prompt", "sample"),
    "files": ("import", "export"),
    "project": ("project", "guideline", "membership", "invitation"),
}
"""The kinds of rows, by choice of the filter."""


def _about(viewer: Viewer, value: str) -> Q:
    return Q(target_kind__in=ABOUT[value])


def _people(viewer: Viewer) -> Sequence[tuple[str, str]]:
    names = viewer.project.memberships.order_by("user__username").values_list("user__username", flat=True)
    return [(name, name) for name in names]


EVENTS = List(
    name="events",
    verbs=(Verb.VIEW_EVENTS,),
    rows=_rows,
    order=("-pk",),
    empty="No entries yet.",
    filters=(
        Filter("actor", "actor__username", options=_people, title="Person"),
        Filter(
            "about",
            _about,
            title="About",
            choices=Choices(
                "EventAbout",
                (
                    ("answers", "Answers and comments"),
                    ("texts", "Texts and claims"),
                    ("assignments", "Assignments"),
                    ("judges", "Judges, runs and samples"),
                    ("files", "Files"),
                    ("project", "Project and people"),
                ),
            ),
        ),
    ),
    columns=(
        Column("created_at", kind=Kind.MOMENT, head="When (UTC)", order="pk"),
        Column("actor", "actor.username", head="Who", search=True, missing="Coverdict"),
        Column("sentence", sentence, head="What happened", cell="projects/event_log/_sentence.html"),
        Column("verb", search=True),
        Column("target_kind", search=True),
        Column("target_id", search=True),
        Column("data", _details),
    ),
)
