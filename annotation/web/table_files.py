"""A page's table as a download."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from django.http import HttpResponse

from annotation.exports.tables import CONTENT_TYPES, write_table

if TYPE_CHECKING:
    from annotation.exports.columns import Cell
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
