"""The log: who did what to which row."""

from __future__ import annotations

from datetime import date
from typing import Any

from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.access import AnyContent, ApiView, PageQuery
from annotation.api.fields import WordChoice
from annotation.api.schema import operation
from annotation.core.permissions import Verb
from annotation.core.tables.answer import streamed_file
from annotation.models import Event
from annotation.projects.event_table import EVENT_CONTENT_TYPES, as_bytes
from annotation.projects.queries.event_log import ORDER, PROGRAM, LogFilter, events_of, oldest_first


class EventRow(serializers.Serializer[Event]):
    id = serializers.CharField(source="public_id")
    at = serializers.DateTimeField(source="created_at")
    verb = serializers.CharField()
    person = serializers.CharField(
        source="actor.username",
        allow_null=True,
        default=None,
        help_text="Null if the system acted by itself.",
    )
    kind = serializers.CharField(source="target_kind", help_text="Of the affected row.")
    row = serializers.CharField(source="target_id", help_text="Its public id.")
    data = serializers.DictField(  # type: ignore[assignment]  # a field, not the serializer's own data
        help_text="Details, such as old and new values."
    )


class LogQuery(serializers.Serializer[Any]):
    verb = serializers.CharField(required=False, max_length=40)
    person = serializers.CharField(
        required=False, max_length=150, help_text=f'A username, or "{PROGRAM}" for what nobody did.'
    )
    kind = serializers.CharField(required=False, max_length=40)
    row = serializers.CharField(required=False, max_length=16)
    first = serializers.DateField(required=False, help_text="The first day, in UTC.")
    last = serializers.DateField(required=False, help_text="The last day.")

    def validate_last(self, day: date) -> date:
        if day == date.max:
            raise serializers.ValidationError("That day is too far off.")
        return day


class FileQuery(serializers.Serializer[Any]):
    format = WordChoice(choices=tuple(EVENT_CONTENT_TYPES), default="csv")


class Log(ApiView):
    tag = "log"

    @operation("list_events", parameters=[LogQuery, PageQuery], responses=EventRow(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """List what happened in a project, newest first.

        Needs the verb "view events". Entries change only when a person is erased, and go
        only when their retention ends or the project is removed.
        """
        project = self.enter(Verb.VIEW_EVENTS)
        query = self.query(LogQuery, PageQuery)
        scope = Event.objects.filter(project=project)
        return self.page(events_of(project, _wanted(query)), EventRow, query=query, scope=scope, order=ORDER)


class LogFile(ApiView):
    tag = "log"
    content_negotiation_class = AnyContent

    @operation(
        "download_log",
        parameters=[LogQuery, FileQuery],
        responses={
            (200, content_type.partition(";")[0]): OpenApiResponse(OpenApiTypes.BINARY, "The file.")
            for content_type in EVENT_CONTENT_TYPES.values()
        },
    )
    def get(self, request: Request, slug: str) -> StreamingHttpResponse:
        """Fetch the log as a file, oldest first.

        Needs the verb "view events". No cell of the CSV acts as a formula.
        """
        project = self.enter(Verb.VIEW_EVENTS)
        query = self.query(LogQuery, FileQuery)
        name = query["format"]
        events = oldest_first(project, _wanted(query))
        return streamed_file(
            as_bytes(events, name), content_type=EVENT_CONTENT_TYPES[name], name=f"{project.slug}-log.{name}"
        )


def _wanted(query: dict[str, Any]) -> LogFilter:
    return LogFilter(**{name: query[name] for name in LogFilter.__slots__ if name in query})
