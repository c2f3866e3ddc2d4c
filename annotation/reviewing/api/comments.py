from __future__ import annotations

from typing import Any

from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.access import ApiView, only
from annotation.api.lists import operation_of, shape_of
from annotation.api.schema import operation
from annotation.core.permissions import Verb
from annotation.models import Comment
from annotation.reviewing.queries.comments import COMMENTS, claim_of
from annotation.reviewing.services.comment import LONGEST_COMMENT, comment_on_claim, withdraw_comment

CommentRow = shape_of(COMMENTS, "CommentRow")


class NewComment(serializers.Serializer[Any]):
    claim = serializers.CharField(help_text="Id of the claim.")
    text = serializers.CharField(max_length=LONGEST_COMMENT)


class Comments(ApiView):
    tag = "comments"

    get = operation_of(
        COMMENTS,
        CommentRow,
        """List the comments on the claims of a project, oldest first.

        Needs the verb "comment". Others' comments on a claim are left out until the caller may see
        others' answers to the claim's checks.
        """,
    )

    @operation("comment_on_claim", request=NewComment, responses={201: CommentRow})
    def post(self, request: Request, slug: str) -> Response:
        """Comment on a claim.

        Needs the verb "comment".
        """
        project = self.enter(Verb.COMMENT)
        comment = self.body(NewComment)
        claim = claim_of(project, comment["claim"])
        made = comment_on_claim(project=project, claim=claim, by=self.person, text=comment["text"])
        return Response(CommentRow(made).data, status=status.HTTP_201_CREATED)


class OneComment(ApiView):
    tag = "comments"

    @operation("withdraw_comment", responses={204: None})
    def delete(self, request: Request, slug: str, public_id: str) -> Response:
        """Delete one's own comment, so that its text is no longer shown."""
        project = self.enter(Verb.COMMENT)
        own = Comment.objects.filter(project=project, author=self.person).select_related("project")
        withdraw_comment(comment=only(own, public_id, "comment of yours"), by=self.person)
        return Response(status=status.HTTP_204_NO_CONTENT)
