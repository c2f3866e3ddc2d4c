"""What people say to each other about a claim or a unit, as one of them may see it.

Whoever reads summaries and claims (their scores, or as a reviewer) reads every comment; a reviewer reads what others
say of a claim once they know what others answered to each of its checks, for a comment gives the answer away. An
assessor may comment on units of the sets that they have closed, and reads there what they wrote and what is addressed
to them.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Literal, NamedTuple

from django.db.models import Q

from annotation.core.permissions import Verb, verbs_in, verbs_of
from annotation.core.readers import CheckReader
from annotation.core.refusals import NotFound
from annotation.models import Claim, Comment, DocumentSet, Project, Sitting, Unit
from annotation.reviewing.queries.reveal import hides_words_on

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.db.models import QuerySet

READING = frozenset({Verb.VIEW_SCORES, Verb.REVIEW})
COMMENTS_SHOWN = 200
"""A thread shows its last comments, this many."""

# A name may hold dots and hyphens, so that the end of a sentence is cut off when no such member is found.
_MENTION = re.compile(r"(?<![\w.@+-])@([\w.@+-]{1,150})")
_ENDS = ".-+@"

SpokenOf = Literal["claim", "unit"]


class Piece(NamedTuple):
    """A run of a comment's words; `person` is the member whom it names, empty otherwise."""

    text: str
    person: str = ""


@dataclass(frozen=True, slots=True)
class ThreadComment:
    """One comment. Taken back it has no words any more."""

    comment_id: str
    who: str
    is_own: bool
    at: datetime
    is_withdrawn: bool
    text: str
    pieces: tuple[Piece, ...]
    mentions: tuple[str, ...]


class ThreadPlace(NamedTuple):
    """A claim or a unit that is spoken of, and how many comments stand on it."""

    kind: SpokenOf
    place_id: str
    comments: int


@dataclass(frozen=True, slots=True)
class Thread:
    """What was said on a claim or a unit. `hidden` comments of others come in sight with what others answered."""

    kind: SpokenOf
    place_id: str
    text: str
    document_set: str
    said: tuple[ThreadComment, ...]
    hidden: int
    may_write: bool
    people: tuple[str, ...]

    @property
    def count(self) -> int:
        """Comments that stand."""
        return sum(not said.is_withdrawn for said in self.said)


def claim_in_sight(project: Project, person: User, public_id: str) -> Claim:
    """A claim of the project, also one that was reworded since, for somebody who may read claims.

    Raises NotFound.
    """
    rows = Claim.all_claims.select_related("claim_set__summary__document_set", "claim_set__document_set")
    claim = rows.filter(_claims_of(project), public_id=public_id).first()
    if claim is None or not verbs_in(person, project) & READING:
        raise NotFound("There is no such claim in this project.")
    return claim


def unit_in_sight(project: Project, person: User, public_id: str) -> Unit:
    """A unit of the project for somebody who may read its text, or has closed its set as an assessor.

    Raises NotFound.
    """
    rows = Unit.all_units.select_related("summary__document_set", "document__document_set")
    unit = rows.filter(_units_of(project), public_id=public_id).first()
    if unit is None or not _may_read_unit(project, person, unit):
        raise NotFound("There is no such unit in this project.")
    return unit


def thread_of_claim(project: Project, claim: Claim, person: User) -> Thread:
    """What was said on a claim, as the person may see it now."""
    verbs = verbs_in(person, project)
    hides_others = hides_words_on(claim, project, CheckReader.holding(person, verbs))
    rows = Comment.objects.filter(claim=claim)
    hidden = rows.filter(withdrawn_at=None).exclude(author=person).count() if hides_others else 0
    people = commenters(project) if Verb.COMMENT in verbs else {}
    return Thread(
        kind="claim",
        place_id=claim.public_id,
        text=claim.text,
        document_set=_set_of_claim(claim),
        said=_said(rows.filter(author=person) if hides_others else rows, person),
        hidden=hidden,
        may_write=Verb.COMMENT in verbs,
        people=_names(people, person),
    )


def thread_of_unit(project: Project, unit: Unit, person: User) -> Thread:
    """What was said on a unit, as the person may see it now."""
    verbs = verbs_in(person, project)
    rows = Comment.objects.filter(unit=unit)
    if not verbs & READING:
        mine = Comment.mentions.through.objects.filter(user=person).values("comment")
        rows = rows.filter(Q(author=person) | Q(pk__in=mine))
    people = commenters(project, unit=unit) if Verb.COMMENT in verbs else {}
    return Thread(
        kind="unit",
        place_id=unit.public_id,
        text=text_of_unit(unit),
        document_set=_set_of_unit(unit).external_id,
        said=_said(rows, person),
        hidden=0,
        may_write=Verb.COMMENT in verbs,
        people=_names(people, person),
    )


