"""A person says something about a claim or a unit, to whoever reads it or to people named by @; or takes it back."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from django.db import transaction
from django.utils import timezone

from annotation.core.events import log
from annotation.core.permissions import Verb, require
from annotation.core.refusals import NotAllowed
from annotation.core.text_faults import checked_text
from annotation.models import Claim, Comment, Membership, Project, Unit
from annotation.reviewing.queries.comments import (
    claim_in_sight,
    commenters,
    members_named,
    names_not_found,
    unit_in_sight,
)

if TYPE_CHECKING:
    from django.contrib.auth.models import User

LONGEST_COMMENT = 4000


class Commented(NamedTuple):
    """A comment, the people who were told of it, members whom it names who may not see it, and names of no member."""

    comment: Comment
    told: tuple[str, ...]
    not_told: tuple[str, ...]
    unknown: tuple[str, ...]


@transaction.atomic
def comment_on_claim(*, project: Project, claim: Claim, by: User, text: str) -> Commented:
    """Say something about a claim. Members who are named by @ and may see it are told.

    Raises NotFound where `by` may not read the claim, Invalid for no text or one that is too long.
    """
    require(by, project, Verb.COMMENT)
    claim = claim_in_sight(project, by, claim.public_id)
    return _comment(project, by, text, commenters(project), claim=claim)


@transaction.atomic
def comment_on_unit(*, project: Project, unit: Unit, by: User, text: str) -> Commented:
    """Say something about a unit of a text. Raises as `comment_on_claim`."""
    require(by, project, Verb.COMMENT)
    unit = unit_in_sight(project, by, unit.public_id)
    return _comment(project, by, text, commenters(project, unit=unit), unit=unit)


@transaction.atomic
def withdraw_comment(*, comment: Comment, by: User) -> Comment:
    """Take back one's own comment: its words are shown to nobody any more. Twice changes nothing.

    Raises NotAllowed for another person's.
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


def _comment(
    project: Project,
    by: User,
    text: str,
    people: dict[str, int],
    *,
    claim: Claim | None = None,
    unit: Unit | None = None,
) -> Commented:
    text = _checked(text)
    named = [name for name in members_named(text, people) if people[name] != by.pk]
    members = list(Membership.objects.filter(project=project).values_list("user__username", flat=True))
    others = [name for name in members_named(text, members) if name not in (*named, by.username)]
    comment = Comment.objects.create(project=project, author=by, text=text, claim=claim, unit=unit)
    comment.mentions.set([people[name] for name in named])
    kind, place = ("claim", claim) if claim else ("unit", unit)
    assert place is not None, "a comment is on a claim or a unit"
    log(
        project=project,
        actor=by,
        verb="comment",
        target=comment,
        data={"on": kind, "place": place.public_id, "mentions": named},
    )
    unknown = names_not_found(text, (*members, by.username))
    return Commented(comment, tuple(named), tuple(others), tuple(unknown))


def _checked(text: str) -> str:
    if_long = f"A comment takes at most {LONGEST_COMMENT:,} characters."
    return checked_text(text, most=LONGEST_COMMENT, if_empty="Enter a comment first.", if_long=if_long)
