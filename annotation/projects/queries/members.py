"""Members, invitations, and the rows of a member."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db.models import Q, Value
from django.db.models.functions import Concat
from django.utils import timezone

from annotation.core.lists import Choices, Column, Kind, List, Viewer
from annotation.core.permissions import Verb
from annotation.models import (
    Answer,
    Assignment,
    Comment,
    CoverageJudgment,
    Invitation,
    Membership,
    Project,
    Role,
    Verdict,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from django.db.models import Model, QuerySet

COUNTED_UP_TO = 9_999

DOES: dict[Role, str] = {
    Role.OWNER: "everything, including members",
    Role.MANAGER: "imports, runs, assignments, settings, exports",
    Role.ADJUDICATOR: "resolves disagreements, and does what reviewers do; sees no scores",
    Role.REVIEWER: "answers checks, rates summaries and fixes claims; sees no scores",
    Role.ASSESSOR: "judges summaries in the SEE form, blind",
    Role.VIEWER: "sees scores and runs; can export",
}


@dataclass(frozen=True, slots=True)
class Left:
    """Numbers of a person's rows in a project, each at most 9,999.

    Judgments are current percents; verdicts, decisions and comments are those that are not withdrawn. Ratings are not
    counted. `invitations` are those that can still be accepted.
    """

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


def members_of(project: Project) -> QuerySet[Membership]:
    """Select the members with their accounts, searchable by `full_name`."""
    named = Concat("user__first_name", Value(" "), "user__last_name")
    return project.memberships.select_related("user", "project").alias(full_name=named)


def _with_roles(viewer: Viewer, rows: Sequence[Membership]) -> None:
    roles = dict(viewer.project.memberships.values_list("pk", "roles"))
    owners = [key for key, held in roles.items() if Role.OWNER in held]
    for row in rows:
        known = {"is_last_owner": owners == [row.pk]}
        vars(row).update(known, is_self=row.user_id == viewer.person.pk)


def _roles(row: Membership | Invitation) -> list[str]:
    return [role for role in Role.values if role in row.roles]


def state_of(row: Invitation) -> str:
    """Return the state of an invitation: accepted, revoked, expired or waiting."""
    if row.accepted_at is not None:
        return "accepted"
    if row.revoked_at is not None:
        return "revoked"
    return "expired" if row.expires_at <= timezone.now() else "waiting"


ROLES = Choices("Role", Role.choices)

MEMBERS = List(
    name="members",
    verbs=(Verb.MANAGE_MEMBERS,),
    rows=lambda viewer: members_of(viewer.project),
    prepare=_with_roles,
    order=("user__username", "pk"),
    title="Members",
    below="projects/people/_change.html",
    columns=(
        Column(
            "username",
            "user.username",
            head="Name",
            order=True,
            search=True,
            cell="projects/people/_who.html",
        ),
        Column("id", "public_id"),
        Column("full_name", lambda row: row.user.get_full_name(), search=True),
        Column("roles", _roles, kind=Kind.TEXTS, choices=ROLES, head="Roles"),
        Column("since", "created_at", kind=Kind.MOMENT, head="Since", order=True),
    ),
)

INVITATIONS = List(
    name="invitations",
    verbs=(Verb.MANAGE_MEMBERS,),
    rows=lambda viewer: invitations_of(viewer.project),
    order=("-pk",),
    title="Invitations",
    columns=(
        Column("note", head="For", help="The invited person.", cell="projects/people/_invited.html"),
        Column("id", "public_id"),
        Column("email", help="The address that its link is mailed to; empty if it was shown."),
        Column("mailed_at", kind=Kind.MOMENT, nullable=True),
        Column("roles", _roles, kind=Kind.TEXTS, choices=ROLES, head="Roles"),
        Column(
            "state",
            state_of,
            choices=Choices(
                "InvitationState", [(state, state) for state in ("waiting", "accepted", "revoked", "expired")]
            ),
            head="State",
            cell="projects/people/_state.html",
        ),
        Column("by", "by.username", head="By"),
        Column("created_at", kind=Kind.MOMENT, head="Made"),
        Column("expires_at", kind=Kind.MOMENT, head="Valid until"),
        Column("accepted_by", "accepted_by.username", nullable=True, head="Accepted by"),
        Column("accepted_at", kind=Kind.MOMENT, nullable=True),
    ),
)


def invitations_of(project: Project) -> QuerySet[Invitation]:
    """Select all invitations with their senders and recipients, newest first."""
    return project.invitations.select_related("by", "accepted_by").order_by("-pk")


def what_stays(membership: Membership) -> Left:
    """Count the rows that a member has in the project, for the page on removing the member."""
    project, person = membership.project, membership.user
    assignments = Assignment.objects.filter(
        assessor=person, document_set__project=project, unassigned_at__isnull=True
    )
    own = Q(person=person, withdrawn_at=None)
    verdicts = Verdict.objects.filter(own, check_row__project=project)
    judgments = CoverageJudgment.objects.filter(
        own, comparison__summary__document_set__project=project, is_current=True
    )
    decision = Q(role=Answer.Role.ADJUDICATOR)
    return Left(
        judgments=_capped(judgments.exclude(decision)),
        closed_sets=_capped(assignments.filter(closed_at__isnull=False)),
        open_sets=_capped(assignments.filter(closed_at__isnull=True)),
        verdicts=_capped(verdicts.exclude(decision)),
        decisions=min(
            _capped(verdicts.filter(decision)) + _capped(judgments.filter(decision)), COUNTED_UP_TO
        ),
        comments=_capped(Comment.objects.filter(project=project, author=person, withdrawn_at=None)),
        invitations=_capped(
            project.invitations.filter(
                by=person, accepted_at=None, revoked_at=None, expires_at__gt=timezone.now()
            )
        ),
    )


def _capped(rows: QuerySet[Model]) -> int:
    return int(rows.order_by()[:COUNTED_UP_TO].count())
