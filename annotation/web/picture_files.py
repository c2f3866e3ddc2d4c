"""A picture as a download: SVG by itself, PNG, or the numbers that are drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.http import HttpResponse

from annotation.web.table_files import table_file

if TYPE_CHECKING:
    from annotation.models import Project
    from annotation.web.charts import Picture
    from annotation.web.htmx import Request


def picture_file(request: Request, picture: Picture, *, project: Project) -> HttpResponse:
    """The picture as `?format=svg` (unless asked otherwise), `png`, `csv` or `json`. Raises Invalid for another."""
    name = f"{project.slug}-{picture.name}"
    match request.GET.get("format", "svg"):
        case "svg":
            return _as_file(picture.standalone, "image/svg+xml", f"{name}.svg")
        case "png":
            return _as_file(picture.png, "image/png", f"{name}.png")
        case _:
            return table_file(request, picture.table, columns=picture.fields, name=name)


def _as_file(body: str | bytes, content_type: str, name: str) -> HttpResponse:
    return HttpResponse(
        body,
        content_type=content_type,
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )
