"""Responses that send files."""

from __future__ import annotations

from collections.abc import Iterable

from django.http import HttpResponse, StreamingHttpResponse


def file_answer(body: str | bytes, *, content_type: str, name: str) -> HttpResponse:
    """Build a response that downloads the file under this name."""
    return HttpResponse(body, content_type=content_type, headers=_kept_as(name))


def streamed_file(parts: Iterable[str | bytes], *, content_type: str, name: str) -> StreamingHttpResponse:
    """Build a response that downloads a file; the file is generated while it is sent."""
    return StreamingHttpResponse(parts, content_type=content_type, headers=_kept_as(name))


def _kept_as(name: str) -> dict[str, str]:
    return {"Content-Disposition": f'attachment; filename="{name}"'}
