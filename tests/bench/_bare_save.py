"""The least that a save can be: the same server, middleware, session and sign-in, one row in one transaction.

What a save of the form takes beyond this is what the protocol costs; both are measured in the same moment, so
that their ratio says the same on a quick machine and on a busy one.
"""

from __future__ import annotations

import json

from django.db import transaction
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import URLPattern, URLResolver, include, path

from annotation.models import UnitJudgment


def bare(request: HttpRequest) -> HttpResponse:
    if not request.user.is_authenticated:
        return JsonResponse({"code": "signed_out"}, status=401)
    act = json.loads(request.body)
    with transaction.atomic():
        row = UnitJudgment.objects.create(
            assignment_id=act["assignment"],
            unit_id=act["unit"],
            percent=act["percent"],
            marks=act["marks"],
            is_current=False,
        )
    return JsonResponse({"saved": row.public_id})


# Django asks the outermost module of addresses for it.
handler500 = "annotation.config.faults.broken"
urlpatterns: list[URLPattern | URLResolver] = [
    path("bare/", bare),
    path("", include("annotation.config.urls")),
]