def commenters(project: Project, *, unit: Unit | None = None) -> dict[str, int]:
    """Members whose roles let them see a comment on a claim, or on this unit, and answer it: key by username.

    Blindness is left out of it: whoever is blind now is told when they are blind no more.
    """
    closed: set[int | None] = set()
    if unit is not None:
        rows = Sitting.objects.filter(document_set=_set_of_unit(unit), closed_at__isnull=False)
        closed = set(rows.values_list("assessor", flat=True))
    found = {}
    for membership in project.memberships.select_related("user").order_by("user__username"):
        verbs = verbs_of(membership.role_set)
        reads = bool(verbs & READING) or membership.user_id in closed
        if Verb.COMMENT in verbs and reads and membership.user.is_active:
            found[membership.user.username] = membership.user_id
    return found


def members_named(text: str, people: Iterable[str]) -> list[str]:
    """Those of some people whom a text names by @, each once, in the order of the text."""
    return list(dict.fromkeys(piece.person for piece in pieces_of(text, people) if piece.person))


def names_not_found(text: str, people: Iterable[str]) -> list[str]:
    """What a text names by @ that is none of some people, each once; an address of mail names nobody."""
    known = {name.casefold() for name in people}
    given = (found[1] for found in _MENTION.finditer(text))
    names = (name.rstrip(_ENDS) for name in given if not _member_in(name, known))
    return list(dict.fromkeys(name for name in names if name))


def pieces_of(text: str, people: Iterable[str]) -> list[Piece]:
    """A text cut where it names one of some people by @. The pieces joined are the text."""
    known = {name.casefold(): name for name in people}
    pieces, done = [], 0
    for found in _MENTION.finditer(text):
        name = _member_in(found[1], known)
        if not name:
            continue
        start, end = found.start(), found.start(1) + len(name)
        if text[done:start]:
            pieces.append(Piece(text[done:start]))
        pieces.append(Piece(text[start:end], known[name.casefold()]))
        done = end
    if text[done:]:
        pieces.append(Piece(text[done:]))
    return pieces


def place_of(spoken_of: Claim | Unit) -> ThreadPlace:
    """Where people speak of a claim or a unit, and how many comments stand there; one query."""
    kind: SpokenOf = "claim" if isinstance(spoken_of, Claim) else "unit"
    count = Comment.objects.filter(**{kind: spoken_of}, withdrawn_at=None).count()
    return ThreadPlace(kind, spoken_of.public_id, count)


def _member_in(name: str, known: Container[str]) -> str:
    """What is left of a name, the end of a sentence cut off, when it is a known one; empty otherwise."""
    while name and name.casefold() not in known and name[-1] in _ENDS:
        name = name[:-1]
    return name if name.casefold() in known else ""


def text_of_unit(unit: Unit) -> str:
    source = unit.summary or unit.document
    assert source is not None, "a unit lies in a summary or a document"
    return source.text[unit.start : unit.end]


def _said(rows: QuerySet[Comment], person: User) -> tuple[ThreadComment, ...]:
    last = rows.select_related("author").prefetch_related("mentions").order_by("-pk")[:COMMENTS_SHOWN]
    return tuple(_as_comment(row, person) for row in reversed(last))


def _as_comment(row: Comment, person: User) -> ThreadComment:
    is_withdrawn = row.withdrawn_at is not None
    named = [] if is_withdrawn else sorted(each.username for each in row.mentions.all())
    text = "" if is_withdrawn else row.text
    return ThreadComment(
        comment_id=row.public_id,
        who=row.author.username,
        is_own=row.author_id == person.pk,
        at=row.created_at,
        is_withdrawn=is_withdrawn,
        text=text,
        pieces=tuple(pieces_of(text, named)),
        mentions=tuple(named),
    )


def _names(people: Mapping[str, int], person: User) -> tuple[str, ...]:
    return tuple(name for name, key in people.items() if key != person.pk)


def _may_read_unit(project: Project, person: User, unit: Unit) -> bool:
    verbs = verbs_in(person, project)
    if verbs & READING:
        return True
    own = Sitting.objects.filter(assessor=person, document_set=_set_of_unit(unit), closed_at__isnull=False)
    return Verb.COMMENT in verbs and own.exists()


def _claims_of(project: Project) -> Q:
    return Q(claim_set__summary__document_set__project=project) | Q(claim_set__document_set__project=project)


def _units_of(project: Project) -> Q:
    return Q(summary__document_set__project=project) | Q(document__document_set__project=project)


def _set_of_claim(claim: Claim) -> str:
    claims = claim.claim_set
    found = claims.summary.document_set if claims.summary else claims.document_set
    assert found is not None, "claims lie in a summary or in the documents of a set"
    return found.external_id


def _set_of_unit(unit: Unit) -> DocumentSet:
    source = unit.summary or unit.document
    assert source is not None, "a unit lies in a summary or a document"
    return source.document_set
