"""Shared views of stored statistics: the page and the downloads of its tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from annotation.analysis.figures import Computed
from annotation.analysis.make_analysis import StoredStatistics, current_statistics
from annotation.core.permissions import Verb
from annotation.core.refusals import NotFound
from annotation.core.tables.answer import file_answer
from annotation.core.tables.columns import Cell
from annotation.core.tables.write import CONTENT_TYPES, write_table
from annotation.models import SCORE_SIDES, Analysis, Project
from annotation.web.htmx import Request, page_or_fragment
from annotation.web.rooms import Room, enter
from annotation.web.screen import screen

FigureRow = dict[str, Cell]
FigureTables = Mapping[str, Callable[[Any], Iterable[FigureRow]]]
"""By the name of a table, what makes its rows."""


def asked_score(request: Request) -> str:
    """The score of claims that the address or the form names; empty where it names none. Raises NotFound."""
    asked = str((request.POST or request.GET).get("score", ""))
    if asked and asked not in SCORE_SIDES:
        raise NotFound(f"There is nothing for the score {asked!r}; there is for {' and '.join(SCORE_SIDES)}.")
    return asked


def figures_page(
    request: Request,
    room: Room,
    folder: str,
    stored: StoredStatistics,
    found: Computed | None,
    tables: FigureTables,
    context: Mapping[str, Any],
) -> HttpResponse:
    """The page of statistics whose templates lie in that folder."""
    return page_or_fragment(
        request,
        page=f"analysis/{folder}/page.html",
        fragment=f"analysis/{folder}/_room.html",
        context={
            "room": room,
            "made": stored,
            "found": found,
            "address": request.get_full_path(),
            "tables": list(tables),
            **context,
        },
    )


def file_view(
    kind: Analysis.Kind,
    shape: type[Computed],
    tables: FigureTables,
    *,
    key_of: Callable[[Request, Project], str] = lambda _request, _project: "",
) -> Callable[[HttpRequest, str, str], HttpResponseBase]:
    """The view of one of the tables of stored statistics as CSV or JSON. Raises NotFound for another table.

    `key_of` tells by the request which statistics of the kind are asked for.
    """

    @screen("GET")
    def table_view(request: Request, slug: str, table: str) -> HttpResponse:
        room = enter(request, slug, Verb.VIEW_SCORES, here="scores")
        if table not in tables:
            raise NotFound(f"There is no table {table!r}; there are {', '.join(tables)}.")
        key = key_of(request, room.project)
        stored = current_statistics(project=room.project, kind=kind, key=key, wait=True)
        rows = list(tables[table](stored.facts(shape)))
        columns = list(rows[0]) if rows else []
        names = filter(None, (room.project.slug, kind, key, table))
        return table_file(request, rows, columns=columns, name="-".join(names))

    return table_view


def table_file(
    request: Request, rows: Sequence[Mapping[str, Cell]], *, columns: Sequence[str], name: str
) -> HttpResponse:
    """The rows as the file that `?format=csv` or `json` asks for, CSV unless asked. Raises Invalid for another."""
    format_name = request.GET.get("format", "csv")
    body = write_table(rows, columns=columns, format_name=format_name)
    return file_answer(body, content_type=CONTENT_TYPES[format_name], name=f"{name}.{format_name}")
