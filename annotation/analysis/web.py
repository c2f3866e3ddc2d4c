"""Shared views of stored statistics: pages, and downloads of tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.http import HttpResponse

from annotation.analysis.figures import Computed
from annotation.analysis.make_analysis import StoredStatistics
from annotation.core.refusals import NotFound
from annotation.core.tables.answer import file_answer
from annotation.core.tables.columns import Cell
from annotation.core.tables.write import CONTENT_TYPES, write_table
from annotation.models import SCORE_SIDES
from annotation.web.htmx import Request, page_or_fragment
from annotation.web.rooms import Room


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
            **context,
        },
    )


def table_file(
    request: Request, rows: Sequence[Mapping[str, Cell]], *, columns: Sequence[str], name: str
) -> HttpResponse:
    """Send the rows in the format that `?format=` names, csv (the default) or json. Raises Invalid for another
    format.
    """
    format_name = request.GET.get("format", "csv")
    body = write_table(rows, columns=columns, format_name=format_name)
    return file_answer(body, content_type=CONTENT_TYPES[format_name], name=f"{name}.{format_name}")
