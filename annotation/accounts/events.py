"""Write the log of accounts: sign-ins and changes of passwords, tokens and sessions."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from django.utils import timezone
from django.utils.crypto import salted_hmac

from annotation.core.shared.clients import Client
from annotation.models import AccountEvent

if TYPE_CHECKING:
    from django.contrib.auth.models import User

LONGEST_NOTE = 200
NOWHERE = Client()
"""The client of the operator's shell and of the program itself."""

logger = logging.getLogger(__name__)


def note_account(
    *,
    kind: AccountEvent.Kind,
    person: User | None,
    client: Client = NOWHERE,
    typed: str | None = None,
    is_known: bool = False,
    note: str = "",
) -> AccountEvent:
    """Record an event of a person's account, and write it to the server's log.

    `typed` is a typed name that differs from the person's: for an unknown name only a hash is stored, and the log
    omits it. `note` is never a secret.
    """
    event = AccountEvent.objects.create(
        kind=kind,
        person=person,
        name_key=name_key(person.get_username() if typed is None and person else typed or ""),
        address=client.address or None,
        network=client.network,
        agent=client.agent,
        device=client.device,
        is_known=is_known,
        note=note[:LONGEST_NOTE],
        at=timezone.now(),
    )
    logger.log(
        logging.INFO if kind in (AccountEvent.Kind.SIGN_IN, AccountEvent.Kind.SIGN_OUT) else logging.WARNING,
        "%s: account %s from %s",
        event.get_kind_display(),
        person.get_username() if person else "(of nobody)",
        client.address or "the server itself",
    )
    return event


def name_key(name: str) -> str:
    """The key under which attempts at a name are counted, ignoring case."""
    return salted_hmac("annotation.account_events", name.casefold(), algorithm="sha256").hexdigest()
