"""Shared views of stored statistics: pages, and downloads of tables."""

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
"""The functions that make the rows of each table, by the table's name."""


def asked_score(request: Request) -> str:
    """Return the score of claims that the address or form names; "" if it names none.

    Raises NotFound for a score that does not come from claims.
    """
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
    """Render a page of statistics, or the part of it that htmx requests, with the templates in `folder`."""
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
    """Make a view that downloads a table of stored statistics as CSV or JSON. `key_of` returns the key of the
    requested statistics.

    The view raises NotFound for an unknown table.
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
    """Send the rows in the format that `?format=` names, csv (the default) or json. Raises Invalid for another
    format.
    """
    format_name = request.GET.get("format", "csv")
    body = write_table(rows, columns=columns, format_name=format_name)
    return file_answer(body, content_type=CONTENT_TYPES[format_name], name=f"{name}.{format_name}")
