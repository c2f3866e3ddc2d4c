"""Answer 404 for unknown addresses of the API."""

from __future__ import annotations

from typing import Any

from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.views import APIView

from annotation.core.refusals import NotFound


class Nowhere(APIView):
    schema = None  # The view is not part of the schema.
    authentication_classes = ()
    permission_classes = (AllowAny,)

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        raise NotFound("The API has no such address. Addresses end with a slash; see /api/docs/.")
