"""Tokens, by which programs sign in as their owner."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from knox.models import AuthToken

from annotation.core.accounts.clients import Client
from annotation.core.accounts.events import NOWHERE, note_account
from annotation.core.refusals import Invalid
from annotation.models import AccountEvent

if TYPE_CHECKING:
    from django.contrib.auth.models import User

DAYS, MOST_DAYS = 90, 365


def issue_token(
    *,
    person: User,
    days: int = DAYS,
    client: Client = NOWHERE,
) -> tuple[AuthToken, str]:
    """A token of the person: its row, and the token itself, to be shown once. Raises Invalid for its days.

    Call it inside of a transaction, with everything else checked.
    """
    if not 1 <= days <= MOST_DAYS:
        raise Invalid(f"A token is valid for 1 to {MOST_DAYS} days.", field="days")
    row, token = AuthToken.objects.create(user=person, expiry=timedelta(days=days))
    note_account(kind=AccountEvent.Kind.TOKEN, person=person, client=client, note=_shown(row))
    return row, str(token)


def end_token(row: AuthToken, *, client: Client = NOWHERE) -> None:
    """End one token, and note it."""
    note = _shown(row)
    person: User = row.user
    row.delete()
    note_account(kind=AccountEvent.Kind.TOKEN_END, person=person, client=client, note=note)


def _shown(row: AuthToken) -> str:
    return f"{row.token_key}…"
