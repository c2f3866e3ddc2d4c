"""Send the file of an export."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING

from django.http import FileResponse

from annotation.exports.services import EXPORT_CONTENT_TYPES, open_export

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from annotation.models import Export


def sent(export: Export, *, by: User) -> FileResponse:
    """Build the response with the file. Its ETag has the SHA-256 of the bytes. Raises the errors of `open_export`."""
    stream, name = open_export(export, by=by)
    kind, tag = EXPORT_CONTENT_TYPES[PurePath(name).suffix[1:]], f'"{export.manifest["sha256"]}"'
    return FileResponse(stream, as_attachment=True, filename=name, content_type=kind, headers={"ETag": tag})
