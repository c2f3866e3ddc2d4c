"""A person's sessions and account events."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone

from annotation.accounts.events import NOWHERE, note_account
from annotation.core.refusals import NotFound
from annotation.core.shared.clients import Client, browser_of
from annotation.models import AccountEvent, AccountSession

if TYPE_CHECKING:
    from django.contrib.auth.models import User

SESSIONS_SHOWN = 50
EVENTS_SHOWN = 20
ID_LENGTH = 16


@dataclass(frozen=True, slots=True)
class OpenSession:
    """A session of a person. `session_id` is a hash of its key, which is never shown."""

    session_id: str
    address: str
    browser: str
    began_at: datetime
    seen_at: datetime
    is_this: bool


@dataclass(frozen=True, slots=True)
class OwnEvent:
    """An event of the account, as its person sees it."""

    at: datetime
    what: str
    address: str
    browser: str
    note: str


def sessions_of(person: User, *, current: str | None) -> list[OpenSession]:
    """The person's sessions, last seen first; `current` is the key of the asking session."""
    found = AccountSession.objects.filter(person=person, expire_date__gt=timezone.now()).order_by("-seen_at")
    return [
        OpenSession(
            session_id=_id_of(row.session_key),
            address=row.address or "",
            browser=browser_of(row.agent),
            began_at=row.began_at,
            seen_at=row.seen_at,
            is_this=row.session_key == current,
        )
        for row in found[:SESSIONS_SHOWN]
    ]


def events_of(person: User) -> list[OwnEvent]:
    """The latest events of the person's account, newest first."""
    rows = AccountEvent.objects.filter(person=person).order_by("-pk")
    return [
        OwnEvent(
            at=row.at,
            what=row.get_kind_display(),
            address=row.address or "",
            browser=browser_of(row.agent) if row.agent else "",
            note=row.note,
        )
        for row in rows[:EVENTS_SHOWN]
    ]


@transaction.atomic
def end_session(*, person: User, session_id: str, client: Client = NOWHERE) -> None:
    """End one session of the person. Raises NotFound."""
    keys = AccountSession.objects.filter(person=person).values_list("session_key", flat=True)
    key = next((key for key in keys if _id_of(key) == session_id), None)
    if key is None:
        raise NotFound("This session does not exist or has already ended.")
    AccountSession.objects.filter(session_key=key).delete()
    note_account(kind=AccountEvent.Kind.SESSION_END, person=person, client=client)


@transaction.atomic
def end_other_sessions(*, person: User, current: str | None, client: Client = NOWHERE) -> int:
    """End all sessions of the person except the current one; returns their number."""
    ended, _ = AccountSession.objects.filter(person=person).exclude(session_key=current or "").delete()
    if ended:
        note_account(
            kind=AccountEvent.Kind.SESSION_END, person=person, client=client, note=f"all others: {ended}"
        )
    return ended


def _id_of(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()[:ID_LENGTH]
