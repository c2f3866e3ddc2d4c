"""The sensitivity page: how far the order of the systems hangs on choices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from django.http import HttpResponse

from annotation.analysis.figures import EMPTY, figures
from annotation.analysis.leaderboard.differences import target_word
from annotation.analysis.pictures.drawings import draw_weights
from annotation.analysis.sensitivity.table import SENSITIVITY_TABLES
from annotation.analysis.target_tables import LengthTable, opened_table, target_choices
from annotation.analysis.web import figures_page, file_view
from annotation.core.permissions import Verb
from annotation.models import Analysis
from annotation.web.htmx import Request
from annotation.web.rooms import enter
from annotation.web.screen import screen

CROSSINGS_SHOWN = 12


class RankCell(NamedTuple):
    """A system's rank and mean under one choice; `is_moved` where the rank is another than now."""

    rank: int | None
    mean: float | None
    is_moved: bool


class RankTable(NamedTuple):
    """The ranks of the systems, in their present order, under several choices: one column each."""

    columns: list[dict[str, Any]]
    rows: list[tuple[str, list[RankCell]]]


@screen("GET")
def sensitivity(request: Request, slug: str) -> HttpResponse:
    room = enter(request, slug, Verb.VIEW_SCORES, here="sensitivity")
    stored = figures(room.project, Analysis.Kind.SENSITIVITY)
    tables = (stored.payload or EMPTY)["targets"]
    table = opened_table(request, room.project, tables)
    context = {
        "table": table,
        "target": target_word(table["target_words"]) if table else "",
        "targets": target_choices(tables),
        "picture": draw_weights(table) if table and table["length"] else None,
        **(_tables(table) if table else {}),
    }
    return figures_page(request, room, "sensitivity", stored, SENSITIVITY_TABLES, context)


sensitivity_file = file_view(Analysis.Kind.SENSITIVITY, SENSITIVITY_TABLES)


def _tables(table: LengthTable) -> dict[str, Any]:
    length, blend = table["length"], table["blend"]
    return {
        "by_length": _ranks(table, length["orders"]) if length else None,
        "by_blend": _ranks(table, blend["orders"]) if blend else None,
        "by_judge": _ranks(table, [table["present"], *table["judges"]]) if table["judges"] else None,
        "by_person": _ranks(table, [table["present"], *table["people"]]) if table["people"] else None,
        "length_crossings": _nearest(length) if length else [],
        "blend_crossings": _nearest(blend) if blend else [],
    }


def _ranks(table: LengthTable, orders: Sequence[Mapping[str, Any]]) -> RankTable:
    present = table["present"]
    return RankTable(
        columns=[dict(order) for order in orders],
        rows=[
            (
                system,
                [
                    RankCell(order["ranks"].get(system), order["means"].get(system), system in order["moved"])
                    for order in orders
                ],
            )
            for system in present["means"]
        ],
    )


def _nearest(turning: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The crossings nearest to the project's own weight, in the order of their weights."""
    near = sorted(turning["crossings"], key=lambda turn: abs(turn["weight"] - turning["own"]))
    return sorted(near[:CROSSINGS_SHOWN], key=lambda turn: turn["weight"])
