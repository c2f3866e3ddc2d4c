"""Who belongs to a project, who is invited, and what stays of somebody who goes."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime
from statistics import median
from typing import TYPE_CHECKING

from django.db.models import Q, Value
from django.db.models.functions import Concat
from django.utils import timezone

from annotation.core.paging import page_after
from annotation.core.search import holds
from annotation.models import (
    Adjudication,
    Assignment,
    Comment,
    Invitation,
    Membership,
    Project,
    Role,
    UnitJudgment,
    Verdict,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from django.contrib.auth.models import User
    from django.db.models import Model, QuerySet

INVITATIONS_SHOWN = 50
COUNTED_UP_TO = 9_999

DOES: dict[Role, str] = {
    Role.OWNER: "everything, including members",
    Role.MANAGER: "imports, runs, assignments, settings, exports",
    Role.ADJUDICATOR: "resolves disagreements, answers checks and fixes claims; sees scores; can export",
    Role.REVIEWER: "answers checks and fixes claims; sees no scores",
    Role.ASSESSOR: "judges summaries in the SEE form, blind",
    Role.VIEWER: "sees scores and runs; can export",
}


@dataclass(frozen=True, slots=True)
class Answers:
    """A reviewer's answers: how many, the share that differ from the judge, and the median time of one in seconds."""

    count: int
    differ: float | None
    seconds: float | None


@dataclass(frozen=True, slots=True)
class Member:
    """A person in a project. `is_last_owner` tells that the project would have no owner without them."""

    member_id: str
    username: str
    full_name: str
    is_active: bool
    roles: tuple[str, ...]
    since: datetime
    is_self: bool
    is_last_owner: bool
    answers: Answers | None

    @property
    def role_names(self) -> list[str]:
        return [Role(role).label for role in self.roles]


@dataclass(frozen=True, slots=True)
class Invited:
    """An invitation as it stands: waiting, accepted, revoked or expired."""

    invitation_id: str
    note: str
    email: str
    mailed_at: datetime | None
    roles: tuple[str, ...]
    by: str
    created_at: datetime
    expires_at: datetime
    state: str
    accepted_by: str | None
    accepted_at: datetime | None

    @property
    def role_names(self) -> list[str]:
        return [Role(role).label for role in self.roles]

    @property
    def is_waiting(self) -> bool:
        return self.state == "waiting"


@dataclass(frozen=True, slots=True)
class Left:
    """What stays in the project when somebody goes, each counted up to 9,999; `open_sets` wait for them in vain."""

    judgments: int
    closed_sets: int
    open_sets: int
    verdicts: int
    decisions: int
    comments: int
    invitations: int

    @property
    def is_nothing(self) -> bool:
        return not (self.judgments or self.closed_sets or self.verdicts or self.decisions or self.comments)


@dataclass(frozen=True, slots=True)
class MemberPage:
    """Members, as a person sees them, and how many the project has; `after` names the next page, "" at the end."""

    members: tuple[Member, ...]
    after: str
    count: int


def member_page(
    project: Project,
    person: User,
    *,
    wanted: str = "",
    order: Sequence[str] = ("user__username", "public_id"),
    after: str = "",
) -> MemberPage:
    """One page of the members whose name holds what is wanted. Raises Invalid for a page that is not there."""
    everybody = project.memberships.select_related("user")
    named = Concat("user__first_name", Value(" "), "user__last_name")
    found = everybody.alias(full_name=named).filter(holds(wanted, "user__username", "full_name"))
    rows, after = page_after(found, order=order, after=after, scope=everybody)
    roles = dict(project.memberships.values_list("pk", "roles"))
    owners = [key for key, held in roles.items() if Role.OWNER in held]
    answers = _answers(project, [row.user_id for row in rows])
    members = tuple(
        Member(
            member_id=row.public_id,
            username=row.user.username,
            full_name=row.user.get_full_name(),
            is_active=row.user.is_active,
            roles=tuple(role for role in Role.values if role in row.roles),
            since=row.created_at,
            is_self=row.user_id == person.pk,
            is_last_owner=owners == [row.pk],
            answers=answers.get(row.user_id),
        )
        for row in rows
    )
    return MemberPage(members, after, len(roles))


