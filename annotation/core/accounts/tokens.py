"""Tokens, by which programs sign in: made for a person by themselves, for a service by an owner of its project."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from knox.models import AuthToken

from annotation.core.accounts.clients import Client
from annotation.core.accounts.events import NOWHERE, note_account
from annotation.core.refusals import Invalid
from annotation.models import AccountEvent, Project, TokenGrant

if TYPE_CHECKING:
    from django.contrib.auth.models import User

DAYS, MOST_DAYS = 90, 365


def issue_token(
    *,
    person: User,
    name: str = "",
    may_write: bool = True,
    project: Project | None = None,
    days: int = DAYS,
    by: User | None = None,
    client: Client = NOWHERE,
) -> tuple[AuthToken, str]:
    """A token of the person: its row, and the token itself, to be shown once. Raises Invalid for its days.

    Call it inside of a transaction, with everything else checked.
    """
    if not 1 <= days <= MOST_DAYS:
        raise Invalid(f"A token is valid for 1 to {MOST_DAYS} days.", field="days")
    row, token = AuthToken.objects.create(user=person, expiry=timedelta(days=days))
    TokenGrant.objects.create(
        token=row, name=name, may_write=may_write, is_of_one=project is not None, project=project
    )
    note_account(
        kind=AccountEvent.Kind.TOKEN, person=person, by=by, client=client, note=token_in_words(name, row)
    )
    return row, str(token)


def end_tokens(*, person: User, by: User | None, client: Client = NOWHERE) -> None:
    """End all tokens of the person; each is noted."""
    for row in AuthToken.objects.filter(user=person).select_related("grant"):
        end_token(row, by=by, client=client)


def end_token(row: AuthToken, *, by: User | None = None, client: Client = NOWHERE) -> None:
    """End one token, and note it."""
    grant: TokenGrant | None = getattr(row, "grant", None)
    note = token_in_words(grant.name if grant else "", row)
    person: User = row.user
    row.delete()
    note_account(kind=AccountEvent.Kind.TOKEN_END, person=person, by=by, client=client, note=note)


def token_in_words(name: str, row: AuthToken) -> str:
    return f"{name} {row.token_key}…".strip()
