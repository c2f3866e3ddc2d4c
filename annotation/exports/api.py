"""Exports in the API: request, status, download and manifest."""

from __future__ import annotations

from typing import Any, cast

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse
from rest_framework import serializers, status
from rest_framework.exceptions import APIException
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.access import AnyContent, ApiView, only
from annotation.api.fields import WordChoice
from annotation.api.lists import operation_of, shape_of
from annotation.api.schema import operation
from annotation.core.permissions import Verb
from annotation.core.tables.formats import FORMAT_NAMES
from annotation.exports.download import sent
from annotation.exports.levels import LEVEL_NAMES
from annotation.exports.queries import EXPORTS, exports_of
from annotation.exports.services import (
    EXPORT_CONTENT_TYPES,
    manifest_of,
    open_export,
    request_export,
)

DOWNLOAD_HEADERS = {
    "Range": "Requested bytes, such as `bytes=1000-` for everything after the first thousand.",
    "If-Range": "The ETag that you have. If the file has changed, all of it is sent.",
    "If-None-Match": "The ETag that you have: 304 if the file has not changed.",
}


PARTS_REFUSED = {
    412: ("The file has changed. Download all of it.", "stale"),
    416: ("The requested range is beyond the end of the file.", "no_such_part"),
}


class PartRefused(APIException):
    def __init__(self, answer: HttpResponseBase) -> None:
        super().__init__(*PARTS_REFUSED[answer.status_code])
        self.status_code, self.headers = answer.status_code, dict(answer.headers)


ExportRow = shape_of(EXPORTS, "ExportRow")


class NewExport(serializers.Serializer[Any]):
    level = WordChoice(choices=LEVEL_NAMES)
    format = WordChoice(choices=FORMAT_NAMES)
    named_people = serializers.BooleanField(
        default=False, help_text="Names instead of stable pseudonyms; owners only."
    )


class Exports(ApiView):
    tag = "exports"

    get = operation_of(EXPORTS, ExportRow, "List the exports of a project, newest first.")

    @operation("request_export", request=NewExport, responses={201: ExportRow})
    def post(self, request: Request, slug: str) -> Response:
        """Request an export.

        Needs the verb "export". A worker writes the file. Poll the export until its state is done.
        """
        project = self.enter(Verb.EXPORT)
        export = request_export(project=project, by=self.person, **self.body(NewExport))
        return Response(ExportRow(export).data, status=status.HTTP_201_CREATED)


class OneExport(ApiView):
    tag = "exports"

    @operation("get_export", responses=ExportRow)
    def get(self, request: Request, slug: str, public_id: str) -> Response:
        """Show the state of an export."""
        project = self.enter(Verb.EXPORT)
        return Response(ExportRow(only(exports_of(project), public_id, "export")).data)


class ExportFile(ApiView):
    tag = "exports"
    content_negotiation_class = AnyContent

    @operation(
        "download_export",
        parameters=[
            OpenApiParameter(name, str, OpenApiParameter.HEADER, description=meaning)
            for name, meaning in DOWNLOAD_HEADERS.items()
        ],
        responses={
            **{
                (status_code, content_type.partition(";")[0]): OpenApiResponse(OpenApiTypes.BINARY, what)
                for status_code, what in ((200, "The file."), (206, "The requested part."))
                for content_type in EXPORT_CONTENT_TYPES.values()
            },
            304: OpenApiResponse(description="The file has not changed since If-None-Match."),
        },
        refusals=("409", "412", "416"),
    )
    def get(self, request: Request, slug: str, public_id: str) -> HttpResponseBase:
        """Download the file of an export, or the range of bytes in the header Range.

        Only owners download exports with names. A conflict (409) means that the file is not finished. To resume an
        interrupted download, send the header Range, and the ETag in If-Range.
        """
        project = self.enter(Verb.EXPORT)
        opened = open_export(only(exports_of(project), public_id, "export"), by=self.person)
        answer = sent(cast("HttpRequest", request), opened)
        if answer.status_code in PARTS_REFUSED:
            raise PartRefused(answer)
        return answer


class ExportManifest(ApiView):
    tag = "exports"

    @operation("get_export_manifest", responses=OpenApiTypes.OBJECT, refusals=("409",))
    def get(self, request: Request, slug: str, public_id: str) -> Response:
        """Show the manifest of an export.

        The manifest has versions, settings, the judge, row counts and a checksum. A conflict (409) means that the file
        is not finished.
        """
        project = self.enter(Verb.EXPORT)
        return Response(manifest_of(only(exports_of(project), public_id, "export")))
