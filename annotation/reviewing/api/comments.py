"""Comments on claims."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.access import ApiView, only
from annotation.api.schema import operation
from annotation.core.facts import plain
from annotation.core.permissions import Verb
from annotation.models import Comment
from annotation.reviewing.queries.comments import SeenComment, Thread, claim_of, thread_of
from annotation.reviewing.services.comment import LONGEST_COMMENT, comment_on_claim, withdraw_comment


class NewComment(serializers.Serializer[Any]):
    text = serializers.CharField(max_length=LONGEST_COMMENT)


class ClaimComments(ApiView):
    tag = "comments"

    @operation("list_claim_comments", responses=Thread)
    def get(self, request: Request, slug: str, public_id: str) -> Response:
        """Show the comments on a claim.

        Needs the verb "comment".
        """
        project = self.enter(Verb.COMMENT)
        return Response(plain(thread_of(project, claim_of(project, public_id), self.person)))

    @operation("comment_on_claim", request=NewComment, responses={201: SeenComment})
    def post(self, request: Request, slug: str, public_id: str) -> Response:
        """Comment on a claim.

        Needs the verb "comment".
        """
        project = self.enter(Verb.COMMENT)
        claim = claim_of(project, public_id)
        made = comment_on_claim(project=project, claim=claim, by=self.person, **self.body(NewComment))
        return Response(plain(SeenComment.of(made, self.person)), status=status.HTTP_201_CREATED)


class OneComment(ApiView):
    tag = "comments"

    @operation("withdraw_comment", responses={204: None})
    def delete(self, request: Request, slug: str, public_id: str) -> Response:
        """Take back one's own comment: its words are shown to nobody any more."""
        project = self.enter(Verb.COMMENT)
        own = Comment.objects.filter(project=project, author=self.person).select_related("project")
        withdraw_comment(comment=only(own, public_id, "comment of yours"), by=self.person)
        return Response(status=status.HTTP_204_NO_CONTENT)
