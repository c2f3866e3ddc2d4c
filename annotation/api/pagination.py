"""Pages of the API: each page names the row that the next one starts after."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers
from rest_framework.pagination import BasePagination

from annotation.core.lists import LARGEST_PAGE
from annotation.core.paging import ROWS_ON_A_PAGE


class PageQuery(serializers.Serializer[Any]):
    """Query parameters of paged lists."""

    limit = serializers.IntegerField(
        default=ROWS_ON_A_PAGE, min_value=1, max_value=LARGEST_PAGE, help_text="Rows on a page."
    )
    after = serializers.CharField(required=False, help_text="Id after whose row the page starts; see `next`.")


class Pages(BasePagination):
    """Describes pages in the schema; `ApiView.rows` makes them."""

    def get_schema_operation_parameters(self, view: Any) -> list[dict[str, Any]]:
        """An empty list, because views document `PageQuery` with their own filters."""
        return []

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        following = {
            "type": "string",
            "format": "uri",
            "nullable": True,
            "description": "The page after this one; null on the last one.",
        }
        return {
            "type": "object",
            "required": ["next", "results"],
            "properties": {"next": following, "results": schema},
        }
