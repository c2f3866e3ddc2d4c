"""What people say of a claim, as one of them may see it.

A reviewer reads what others say of a claim once they know what others answered to each of its checks, for a comment
gives the answer away.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from django.db.models import Q

from annotation.core.permissions import verbs_in
from annotation.core.readers import CheckReader
from annotation.core.refusals import NotFound
from annotation.models import Claim, Comment, Project
from annotation.reviewing.queries.sight import hides_words_on

if TYPE_CHECKING:
    from django.contrib.auth.models import User

COMMENTS_SHOWN = 200


@dataclass(frozen=True, slots=True)
class SeenComment:
    """One comment. Taken back it has no words any more."""

    comment_id: str
    who: str
    is_own: bool
    at: datetime
    is_withdrawn: bool
    text: str

    @classmethod
    def of(cls, row: Comment, person: User) -> SeenComment:
        return cls(
            comment_id=row.public_id,
            who=row.author.username,
            is_own=row.author_id == person.pk,
            at=row.created_at,
            is_withdrawn=row.withdrawn_at is not None,
            text="" if row.withdrawn_at else row.text,
        )


@dataclass(frozen=True, slots=True)
class Thread:
    """What was said on a claim, oldest first, the last 200.

    So many `hidden` comments of others come in sight with what others answered.
    """

    claim_id: str
    text: str
    document_set: str
    said: tuple[SeenComment, ...]
    hidden: int

    @property
    def count(self) -> int:
        """Comments that stand."""
        return sum(not said.is_withdrawn for said in self.said)


def claim_of(project: Project, public_id: str) -> Claim:
    """A claim of the project, also one that was removed since. Raises NotFound."""
    rows = Claim.all_claims.select_related("claim_set__summary__document_set", "claim_set__document_set")
    of_project = Q(claim_set__summary__document_set__project=project) | Q(
        claim_set__document_set__project=project
    )
    claim = rows.filter(of_project, public_id=public_id).first()
    if claim is None:
        raise NotFound("There is no such claim in this project.")
    return claim


def thread_of(project: Project, claim: Claim, person: User) -> Thread:
    """What was said on a claim, as the person may see it now."""
    hides_others = hides_words_on(claim, project, CheckReader.holding(person, verbs_in(person, project)))
    rows = Comment.objects.filter(claim=claim)
    hidden = rows.filter(withdrawn_at=None).exclude(author=person).count() if hides_others else 0
    if hides_others:
        rows = rows.filter(author=person)
    last = rows.select_related("author").order_by("-pk")[:COMMENTS_SHOWN]
    summary = claim.claim_set.summary
    document_set = summary.document_set if summary else claim.claim_set.document_set
    assert document_set is not None, "claims lie in a summary or in the documents of a set"
    return Thread(
        claim_id=claim.public_id,
        text=claim.text,
        document_set=document_set.external_id,
        said=tuple(SeenComment.of(row, person) for row in reversed(last)),
        hidden=hidden,
    )
