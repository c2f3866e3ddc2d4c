"""The queues of checks: what waits in which order, and the next one."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.access import ApiView, only
from annotation.api.fields import NamedChoice, WordChoice
from annotation.api.schema import operation
from annotation.core.permissions import Verb
from annotation.core.search import LONGEST_SEARCH
from annotation.models import Check, Label
from annotation.reviewing.api.checks import CheckDetail, shown_detail
from annotation.reviewing.queries.review_queue import (
    Filter,
    Only,
    Order,
)
from annotation.reviewing.services.lease_check import hand_out, let_go

LONGEST_FILTER = 200


class QueueFilter(serializers.Serializer[Any]):
    """Which checks, in which order. With a random sample no other word counts but the side."""

    order = WordChoice(
        choices=list(Order),
        default=Order.SET,
        help_text="set: document set by document set, the most uncertain claims first in each. document: summary by "
        "summary, claims in their order.",
    )
    only = WordChoice(
        choices=list(Only),
        default=Only.WAITING,
        help_text="waiting: nobody answered. split: a panel's votes differ. disputed: reviewers differ. "
        "against: people answered otherwise than the judge. Unless the project shows verdicts at once, "
        "disputed, against and label hold only what the caller has answered.",
    )
    side = WordChoice(choices=Check.Side.choices, default="", allow_blank=True)
    label: Any = NamedChoice(
        "Label", Label.choices, default="", allow_blank=True, help_text="What people answered."
    )
    numbers = serializers.BooleanField(default=False, help_text="Only claims with numbers.")
    system = serializers.CharField(
        default="",
        allow_blank=True,
        max_length=LONGEST_FILTER,
        help_text="Id or name; needs the verb view scores.",
    )
    document_set = serializers.CharField(
        default="", allow_blank=True, max_length=LONGEST_FILTER, help_text="Id of a document set."
    )
    reviewer = serializers.CharField(
        default="",
        allow_blank=True,
        max_length=LONGEST_FILTER,
        help_text="Answered by this person; other people need the verb view scores.",
    )
    q = serializers.CharField(
        default="",
        allow_blank=True,
        max_length=LONGEST_SEARCH,
        help_text="Words in the claim or its document set's name, case-insensitive.",
    )
    sample = serializers.CharField(
        default="", allow_blank=True, max_length=LONGEST_FILTER, help_text="Id of a random sample of checks."
    )


class NextQuery(QueueFilter):
    after = serializers.CharField(
        default="",
        allow_blank=True,
        max_length=LONGEST_FILTER,
        help_text="Id of the previous check.",
    )


class HandedOut(serializers.Serializer[Any]):
    check = CheckDetail(allow_null=True, help_text="Null if nothing is open, or everything is in progress.")


class CheckNext(ApiView):
    tag = "checks"

    @operation("next_check", request=NextQuery, responses=HandedOut)
    def post(self, request: Request, slug: str) -> Response:
        """Hand out the next check of a queue, and hold it for five minutes.

        Needs the verb "review". Nobody else is handed it until then; looking at it again holds it on. The
        check that one comes from is let go.
        """
        project = self.enter(Verb.REVIEW)
        wanted = self.body(NextQuery)
        name = wanted.pop("after")
        after = None
        if name:
            after = only(Check.objects.filter(project=project).select_related("project"), name, "check")
        reader, filters = self.reader(project), _filters(wanted)
        found = hand_out(project=project, reader=reader, filters=filters, after=after)
        if after is not None:
            let_go(check=after, by=self.person)
        detail = shown_detail(project, found.public_id, self.person, at_desk=True) if found else None
        return Response({"check": detail})


def _filters(words: dict[str, Any]) -> Filter:
    return Filter.read({**words, "numbers": "1" if words["numbers"] else ""})
