"""Exports in the API."""

from __future__ import annotations

from typing import Any

from django.http.response import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.access import AnyContent, ApiView, only
from annotation.api.fields import SliceKey, WordChoice
from annotation.api.lists import operation_of, shape_of
from annotation.api.schema import operation
from annotation.core.permissions import Verb
from annotation.core.tables.formats import FORMAT_NAMES
from annotation.exports.download import sent
from annotation.exports.levels import LEVEL_NAMES
from annotation.exports.pairs import MARGIN, SCORE
from annotation.exports.queries import EXPORTS, exports_of
from annotation.exports.services import (
    EXPORT_CONTENT_TYPES,
    manifest_of,
    request_export,
)

ExportRow = shape_of(EXPORTS, "ExportRow")


class NewExport(serializers.Serializer[Any]):
    level = WordChoice(choices=LEVEL_NAMES)
    format = WordChoice(choices=FORMAT_NAMES)
    named_people = serializers.BooleanField(default=False, help_text="Names, no pseudonyms; owners only.")
    score = serializers.CharField(
        default=SCORE, help_text="For pairs: the score or own criterion to compare."
    )
    margin = serializers.FloatField(default=MARGIN, min_value=0, help_text="Scores of pairs differ by more.")
    key = SliceKey(help_text="For systems: a metadata key, or `group`. Averages by slice are added.")


class Exports(ApiView):
    tag = "exports"

    get = operation_of(EXPORTS, ExportRow, "List the exports of a project, newest first.")

    @operation("request_export", request=NewExport, responses={201: ExportRow})
    def post(self, request: Request, slug: str) -> Response:
        """Request an export.

        Needs the verb "export". A worker writes the file. Poll the export until it is done, failed or cancelled.
        """
        project = self.enter(Verb.EXPORT)
        export = request_export(project=project, by=self.person, **self.body(NewExport))
        return Response(ExportRow(export).data, status=status.HTTP_201_CREATED)


class OneExport(ApiView):
    tag = "exports"

    @operation("get_export", responses=ExportRow)
    def get(self, request: Request, slug: str, public_id: str) -> Response:
        """Show an export."""
        project = self.enter(Verb.EXPORT)
        return Response(ExportRow(only(exports_of(project), public_id, "export")).data)


class ExportFile(ApiView):
    tag = "exports"
    content_negotiation_class = AnyContent

    @operation(
        "download_export",
        responses={
            (200, content_type.partition(";")[0]): OpenApiResponse(OpenApiTypes.BINARY, "The file.")
            for content_type in EXPORT_CONTENT_TYPES.values()
        },
        refusals=("409",),
    )
    def get(self, request: Request, slug: str, public_id: str) -> HttpResponseBase:
        """Download the file of an export; the ETag has its SHA-256.

        A conflict (409) means that the export is not done.
        """
        project = self.enter(Verb.EXPORT)
        return sent(only(exports_of(project), public_id, "export"), by=self.person)


class ExportManifest(ApiView):
    tag = "exports"

    @operation("get_export_manifest", responses=OpenApiTypes.OBJECT, refusals=("409",))
    def get(self, request: Request, slug: str, public_id: str) -> Response:
        """Show the manifest of an export.

        A conflict (409) means that the export is not done.
        """
        project = self.enter(Verb.EXPORT)
        return Response(manifest_of(only(exports_of(project), public_id, "export")))
