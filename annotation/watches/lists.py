"""The list of watches."""

from __future__ import annotations

from annotation.core.lists import Choices, Column, Kind, List
from annotation.core.permissions import Verb
from annotation.models import Watch

_WORDS = {
    "steady": "Steady",
    "worse": "Worse",
    "judge_changed": "Judge changed",
    "unknown": "Cannot tell yet",
}
STATES = Choices("WatchState", tuple(_WORDS.items()))

WATCHES = List(
    name="watches",
    verbs=(Verb.VIEW_SCORES,),
    rows=lambda viewer: Watch.objects.filter(project=viewer.project).select_related("project"),
    order=("name", "pk"),
    empty="No stream of summaries is watched yet.",
    columns=(
        Column("name", head="Watch", order=True, link="watch"),
        Column("id", "public_id"),
        Column("state", lambda watch: watch.latest["state"], choices=STATES, head="State"),
        Column("sentence", lambda watch: watch.latest["sentence"], head="Found", help="Of the last report."),
        Column("archived_at", head="Stopped", kind=Kind.MOMENT, nullable=True),
    ),
)
