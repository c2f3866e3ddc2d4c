from __future__ import annotations

from typing import Any

from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.access import ApiView, only
from annotation.api.fields import NamedChoice
from annotation.api.lists import operation_of, shape_of
from annotation.api.schema import operation
from annotation.api.throttles import LONGEST_USERNAME
from annotation.core.permissions import Verb
from annotation.models import Role
from annotation.projects.queries.members import MEMBERS, members_of
from annotation.projects.services import change_members as service


class RoleField(NamedChoice):
    def __init__(self, **kwargs: Any) -> None:
        super().__init__("Role", Role.choices, **kwargs)


class RoleList(serializers.ListField):
    child = RoleField()

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(max_length=len(Role), **kwargs)


MemberRow = shape_of(MEMBERS, "MemberRow")


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


class Members(ApiView):
    tag = "members"

    get = operation_of(MEMBERS, MemberRow, "List the members of a project, in the order of their names.")

    @operation("add_member", request=NewMember, responses={201: MemberRow})
    def post(self, request: Request, slug: str) -> Response:
        """Add an existing account as a member.

        Needs the verb "manage members". Refused (409) if the person is a member already.
        """
        project = self.enter(Verb.MANAGE_MEMBERS)
        member = service.add_member(project=project, by=self.person, **self.body(NewMember))
        return Response(MemberRow(member).data, status=status.HTTP_201_CREATED)


class OneMember(ApiView):
    tag = "members"

    @operation("change_roles", request=NewRoles, responses=MemberRow)
    def patch(self, request: Request, slug: str, public_id: str) -> Response:
        """Change the roles of a member.

        Needs the verb "manage members". Refused (409) if the project would have no owner.
        """
        project = self.enter(Verb.MANAGE_MEMBERS)
        member = only(members_of(project), public_id, "member")
        changed = service.change_roles(membership=member, by=self.person, **self.body(NewRoles))
        return Response(MemberRow(changed).data)

    @operation("remove_member", responses={204: None})
    def delete(self, request: Request, slug: str, public_id: str) -> Response:
        """Remove a member and keep their answers.

        Needs the verb "manage members". Refused (409) if the project would have no owner.
        """
        project = self.enter(Verb.MANAGE_MEMBERS)
        service.remove_member(membership=only(members_of(project), public_id, "member"), by=self.person)
        return Response(status=status.HTTP_204_NO_CONTENT)
