"""The list of watches."""

from __future__ import annotations

from annotation.core.lists import Choices, Column, Kind, List
from annotation.core.permissions import Verb
from annotation.models import Watch

STATE_WORDS = {
    "steady": "Steady",
    "worse": "Worse",
    "judge_changed": "Judge changed",
    "unknown": "Cannot tell yet",
}
STATES = Choices("WatchState", tuple(STATE_WORDS.items()))


def _state(watch: Watch) -> str:
    return str(watch.latest.get("state", "unknown"))


def _sentence(watch: Watch) -> str:
    return str(watch.latest.get("sentence", ""))


WATCHES = List(
    name="watches",
    verbs=(Verb.VIEW_SCORES,),
    rows=lambda viewer: Watch.objects.filter(project=viewer.project).select_related("project"),
    order=("name", "pk"),
    empty="No stream of summaries is watched yet.",
    columns=(
        Column("name", head="Watch", order=True, link="watch"),
        Column("id", "public_id"),
        Column("state", _state, choices=STATES, cell="watches/_state.html", head="State"),
        Column("sentence", _sentence, head="Found", help="The last report in a sentence."),
        Column("length", head="Period", order=True, help="day or week."),
        Column("scores", kind=Kind.TEXTS),
        Column("summaries", kind=Kind.COUNT, head="Summaries a period", order=True),
        Column("checks", kind=Kind.COUNT, head="Checks for people", order=True),
        Column("archived_at", kind=Kind.MOMENT, nullable=True),
    ),
)
