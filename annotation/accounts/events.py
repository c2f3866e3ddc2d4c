"""The one way into the log of accounts: who came in, from where, and what was done to a password, token or session."""

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
"""The operator's shell, and the program itself."""

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
    """Write down what happened to the person's account, and say it in the server's log.

    `typed` is the name that was typed, where it is not the person's own: of a name that nobody has, a hash is kept and
    the log is told nothing. `note` is never a secret.
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
    """By what attempts at a name are counted, however it is written."""
    return salted_hmac("annotation.account_events", name.casefold(), algorithm="sha256").hexdigest()
