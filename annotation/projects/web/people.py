from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse

from annotation.core.permissions import Verb
from annotation.core.refusals import Conflict, Invalid
from annotation.models import Invitation, Membership, Role
from annotation.projects.queries.members import DOES, INVITATIONS, MEMBERS, members_of, what_stays
from annotation.projects.services import change_members
from annotation.projects.services.invite import GOOD_FOR, LONGEST_NOTE, Issued
from annotation.projects.services.invite import invite as issue
from annotation.projects.services.invite import revoke_invitation as revoke
from annotation.web.htmx import Request
from annotation.web.lists import list_page, listed
from annotation.web.refusals import status_of
from annotation.web.rooms import Room, enter, found
from annotation.web.screen import screen

HERE = "people"

ROLES = [(role.value, role.label, DOES[role]) for role in Role]


@dataclass(frozen=True, slots=True)
class Typed:
    """The submitted values of a refused form. `where` names the form."""

    where: str = ""
    roles: Sequence[str] = field(default_factory=list)
    words: str = ""
    refusal: Invalid | Conflict | None = None
    email: str = ""

    @property
    def fault(self) -> str:
        return self.refusal.message if self.refusal else ""


@screen("GET")
def people(request: Request, slug: str) -> HttpResponseBase:
    room = enter(request, slug, Verb.MANAGE_MEMBERS, here=HERE)
    context = _context(request, room)
    return list_page(request, room, MEMBERS, page="projects/people/page.html", context=context)


@screen("POST")
def add_member(request: Request, slug: str) -> HttpResponse:
    room = enter(request, slug, Verb.MANAGE_MEMBERS, here=HERE)
    name, roles = request.POST.get("name", ""), request.POST.getlist("roles")
    try:
        member = change_members.add_member(project=room.project, username=name, roles=roles, by=request.user)
    except (Invalid, Conflict) as refusal:
        return _show(request, room, typed=Typed("add", roles, name, refusal))
    messages.success(request, f"{member.user.username} is a member now.")
    return redirect("people", slug=slug)


@screen("POST")
def change_roles(request: Request, slug: str, member_id: str) -> HttpResponse:
    room = enter(request, slug, Verb.MANAGE_MEMBERS, here=HERE)
    member, roles = _member(room, member_id), request.POST.getlist("roles")
    seen = request.POST.get("seen")
    try:
        change_members.change_roles(
            membership=member, roles=roles, by=request.user, seen=None if seen is None else seen.split()
        )
    except (Invalid, Conflict) as refusal:
        return _show(request, room, typed=Typed(member_id, roles, refusal=refusal))
    messages.success(request, f"Roles of {member.user.username} changed.")
    if member.user == request.user and Role.OWNER not in roles:
        return redirect("project", slug=slug)
    return redirect("people", slug=slug)


@screen("GET", "POST")
def remove_member(request: Request, slug: str, member_id: str) -> HttpResponse:
    room = enter(request, slug, Verb.MANAGE_MEMBERS, here=HERE)
    member = _member(room, member_id)
    refusal = None
    if request.method == "POST":
        try:
            change_members.remove_member(membership=member, by=request.user)
        except Conflict as conflict:
            refusal = conflict
        else:
            messages.success(request, f"{member.user.username} is no longer a member. Their answers stay.")
            is_self = member.user_id == request.user.pk
            return redirect("projects") if is_self else redirect("people", slug=slug)
    context = {
        "room": room,
        "member": member,
        "roles": [Role(role).label for role in Role.values if role in member.roles],
        "stays": what_stays(member),
        "is_self": member.user_id == request.user.pk,
        "is_last_owner": change_members.is_last_owner(member),
        "refusal": refusal,
    }
    return render(
        request, "projects/people/remove.html", context, status=status_of(refusal) if refusal else 200
    )


@screen("POST")
def invite(request: Request, slug: str) -> HttpResponse:
    room = enter(request, slug, Verb.MANAGE_MEMBERS, here=HERE)
    note, roles = request.POST.get("name", ""), request.POST.getlist("roles")
    email = request.POST.get("email", "")
    address = request.build_absolute_uri("/")
    try:
        made = issue(
            project=room.project, roles=roles, by=request.user, note=note, email=email, address=address
        )
    except (Invalid, Conflict) as refusal:
        return _show(request, room, typed=Typed("add", roles, note, refusal, email=email))
    if made.invitation.email:
        messages.success(request, f"The invitation is on its way to {made.invitation.email}.")
        return redirect("people", slug=slug)
    return _show(request, room, issued=made)


@screen("POST")
def revoke_invitation(request: Request, slug: str, invitation_id: str) -> HttpResponse:
    room = enter(request, slug, Verb.MANAGE_MEMBERS, here=HERE)
    rows = Invitation.objects.filter(project=room.project).select_related("project")
    revoke(invitation=found(rows, invitation_id, "invitation"), by=request.user)
    messages.success(request, "Invitation revoked. Its link no longer works.")
    return redirect("people", slug=slug)


def _member(room: Room, member_id: str) -> Membership:
    return found(members_of(room.project), member_id, "member")


def _show(
    request: Request, room: Room, *, typed: Typed | None = None, issued: Issued | None = None
) -> HttpResponse:
    members = listed(request, room, MEMBERS, address=reverse("people", args=[room.project.slug]))
    context = {**members, **_context(request, room, typed, issued)}
    status = status_of(typed.refusal) if typed and typed.refusal else 200
    response = render(request, "projects/people/page.html", context, status=status)
    if issued:
        # Prevent caching: the link is shown only once, and not again after the Back button.
        response["Cache-Control"] = "private, no-store"
    return response


def _context(
    request: Request, room: Room, typed: Typed | None = None, issued: Issued | None = None
) -> dict[str, object]:
    return {
        "invitations": listed(request, room, INVITATIONS, is_beside=True),
        "roles": ROLES,
        "typed": typed or Typed(),
        "days": GOOD_FOR.days,
        "longest_note": LONGEST_NOTE,
        "link": _link(request, issued) if issued else "",
        "issued": issued.invitation if issued else None,
        "has_mail": bool(settings.EMAIL_URL),
    }


def _link(request: Request, issued: Issued) -> str:
    return request.build_absolute_uri(reverse("invitation", args=[issued.secret]))