def _answers(project: Project, people: Sequence[int]) -> dict[int, Answers]:
    """The answers of some people to checks, each check once: their latest that is not withdrawn."""
    rows = Verdict.objects.filter(check_row__project=project, person__in=people, withdrawn_at=None)
    columns = ("person_id", "check_row_id", "label", "check_row__judge_label", "active_ms")
    latest = {(person, check): rest for person, check, *rest in rows.order_by("pk").values_list(*columns)}
    by_person: dict[int, list[tuple[str, str | None, int]]] = defaultdict(list)
    for (person, _), (label, judge, ms) in latest.items():
        by_person[person].append((label, judge, ms))
    return {person: _summed(answers) for person, answers in by_person.items()}


def _summed(answers: list[tuple[str, str | None, int]]) -> Answers:
    differ = [label != judge for label, judge, _ in answers if judge]
    timed = [ms / 1000 for _, _, ms in answers if ms]
    return Answers(
        count=len(answers),
        differ=sum(differ) / len(differ) if differ else None,
        seconds=median(timed) if timed else None,
    )


def invitations_of(project: Project) -> QuerySet[Invitation]:
    """All invitations, newest first, with the people in them."""
    return project.invitations.select_related("by", "accepted_by").order_by("-pk")


def invited(project: Project) -> list[Invited]:
    """The last invitations, those that wait first."""
    rows = [as_invited(row) for row in invitations_of(project)[:INVITATIONS_SHOWN]]
    return sorted(rows, key=lambda row: not row.is_waiting)


def as_invited(row: Invitation) -> Invited:
    return Invited(
        invitation_id=row.public_id,
        note=row.note,
        email=row.email,
        mailed_at=row.mailed_at,
        roles=tuple(role for role in Role.values if role in row.roles),
        by=row.by.username,
        created_at=row.created_at,
        expires_at=row.expires_at,
        state=_state(row),
        accepted_by=row.accepted_by.username if row.accepted_by else None,
        accepted_at=row.accepted_at,
    )


def what_stays(membership: Membership) -> Left:
    """What the person has said in the project and what waits for them there."""
    project, person = membership.project, membership.user
    assignments = Assignment.objects.filter(
        assessor=person, document_set__project=project, unassigned_at__isnull=True
    )
    of_project = Q(check_row__project=project) | Q(comparison__peer__document_set__project=project)
    return Left(
        judgments=_capped(
            UnitJudgment.objects.filter(
                reading__assignment__assessor=person,
                reading__assignment__document_set__project=project,
                is_current=True,
            )
        ),
        closed_sets=_capped(assignments.filter(closed_at__isnull=False)),
        open_sets=_capped(assignments.filter(closed_at__isnull=True)),
        verdicts=_capped(
            Verdict.objects.filter(person=person, check_row__project=project, withdrawn_at=None)
        ),
        decisions=_capped(Adjudication.objects.filter(of_project, decided_by=person, withdrawn_at=None)),
        comments=_capped(Comment.objects.filter(project=project, author=person, withdrawn_at=None)),
        invitations=_capped(
            project.invitations.filter(
                by=person, accepted_at=None, revoked_at=None, expires_at__gt=timezone.now()
            )
        ),
    )


def _capped(rows: QuerySet[Model]) -> int:
    return int(rows.order_by()[:COUNTED_UP_TO].count())


def _state(row: Invitation) -> str:
    if row.accepted_at is not None:
        return "accepted"
    if row.revoked_at is not None:
        return "revoked"
    return "expired" if row.expires_at <= timezone.now() else "waiting"
