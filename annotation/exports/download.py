"""An export as an answer that can be broken off and gone on with: whole, or the part that Range asks for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from django.http import FileResponse, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.cache import get_conditional_response

if TYPE_CHECKING:
    from django.core.files import File
    from django.http import HttpRequest

    from annotation.exports.services import OpenedExport

BLOCK = 64 * 1024
_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})")
"""One range. Several ranges, or another unit, are ignored: the whole file is sent."""


def sent(request: HttpRequest, opened: OpenedExport) -> HttpResponseBase:
    """The answer to a request for the file (RFC 9110: 200, 206, 304, 412 or 416)."""
    if (other := get_conditional_response(request, etag=opened.tag)) is not None:
        opened.stream.close()
        other["ETag"] = opened.tag
        return other
    whole = FileResponse(
        opened.stream, as_attachment=True, filename=opened.name, content_type=opened.content_type
    )
    whole["Accept-Ranges"] = "bytes"
    whole["ETag"] = opened.tag
    asked = request.META.get("HTTP_RANGE", "") if request.method == "GET" else ""
    if not asked or request.META.get("HTTP_IF_RANGE", opened.tag) != opened.tag:
        return whole
    span = _span(asked, opened.size)
    if span is None:
        return whole
    start, end = span
    if start >= end:
        opened.stream.close()
        return HttpResponse(status=416, headers={"Content-Range": f"bytes */{opened.size}"})
    opened.stream.seek(start)
    whole.streaming_content = _first(opened.stream, end - start)
    whole.status_code = 206
    whole["Content-Length"] = end - start
    whole["Content-Range"] = f"bytes {start}-{end - 1}/{opened.size}"
    return whole


def _span(asked: str, size: int) -> tuple[int, int] | None:
    """Where the range begins and the first byte after it; None where what is asked for is no range."""
    found = _RANGE.fullmatch(asked.strip())
    if found is None or not any(found.groups()):
        return None
    first, last = found.groups()
    if not first:
        return (size - min(int(last), size) if int(last) else size), size
    if last and int(last) < int(first):
        return None
    return int(first), min(int(last) + 1, size) if last else size


def _first(stream: File[bytes], length: int) -> Iterator[bytes]:
    while length > 0 and (block := stream.read(min(length, BLOCK))):
        length -= len(block)
        yield block
