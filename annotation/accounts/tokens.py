"""API tokens."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from django.db import transaction
from knox.models import AuthToken

from annotation.accounts.events import NOWHERE, Kind, note_account
from annotation.core.refusals import Conflict, Invalid, NotFound

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.db.models import QuerySet

    from annotation.core.shared.clients import Client

DAYS, MOST_DAYS = 90, 365
MOST_TOKENS = 20


@transaction.atomic
def make_token(*, person: User, days: int = DAYS, client: Client = NOWHERE) -> tuple[AuthToken, str]:
    """Create a token. Returns its row and the token, which is not stored.

    Raises Invalid if `days` is not 1 to MOST_DAYS, and Conflict (code `too_many_tokens`) beyond MOST_TOKENS tokens.
    """
    if AuthToken.objects.filter(user=person).count() >= MOST_TOKENS:
        raise Conflict(
            f"You have {MOST_TOKENS} tokens. Revoke one that you no longer use.", code="too_many_tokens"
        )
    if not 1 <= days <= MOST_DAYS:
        raise Invalid(f"A token is valid for 1 to {MOST_DAYS} days.", field="days")
    row, token = AuthToken.objects.create(user=person, expiry=timedelta(days=days))
    note_account(kind=Kind.TOKEN, person=person, client=client, note=f"{row.token_key}…")
    return row, str(token)


def tokens_of(person: User) -> QuerySet[AuthToken]:
    """Select the person's tokens, newest first."""
    found: QuerySet[AuthToken] = AuthToken.objects.filter(user=person)
    return found.order_by("-created", "digest")


@transaction.atomic
def revoke_token(*, person: User, key: str, client: Client = NOWHERE) -> None:
    """Revoke a token of the person; `key` is the token's first characters. Raises NotFound if there is none."""
    found = tokens_of(person).filter(token_key=key).first()
    if found is None:
        raise NotFound("This token does not exist or has already been revoked.")
    found.delete()
    note_account(kind=Kind.TOKEN_END, person=person, client=client, note=f"{key}…")
