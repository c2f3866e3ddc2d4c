"""Send an export: the whole file, or the range of bytes that the request names."""

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
"""A single range. For several ranges, or another unit, the whole file is sent."""


def sent(request: HttpRequest, opened: OpenedExport) -> HttpResponseBase:
    """Build the response to a request for the file (RFC 9110: 200, 206, 304, 412 or 416)."""
    if (other := get_conditional_response(request, etag=opened.tag)) is not None:
        opened.stream.close()
        other["ETag"] = opened.tag
        return other
    whole = FileResponse(
        opened.stream, as_attachment=True, filename=opened.name, content_type=opened.content_type
    )
    whole["Accept-Ranges"], whole["ETag"] = "bytes", opened.tag
    found = _RANGE.fullmatch(request.META.get("HTTP_RANGE", "").strip())
    is_current = request.META.get("HTTP_IF_RANGE", opened.tag) == opened.tag
    if request.method != "GET" or not is_current or found is None or not any(found.groups()):
        return whole
    first, last = found.groups()
    if first and last and int(last) < int(first):
        return whole
    # If the range has no first byte, `last` counts bytes from the end.
    start = int(first) if first else max(0, opened.size - int(last))
    end = min(int(last) + 1, opened.size) if first and last else opened.size
    if start >= end:
        opened.stream.close()
        return HttpResponse(status=416, headers={"Content-Range": f"bytes */{opened.size}"})
    opened.stream.seek(start)
    whole.streaming_content = _first(opened.stream, end - start)
    whole.status_code = 206
    whole["Content-Length"] = end - start
    whole["Content-Range"] = f"bytes {start}-{end - 1}/{opened.size}"
    return whole


def _first(stream: File[bytes], length: int) -> Iterator[bytes]:
    while length > 0 and (block := stream.read(min(length, BLOCK))):
        length -= len(block)
        yield block
