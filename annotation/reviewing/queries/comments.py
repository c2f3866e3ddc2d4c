"""Comments on claims, as a person may see them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db.models import Q

from annotation.core.lists import Column, Filter, Kind, List, Viewer
from annotation.core.permissions import Verb
from annotation.core.refusals import NotFound
from annotation.models import Claim, Comment, Project
from annotation.reviewing.queries.sight import has_unanswered

if TYPE_CHECKING:
    from django.db.models import QuerySet

COMMENTS_SHOWN = 200


def seen_comments(viewer: Viewer) -> QuerySet[Comment]:
    said = Comment.objects.filter(project=viewer.project).select_related("author", "claim")
    return said.filter(Q(author=viewer.person) | ~has_unanswered(viewer, "claim"))


COMMENTS = List(
    name="comments",
    verbs=(Verb.COMMENT,),
    rows=seen_comments,
    order=("pk",),
    filters=(Filter("claim", "claim__public_id", help="Comments on the claim of that id."),),
    columns=(
        Column("id", "public_id"),
        Column("claim", "claim.public_id"),
        Column("by", "author.username"),
        Column(
            "text",
            lambda comment: "" if comment.withdrawn_at else comment.text,
            help="Empty after its author has deleted it.",
        ),
        Column("created_at", kind=Kind.MOMENT, order=True),
        Column("withdrawn_at", kind=Kind.MOMENT, nullable=True),
    ),
)


@dataclass(frozen=True, slots=True)
class Thread:
    """Up to 200 comments on a claim, oldest first.

    `hidden` counts others' current comments that the reader may not see yet.
    """

    claim_id: str
    text: str
    document_set: str
    said: tuple[Comment, ...]
    hidden: int

    @property
    def count(self) -> int:
        """Return the number of these comments that are not withdrawn."""
        return sum(said.withdrawn_at is None for said in self.said)


def claim_of(project: Project, public_id: str) -> Claim:
    """Return a claim of the project, removed or not. Raises NotFound if there is none."""
    rows = Claim.all_claims.select_related("claim_set__summary__document_set", "claim_set__document_set")
    of_project = Q(claim_set__summary__document_set__project=project) | Q(
        claim_set__document_set__project=project
    )
    claim = rows.filter(of_project, public_id=public_id).first()
    if claim is None:
        raise NotFound("There is no such claim in this project.")
    return claim


def thread_of(viewer: Viewer, claim: Claim) -> Thread:
    """Load the comments on a claim that the viewer may see now."""
    last = COMMENTS.rows(viewer).filter(claim=claim).order_by("-pk")[:COMMENTS_SHOWN]
    hidden = Comment.objects.filter(has_unanswered(viewer, "claim"), claim=claim, withdrawn_at=None)
    summary = claim.claim_set.summary
    document_set = summary.document_set if summary else claim.claim_set.document_set
    assert document_set is not None, "claims lie in a summary or in the documents of a set"
    return Thread(
        claim_id=claim.public_id,
        text=claim.text,
        document_set=document_set.external_id,
        said=tuple(reversed(last)),
        hidden=hidden.exclude(author=viewer.person).count(),
    )
