"""Members and invitations: who belongs to a project, and how somebody comes in."""

from __future__ import annotations

from typing import Any

from django.urls import reverse
from rest_framework import serializers, status
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.access import ApiView, only
from annotation.api.fields import NamedChoice
from annotation.api.lists import operation_of, shape_of
from annotation.api.schema import operation
from annotation.api.throttles import LONGEST_PASSWORD, LONGEST_USERNAME, PerAddress
from annotation.core.permissions import Verb
from annotation.models import Membership, Role
from annotation.projects.queries.members import (
    INVITATIONS,
    MEMBERS,
    Left,
    invitations_of,
    members_of,
    what_stays,
)
from annotation.projects.services import accept_invitation as accepting
from annotation.projects.services import change_members as service
from annotation.projects.services.invite import LONGEST_NOTE, invite, revoke_invitation


class RoleField(NamedChoice):
    """A role in a project."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__("Role", Role.choices, **kwargs)


class RoleList(serializers.ListField):
    child = RoleField()

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(max_length=len(Role), **kwargs)


MemberRow = shape_of(MEMBERS, "MemberRow")


class StaysRow(serializers.Serializer[Left]):
    """What stays of a member who goes, each counted up to 9,999."""

    judgments = serializers.IntegerField(help_text="Percents on model units.")
    closed_sets = serializers.IntegerField()
    open_sets = serializers.IntegerField(help_text="Not closed: unassign them first.")
    verdicts = serializers.IntegerField()
    decisions = serializers.IntegerField()
    comments = serializers.IntegerField()
    invitations = serializers.IntegerField(help_text="Pending, and revoked with the member.")


class MemberDetail(MemberRow):  # type: ignore[valid-type, misc]
    stays = serializers.SerializerMethodField()

    def get_stays(self, membership: Membership) -> dict[str, Any]:
        return dict(StaysRow(what_stays(membership)).data)


class NewMember(serializers.Serializer[Any]):
    username = serializers.CharField(
        max_length=LONGEST_USERNAME, help_text="User name of an existing account."
    )
    roles = RoleList(min_length=1)


class NewRoles(serializers.Serializer[Any]):
    roles = RoleList(min_length=1, help_text="The member's complete new roles.")
    seen = RoleList(
        required=False,
        help_text="The roles that you saw. If they have changed, the request is a conflict (409) and nothing "
        "is written.",
    )


InvitationRow = shape_of(INVITATIONS, "InvitationRow")


class IssuedRow(serializers.Serializer[Any]):
    invitation = InvitationRow()
    secret = serializers.CharField(
        allow_null=True, help_text="Shown only once; only its hash is stored. Null if the link is mailed."
    )
    address = serializers.CharField(allow_null=True, help_text="The link to send. Null if mailed.")


class NewInvitation(serializers.Serializer[Any]):
    roles = RoleList(min_length=1)
    note = serializers.CharField(default="", allow_blank=True, max_length=LONGEST_NOTE)
    email = serializers.CharField(
        default="",
        allow_blank=True,
        max_length=254,
        help_text="Mail the link there, if the installation sends mail.",
    )


class Secret(serializers.Serializer[Any]):
    secret = serializers.CharField(max_length=200, help_text="The part of the link after /invitations/.")


class NewAccount(Secret):
    username = serializers.CharField(max_length=LONGEST_USERNAME)
    password = serializers.CharField(
        max_length=LONGEST_PASSWORD, trim_whitespace=False, style={"input_type": "password"}
    )
    full_name = serializers.CharField(default="", allow_blank=True, max_length=LONGEST_USERNAME)


class Joined(serializers.Serializer[Membership]):
    project = serializers.CharField(source="project.slug")
    username = serializers.CharField(source="user.username")
    roles = RoleList()


class PerLink(PerAddress):
    """Attempts to make an account: a taken name tells that somebody has it."""

    scope = "invitations-address"
    most = 20


class Members(ApiView):
    tag = "members"

    get = operation_of(MEMBERS, MemberRow, "List the members of a project, in the order of their names.")

    @operation("add_member", request=NewMember, responses={201: MemberRow})
    def post(self, request: Request, slug: str) -> Response:
        """Make somebody who has an account a member.

        Needs the verb "manage members". A conflict (409) says that they are one already.
        """
        project = self.enter(Verb.MANAGE_MEMBERS)
        member = service.add_member(project=project, by=self.person, **self.body(NewMember))
        return Response(MemberRow(member).data, status=status.HTTP_201_CREATED)


class OneMember(ApiView):
    tag = "members"

    @operation("get_member", responses=MemberDetail)
    def get(self, request: Request, slug: str, public_id: str) -> Response:
        """Show a member, and what would stay if they went."""
        project = self.enter(Verb.MANAGE_MEMBERS)
        return Response(MemberDetail(only(members_of(project), public_id, "member")).data)

    @operation("change_roles", request=NewRoles, responses=MemberRow)
    def patch(self, request: Request, slug: str, public_id: str) -> Response:
        """Change the roles of a member.

        Needs the verb "manage members". A project keeps an owner.
        """
        project = self.enter(Verb.MANAGE_MEMBERS)
        member = only(members_of(project), public_id, "member")
        changed = service.change_roles(membership=member, by=self.person, **self.body(NewRoles))
        return Response(MemberRow(changed).data)

    @operation("remove_member", responses={204: None})
    def delete(self, request: Request, slug: str, public_id: str) -> Response:
        """Remove a member; what they said stays.

        Needs the verb "manage members". A project keeps an owner.
        """
        project = self.enter(Verb.MANAGE_MEMBERS)
        service.remove_member(membership=only(members_of(project), public_id, "member"), by=self.person)
        return Response(status=status.HTTP_204_NO_CONTENT)


class Invitations(ApiView):
    tag = "members"

    get = operation_of(INVITATIONS, InvitationRow, "List the invitations of a project, newest first.")

    @operation("invite", request=NewInvitation, responses={201: IssuedRow})
    def post(self, request: Request, slug: str) -> Response:
        """Make a link that lets one person in, once, within 14 days.

        Needs the verb "manage members".
        """
        project = self.enter(Verb.MANAGE_MEMBERS)
        here = request.build_absolute_uri("/")
        made = invite(project=project, by=self.person, address=here, **self.body(NewInvitation))
        told: dict[str, Any] = {"invitation": made.invitation, "secret": None, "address": None}
        if not made.invitation.email:
            address = request.build_absolute_uri(reverse("invitation", args=[made.secret]))
            told |= {"secret": made.secret, "address": address}
        return Response(IssuedRow(told).data, status=status.HTTP_201_CREATED)


class OneInvitation(ApiView):
    tag = "members"

    @operation("revoke_invitation", responses={204: None})
    def delete(self, request: Request, slug: str, public_id: str) -> Response:
        """Take an invitation back.

        Needs the verb "manage members". A conflict (409) says that somebody came in by it.
        """
        project = self.enter(Verb.MANAGE_MEMBERS)
        rows = invitations_of(project).select_related("project", "by", "accepted_by")
        revoke_invitation(invitation=only(rows, public_id, "invitation"), by=self.person)
        return Response(status=status.HTTP_204_NO_CONTENT)


class InvitationAccept(ApiView):
    tag = "members"

    @operation("accept_invitation", request=Secret, responses={201: Joined}, refusals=("404", "409"))
    def post(self, request: Request) -> Response:
        """Come into a project by an invitation.

        A conflict (409) says why a link opens nothing any more, or that you are a member already.
        """
        membership = accepting.accept_invitation(by=self.person, **self.body(Secret))
        return Response(Joined(membership).data, status=status.HTTP_201_CREATED)


class InvitationAccount(ApiView):
    tag = "members"
    authentication_classes = ()
    permission_classes = (AllowAny,)
    throttle_classes = (PerLink,)

    @operation(
        "accept_invitation_with_new_account",
        request=NewAccount,
        responses={201: Joined},
        refusals=("404", "409"),
    )
    def post(self, request: Request) -> Response:
        """Make an account and come into a project by an invitation.

        Ask for a token with the name and password then. Attempts are limited.
        """
        _, membership = accepting.accept_with_new_account(**self.body(NewAccount))
        return Response(Joined(membership).data, status=status.HTTP_201_CREATED)
