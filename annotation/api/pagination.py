"""Pages of the API: each page names the row that the next one starts after."""

from __future__ import annotations

from typing import Any

from rest_framework.pagination import BasePagination


class Pages(BasePagination):
    """Describes pages in the schema; `ApiView.rows` makes them."""

    def get_schema_operation_parameters(self, view: Any) -> list[dict[str, Any]]:
        """Return an empty list, because each list documents its own parameters."""
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
