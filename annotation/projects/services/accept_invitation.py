"""Joining a project by an invitation, with an existing or a new account."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.utils import timezone

from annotation.core.events import log
from annotation.core.refusals import Conflict, Invalid, NotFound
from annotation.models import Invitation, Membership, Project
from annotation.projects.services.change_members import set_roles
from annotation.projects.services.invite import hash_of


def open_invitation(secret: str) -> Invitation:
    """Return the invitation with this secret if it is still valid.

    Raises NotFound for an unknown secret or a deleted project, and Conflict (code `used`, `revoked` or `expired`).
    """
    return _usable(
        Invitation.objects.select_related("project", "by").filter(secret_hash=hash_of(secret)).first()
    )


@transaction.atomic
def accept_invitation(*, secret: str, by: User) -> Membership:
    """Add the person with the roles of the invitation and mark it as used.

    Raises the errors of `open_invitation`. Raises Conflict (code `is_member`) if the person is a member already. Then
    the invitation stays valid for somebody else.
    """
    found = open_invitation(secret)
    # Lock the project first, because removing an owner locks the project before the owner's invitations.
    Project.objects.select_for_update(of=("self",)).get(pk=found.project_id)
    locked = Invitation.objects.select_for_update(of=("self",)).select_related("project", "by")
    invitation = _usable(locked.filter(pk=found.pk).first())
    if Membership.objects.filter(project=invitation.project, user=by).exists():
        raise Conflict(
            f"You are a member of {invitation.project.name} already. Ask an owner if you need other roles; the "
            "invitation can still be used by its recipient.",
            code="is_member",
        )
    # Log no actor, because an owner chose the roles when the link was made.
    membership = set_roles(project=invitation.project, person=by, roles=invitation.roles, by=None)
    invitation.accepted_by, invitation.accepted_at = by, timezone.now()
    invitation.save(update_fields=["accepted_by", "accepted_at"])
    log(
        project=invitation.project,
        actor=by,
        verb="accept invitation",
        target=invitation,
        data={"for": invitation.note, "roles": invitation.roles, "invited_by": invitation.by.username},
    )
    return membership


@transaction.atomic
def accept_with_new_account(
    *, secret: str, username: str, password: str, full_name: str = ""
) -> tuple[User, Membership]:
    """Create an account and accept the invitation with it, in one transaction.

    Raises the errors of `accept_invitation` and `new_account`.
    """
    found = open_invitation(secret)
    user = new_account(username=username, password=password, full_name=full_name, email=found.email)
    return user, accept_invitation(secret=secret, by=user)


def new_account(
    *, username: str, password: str, full_name: str = "", email: str = "", **rights: bool
) -> User:
    """Create an account; `rights` are flags of the user, such as `is_staff`. Raises Invalid for an unusable name or
    password, and Conflict (code `name_taken`) for a used name.
    """
    username = username.strip()
    user = User(username=username, email=email.lower(), **rights)
    user.set_unusable_password()
    set_name(user, full_name)
    try:
        validate_password(password, user)
    except ValidationError as error:
        raise Invalid(" ".join(error.messages), field="password") from error
    # Names that differ only in case count as equal.
    if User.objects.filter(username__iexact=username).exists():
        raise _name_taken(username)
    user.set_password(password)
    try:
        with transaction.atomic():
            user.save()
    except IntegrityError as error:
        raise _name_taken(username) from error
    return user


def set_name(person: User, full_name: str) -> None:
    """Set first and last name from a full name, and validate all fields without saving.

    Raises Invalid for the first field with an unusable value.
    """
    person.first_name, _, person.last_name = " ".join(full_name.split()).partition(" ")
    try:
        person.clean_fields()
    except ValidationError as error:
        field, messages = next(iter(error.message_dict.items()))
        shown = field if field in {"username", "email"} else "full_name"
        raise Invalid(" ".join(messages), field=shown) from error


def _name_taken(username: str) -> Conflict:
    return Conflict(
        f"The user name {username} is taken. If it is yours, sign in first; otherwise choose another.",
        code="name_taken",
    )


def _usable(invitation: Invitation | None) -> Invitation:
    if invitation is None or invitation.project.deleted_at is not None:
        raise NotFound("This invitation does not exist. Check that you copied the whole link.")
    if invitation.accepted_at is not None:
        raise Conflict("This invitation has already been used. It works for one person, once.", code="used")
    if invitation.revoked_at is not None:
        raise Conflict("This invitation was revoked. Ask its sender.", code="revoked")
    if invitation.expires_at <= timezone.now():
        raise Conflict("This invitation has expired. Ask its sender for a new one.", code="expired")
    return invitation
