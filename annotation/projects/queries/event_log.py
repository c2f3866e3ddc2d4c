from __future__ import annotations

import json

from annotation.core.lists import Column, Kind, List, Viewer
from annotation.core.permissions import Verb
from annotation.models import Event
from annotation.models.event import Events


def _rows(viewer: Viewer) -> Events:
    return Event.objects.filter(project=viewer.project).select_related("actor")


def _details(event: Event) -> str:
    return json.dumps(event.data, ensure_ascii=False) if event.data else ""


EVENTS = List(
    name="events",
    verbs=(Verb.VIEW_EVENTS,),
    rows=_rows,
    order=("-pk",),
    empty="No entries yet.",
    columns=(
        Column("created_at", kind=Kind.MOMENT, head="When (UTC)", order="pk"),
        Column("actor", "actor.username", head="Who", search=True, missing="the system"),
        Column("verb", head="Action", search=True),
        Column("target_kind", head="Object", search=True, cell="projects/event_log/_object.html"),
        Column("target_id", search=True),
        Column("data", _details, head="Details", cell="projects/event_log/_details.html"),
    ),
)
