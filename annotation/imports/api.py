"""Imports in the API."""

from __future__ import annotations

from typing import Any

from django.urls import reverse
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.access import ApiView, only
from annotation.api.fields import FactsField, RowsField, WordChoice
from annotation.api.lists import operation_of, shape_of
from annotation.api.schema import operation
from annotation.core.facts import plain
from annotation.core.permissions import Verb
from annotation.imports.layout import ENCODINGS, FIELDS, layout_of
from annotation.imports.problems import ImportRefused, Problem, way_out
from annotation.imports.row import MAX_NAME_CHARACTERS
from annotation.imports.services import ImportReport, PushReport, push_rows
from annotation.imports.work import (
    IMPORTS,
    MOST_FILES,
    import_kept,
    imports_of,
    is_open,
    keep_upload,
    refusal_of,
    report_of,
    staged,
)
from annotation.models import Import

MOST_MB = 512
MOST_PAIRS = 50
MOST_ROWS = 1000

WORDS = "Name the columns in `mapping`: [{listed}]."


class Uploaded(serializers.Serializer[Any]):
    files = serializers.ListField(child=serializers.FileField(), min_length=1, max_length=MOST_FILES)
    dry_run = serializers.BooleanField(default=False, help_text="Check and count only; write nothing.")
    skip_invalid = serializers.BooleanField(default=False, help_text="Skip and list invalid rows and files.")
    mapping = serializers.ListField(
        child=serializers.CharField(max_length=600),
        required=False,
        max_length=MOST_PAIRS,
        help_text="Columns of other names, each as field=column, such as summary=output. Several columns of `summary` "
        "are one system each. A path such as outputs.summary leads into a value.",
    )
    system = serializers.CharField(
        required=False,
        max_length=MAX_NAME_CHARACTERS,
        help_text="System of rows without one; default “system 1”.",
    )
    encoding = WordChoice(choices=ENCODINGS, required=False, help_text="By default, it is detected.")
    target_length = serializers.CharField(
        required=False, max_length=20, help_text="Target length of rows without one: `none` or a number."
    )


_PROPERTIES = {name: {"type": held["kind"], "description": held["help"]} for name, held in FIELDS.items()}


@extend_schema_field({"type": "array", "items": {"type": "object", "properties": _PROPERTIES}})
class PushRows(RowsField):
    """Rows as they were pushed."""


class Push(serializers.Serializer[Any]):
    rows = PushRows(MOST_ROWS)
    skip_invalid = serializers.BooleanField(default=False, help_text="Skip invalid rows with a reason.")


ImportRow = shape_of(IMPORTS, "ImportRow")


class ImportDetail(ImportRow):  # type: ignore[misc,valid-type]
    """An import with its report and its problems."""

    url = serializers.SerializerMethodField(help_text="Poll it until the state is done, failed or cancelled.")
    problems = FactsField(list[Problem], lambda asked: list(getattr(refusal_of(asked), "problems", ())))
    report = FactsField(ImportReport, report_of, allow_null=True)

    def get_url(self, asked: Import) -> str:
        return reverse("api-import", args=[asked.project.slug, asked.public_id])


class Imports(ApiView):
    tag = "imports"
    parser_classes = (MultiPartParser,)

    get = operation_of(
        IMPORTS,
        ImportRow,
        """List the imports of a project, newest first.

        Needs the verb "import".
        """,
    )

    @operation(
        "import_files",
        request={"multipart/form-data": Uploaded},
        responses={200: ImportDetail, 202: ImportDetail},
        refusals=("409",),
    )
    def post(self, request: Request, slug: str) -> Response:
        """Import files into a project.

        Needs the verb "import". Send one CSV, JSON, JSONL or Parquet file of rows, or SEE HTML and DUCView files. With
        a problem in a row, nothing is imported, unless `skip_invalid` is set. A worker imports large files (202): poll
        the `url` of the reply until the import has ended.
        """
        project = self.enter(Verb.IMPORT)
        wanted = self.body(Uploaded)
        named = {name: wanted.pop(name, "") for name in ("system", "encoding")}
        target = wanted.pop("target_length", "")
        wanted["layout"] = layout_of(wanted.pop("mapping", ()), target=target, **named)
        files = staged(wanted.pop("files"), most_mb=MOST_MB)
        asked = keep_upload(project=project, files=files, by=self.person)
        asked = import_kept(asked=asked, by=self.person, **wanted)
        if refusal := refusal_of(asked):
            refusal.message = " ".join((refusal.message, *way_out(refusal.problems, WORDS)))
            raise refusal
        return Response(ImportDetail(asked).data, status=202 if is_open(asked) else 200)


class Pushes(ApiView):
    tag = "imports"

    @operation("push_summaries", request=Push, responses=PushReport)
    def post(self, request: Request, slug: str) -> Response:
        """Push summaries and references.

        Needs the verb "import". Document, system, target length and reference identify a row. If a push got no answer,
        repeat it. With a problem in a row, nothing is imported, unless `skip_invalid` is set.
        """
        project = self.enter(Verb.IMPORT)
        asked = self.body(Push)
        try:
            return Response(plain(push_rows(project=project, by=self.person, **asked)))
        except ImportRefused as refusal:
            # Name the field `rows`, because a push has no file.
            refusal.field = "rows"
            raise


class OneImport(ApiView):
    tag = "imports"

    @operation("get_import", responses=ImportDetail)
    def get(self, request: Request, slug: str, public_id: str) -> Response:
        """Show an import."""
        project = self.enter(Verb.IMPORT)
        return Response(ImportDetail(only(imports_of(project, self.person), public_id, "import")).data)
