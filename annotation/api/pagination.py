"""Pages of the API."""

from __future__ import annotations

from typing import Any

from rest_framework.pagination import BasePagination


class Pages(BasePagination):
    """Describes pages in the schema; `ApiView.rows` makes them."""

    def get_schema_operation_parameters(self, view: Any) -> list[dict[str, Any]]:
        """Return no parameters, because each list documents its own."""
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
