"""Notices: what waits for the caller, in all their projects."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.access import ApiView, PageQuery, only
from annotation.api.fields import NamedChoice
from annotation.api.schema import operation
from annotation.models import Notice
from annotation.projects.queries.notices import notices_of
from annotation.projects.services.read_notices import mark_all_read, mark_read


class NoticeRow(serializers.Serializer[Notice]):
    id = serializers.CharField(source="public_id")
    project = serializers.CharField(source="project.slug")
    kind = NamedChoice("NoticeKind", Notice.Kind.choices)
    text = serializers.CharField()
    count = serializers.IntegerField(
        help_text="Number of things that it covers; each project has at most one unread notice on disputes, "
        "which counts up."
    )
    address = serializers.CharField(help_text="Path of the page where it is seen.")
    created_at = serializers.DateTimeField()
    read_at = serializers.DateTimeField(allow_null=True)


class NoticeQuery(serializers.Serializer[Any]):
    unread = serializers.BooleanField(default=False, help_text="Unread ones alone.")


class ReadUpTo(serializers.Serializer[Any]):
    up_to = serializers.CharField(
        default="",
        allow_blank=True,
        max_length=16,
        help_text="The newest notice that you saw; if omitted, all are marked as read.",
    )


class ReadCount(serializers.Serializer[Any]):
    read = serializers.IntegerField(help_text="How many were unread.")


class Notices(ApiView):
    tag = "notices"

    @operation("list_notices", parameters=[NoticeQuery, PageQuery], responses=NoticeRow(many=True))
    def get(self, request: Request) -> Response:
        """List the caller's notices, newest first.

        What speaks of others' work waits while the caller has open assessor work.
        """
        query = self.query(NoticeQuery, PageQuery)
        rows = notices_of(self.person).select_related("project")
        shown = rows.filter(read_at=None) if query["unread"] else rows
        return self.page(shown, NoticeRow, query=query, scope=rows, order=("-pk",))


class NoticesRead(ApiView):
    tag = "notices"

    @operation("read_all_notices", request=ReadUpTo, responses=ReadCount)
    def post(self, request: Request) -> Response:
        """Mark the caller's notices as read."""
        return Response({"read": mark_all_read(by=self.person, **self.body(ReadUpTo))})


class OneNoticeRead(ApiView):
    tag = "notices"

    @operation("read_notice", responses=NoticeRow)
    def post(self, request: Request, public_id: str) -> Response:
        """Mark one notice as read."""
        rows = notices_of(self.person).select_related("project")
        return Response(NoticeRow(mark_read(notice=only(rows, public_id, "notice"), by=self.person)).data)
