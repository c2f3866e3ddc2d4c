from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone

from annotation.core.events import log
from annotation.core.permissions import Verb, require
from annotation.core.refusals import NotAllowed
from annotation.core.text_faults import checked_text
from annotation.models import Claim, Comment, Project
from annotation.reviewing.queries.comments import claim_of

if TYPE_CHECKING:
    from django.contrib.auth.models import User

LONGEST_COMMENT = 4000


@transaction.atomic
def comment_on_claim(*, project: Project, claim: Claim, by: User, text: str) -> Comment:
    """Comment on a claim.

    Raises NotFound if the project has no such claim, and Invalid for an empty or too long text.
    """
    require(by, project, Verb.COMMENT)
    claim = claim_of(project, claim.public_id)
    if_long = f"A comment takes at most {LONGEST_COMMENT:,} characters."
    text = checked_text(text, most=LONGEST_COMMENT, if_empty="Enter a comment first.", if_long=if_long)
    comment = Comment.objects.create(project=project, author=by, text=text, claim=claim)
    log(project=project, actor=by, verb="comment", target=comment, data={"claim": claim.public_id})
    return comment


@transaction.atomic
def withdraw_comment(*, comment: Comment, by: User) -> Comment:
    """Withdraw one's own comment, so that its text is no longer shown. A second call changes nothing.

    Raises NotAllowed for another person's comment.
    """
    require(by, comment.project, Verb.COMMENT)
    if comment.author_id != by.pk:
        raise NotAllowed("Only the author of a comment can delete it.")
    now = Comment.objects.select_for_update(of=("self",)).select_related("project").get(pk=comment.pk)
    if now.withdrawn_at is not None:
        return now
    now.withdrawn_at = timezone.now()
    now.save(update_fields=["withdrawn_at"])
    log(project=now.project, actor=by, verb="withdraw comment", target=now)
    return now
