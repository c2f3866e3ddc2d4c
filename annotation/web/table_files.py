"""A page's tables as downloads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from django.http import HttpResponse

from annotation.exports.tables import CONTENT_TYPES, write_table
from annotation.refusals import NotFound
from annotation.services.make_analysis import made

if TYPE_CHECKING:
    from annotation.exports.columns import Cell
    from annotation.models import Analysis, Project
    from annotation.web.htmx import Request


def table_file(
    request: Request, rows: Sequence[Mapping[str, Cell]], *, columns: Sequence[str], name: str
) -> HttpResponse:
    """The rows as the file that `?format=csv` or `json` asks for, CSV unless asked. Raises Invalid for another."""
    format_name = request.GET.get("format", "csv")
    body = write_table(rows, columns=columns, format_name=format_name)
    return HttpResponse(
        body,
        content_type=CONTENT_TYPES[format_name],
        headers={"Content-Disposition": f'attachment; filename="{name}.{format_name}"'},
    )


def analysis_file(
    request: Request,
    project: Project,
    kind: Analysis.Kind,
    tables: Mapping[str, Callable[[dict[str, Any]], Iterable[Mapping[str, Cell]]]],
    table: str,
) -> HttpResponse:
    """One of the tables of stored statistics, made where there are none yet. Raises NotFound for another table."""
    if table not in tables:
        raise NotFound(f"There is no table {table!r}; there are {', '.join(tables)}.")
    stored = made(project=project, kind=kind, wait=True)
    rows = list(tables[table](stored.payload or {}))
    columns = list(rows[0]) if rows else []
    return table_file(request, rows, columns=columns, name=f"{project.slug}-{kind}-{table}")
