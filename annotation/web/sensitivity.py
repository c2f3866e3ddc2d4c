"""The sensitivity page: how far the order of the systems hangs on choices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from django.http import HttpResponse

from annotation.exports.sensitivity import SENSITIVITY_TABLES
from annotation.models import Analysis
from annotation.permissions import Verb
from annotation.services.make_analysis import made
from annotation.web.drawings import draw_weights
from annotation.web.htmx import Request, page_or_fragment
from annotation.web.rooms import enter
from annotation.web.screen import screen
from annotation.web.table_files import analysis_file
from annotation.web.target_tables import Table, opened_table, target_choices, target_word

CROSSINGS_SHOWN = 12
NOTHING: dict[str, Any] = {"targets": []}


class Cell(NamedTuple):
    """A system's rank and mean under one choice; `is_moved` where the rank is another than now."""

    rank: int | None
    mean: float | None
    is_moved: bool


class RankTable(NamedTuple):
    """The ranks of the systems, in their present order, under several choices: one column each."""

    columns: list[dict[str, Any]]
    rows: list[tuple[str, list[Cell]]]


@screen("GET")
def sensitivity(request: Request, slug: str) -> HttpResponse:
    room = enter(request, slug, Verb.VIEW_SCORES, here="scores")
    stored = made(project=room.project, kind=Analysis.Kind.SENSITIVITY)
    found = stored.payload or NOTHING
    table = opened_table(request, room.project, found["targets"])
    context = {
        "room": room,
        "made": stored,
        "address": request.get_full_path(),
        "found": found,
        "table": table,
        "target": target_word(table) if table else "",
        "targets": target_choices(found["targets"]),
        "picture": draw_weights(table) if table and table["length"] else None,
        "tables": list(SENSITIVITY_TABLES),
        **(_tables(table) if table else {}),
    }
    return page_or_fragment(
        request, page="sensitivity/page.html", fragment="sensitivity/_room.html", context=context
    )


@screen("GET")
def sensitivity_file(request: Request, slug: str, table: str) -> HttpResponse:
    """One of the tables as CSV or JSON."""
    room = enter(request, slug, Verb.VIEW_SCORES, here="scores")
    return analysis_file(request, room.project, Analysis.Kind.SENSITIVITY, SENSITIVITY_TABLES, table)


def _tables(table: Table) -> dict[str, Any]:
    length, blend = table["length"], table["blend"]
    return {
        "by_length": _ranks(table, length["orders"]) if length else None,
        "by_blend": _ranks(table, blend["orders"]) if blend else None,
        "by_judge": _ranks(table, [table["present"], *table["judges"]]) if table["judges"] else None,
        "by_person": _ranks(table, [table["present"], *table["people"]]) if table["people"] else None,
        "length_crossings": _nearest(length) if length else [],
        "blend_crossings": _nearest(blend) if blend else [],
    }


def _ranks(table: Table, orders: Sequence[Mapping[str, Any]]) -> RankTable:
    present = table["present"]
    return RankTable(
        columns=[dict(order) for order in orders],
        rows=[
            (
                system,
                [
                    Cell(order["ranks"].get(system), order["means"].get(system), system in order["moved"])
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
