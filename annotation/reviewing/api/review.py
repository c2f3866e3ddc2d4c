from __future__ import annotations

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.access import ApiView, only
from annotation.api.lists import parameters_of
from annotation.api.schema import operation
from annotation.core.permissions import Verb
from annotation.models import Check
from annotation.reviewing.api.checks import ShownCheck, shown_detail
from annotation.reviewing.queries.review_queue import QUEUE, queue_of, sample_first, sampled
from annotation.reviewing.services.lease_check import end_lease, hand_out


class HandedOut(serializers.Serializer[Any]):
    check = ShownCheck(allow_null=True, help_text="Null if nothing is open, or everything is in progress.")
    sample = serializers.CharField(
        allow_null=True, help_text="Id of the random sample that it was taken from, null for none."
    )


class CheckNext(ApiView):
    tag = "checks"

    @operation("next_check", parameters=parameters_of(QUEUE), request=None, responses=HandedOut)
    def post(self, request: Request, slug: str) -> Response:
        """Lease the next check of a queue to the caller.

        Needs the verb "review". The lease of the previous check, `after`, ends. Without a filter and an order, an open
        random sample comes first. The queue of a random sample can only be filtered by side.
        """
        viewer = self.viewer(Verb.REVIEW)
        given = request.query_params.dict()
        queue = queue_of(given).look(viewer, given, is_strict=True)
        checks = Check.objects.filter(project=viewer.project).select_related("project")
        after = only(checks, queue.after, "check") if queue.after else None
        found, sample = None, queue.chosen.get("sample")
        if not (queue.is_narrowed or queue.sort) and (first := sample_first(viewer)):
            sample = first.sample.sample_id
            found = hand_out(look=sampled(sample).look(viewer, {"sample": sample}), after=after)
        if found is None:
            # The sample may have no free check, so look at the whole queue.
            sample = queue.chosen.get("sample")
            found = hand_out(look=queue, after=after)
        if after is not None:
            end_lease(check=after, by=self.person)
        detail = shown_detail(viewer.project, found.public_id, self.person, at_desk=True) if found else None
        return Response({"check": detail, "sample": sample if found else None})
