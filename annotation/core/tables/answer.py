"""A file as the answer of any door."""

from __future__ import annotations

from collections.abc import Iterable

from django.http import HttpResponse, StreamingHttpResponse


def file_answer(body: str | bytes, *, content_type: str, name: str) -> HttpResponse:
    """The file to be kept under that name."""
    return HttpResponse(body, content_type=content_type, headers=_kept_as(name))


def streamed_file(parts: Iterable[str | bytes], *, content_type: str, name: str) -> StreamingHttpResponse:
    """As `file_answer`, written while it is being fetched."""
    return StreamingHttpResponse(parts, content_type=content_type, headers=_kept_as(name))


def _kept_as(name: str) -> dict[str, str]:
    return {"Content-Disposition": f'attachment; filename="{name}"'}
