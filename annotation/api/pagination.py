"""Pages that are found by the row they start after, however deep they lie."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from django.db.models import Model, QuerySet
from rest_framework import serializers
from rest_framework.pagination import BasePagination
from rest_framework.request import Request
from rest_framework.utils.urls import replace_query_param

from annotation.api.errors import BadCursor
from annotation.core.paging import NoSuchPage, beyond, place_of

DEFAULT_LIMIT = 100
LARGEST_LIMIT = 500

Row = TypeVar("Row", bound=Model)

_CURSOR = re.compile(r"([np])\.([a-z2-7]{16})")


class PageQuery(serializers.Serializer[Any]):
    """What every list of pages takes beside its own filters."""

    limit = serializers.IntegerField(
        default=DEFAULT_LIMIT, min_value=1, max_value=LARGEST_LIMIT, help_text="Rows on a page."
    )
    cursor = serializers.CharField(required=False, help_text="From `next` or `previous` of another page.")


@dataclass(frozen=True, slots=True)
class Cursor:
    """The public id of a row that a page lies next to, and on which side of it."""

    public_id: str
    is_backwards: bool = False

    @classmethod
    def read(cls, text: str) -> Cursor:
        """The cursor that was written as this text. Raises BadCursor."""
        try:
            plain = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True).decode()
        except (binascii.Error, ValueError) as error:
            raise BadCursor from error
        found = _CURSOR.fullmatch(plain)
        if found is None:
            raise BadCursor
        return cls(public_id=found[2], is_backwards=found[1] == "p")

    def __str__(self) -> str:
        plain = f"{'p' if self.is_backwards else 'n'}.{self.public_id}"
        return base64.urlsafe_b64encode(plain.encode()).decode().rstrip("=")


class KeysetPagination(BasePagination):
    """Pages in a total order, two queries each: where the cursor's row stands, and the rows beyond it.

    A cursor holds a public id, nothing else: what the row is ordered by is looked up when it
    comes back, so no primary key and no hidden value travels in it.
    """

    def page(
        self,
        rows: QuerySet[Row],
        *,
        scope: QuerySet[Row],
        order: Sequence[str],
        id_path: str,
        request: Request,
        limit: int,
        cursor: str | None,
    ) -> tuple[list[Row], dict[str, str | None]]:
        """The rows of one page, and the links to the pages on both sides of it.

        `scope` holds the rows among which a cursor's row may lie: more than `rows`, since an answer
        may have moved it out of the filter meanwhile. `order` names columns that are never null,
        the last of them unique. Raises BadCursor.
        """
        place = Cursor.read(cursor) if cursor else None
        backwards = place is not None and place.is_backwards
        directed = [_turned(name) for name in order] if backwards else list(order)
        found = rows.order_by(*directed)
        if place is not None:
            try:
                values = place_of(scope, place.public_id, directed, id_path=id_path)
            except NoSuchPage as refusal:
                raise BadCursor from refusal
            found = found.filter(beyond(directed, values))
        several = list(found[: limit + 1])
        is_more, shown = len(several) > limit, several[:limit]
        if backwards:
            shown.reverse()
        has_next, has_previous = (True, is_more) if backwards else (is_more, place is not None)
        return shown, {
            "next": _link(request, shown[-1], id_path) if shown and has_next else None,
            "previous": _link(request, shown[0], id_path, backwards=True) if shown and has_previous else None,
        }

    def get_schema_operation_parameters(self, view: Any) -> list[dict[str, Any]]:
        """Nothing: the views document `PageQuery` with their own filters."""
        return []

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        link = {"type": "string", "format": "uri", "nullable": True}
        return {
            "type": "object",
            "required": ["next", "previous", "results"],
            "properties": {
                "next": {**link, "description": "The page after this one; null on the last one."},
                "previous": {**link, "description": "The page before this one; null on the first one."},
                "results": schema,
            },
        }


def _turned(name: str) -> str:
    return name[1:] if name.startswith("-") else f"-{name}"


def _link(request: Request, row: Model, id_path: str, *, backwards: bool = False) -> str:
    public_id: Any = row
    for name in id_path.split("__"):
        public_id = getattr(public_id, name)
    cursor = str(Cursor(public_id=public_id, is_backwards=backwards))
    return replace_query_param(request.build_absolute_uri(), "cursor", cursor)
