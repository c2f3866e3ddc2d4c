"""Send the file of an export."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.http import FileResponse

if TYPE_CHECKING:
    from annotation.exports.services import OpenedExport


def sent(opened: OpenedExport) -> FileResponse:
    """Build the response with the file. Its ETag has the SHA-256 of the bytes."""
    answer = FileResponse(
        opened.stream, as_attachment=True, filename=opened.name, content_type=opened.content_type
    )
    answer["ETag"] = opened.tag
    return answer
