"""What every row of the project shares: a public id that tells nothing."""

from __future__ import annotations

import base64
import hashlib
import secrets
from collections.abc import Iterator

import structlog
from django.conf import settings
from django.db import models

ID_BYTES = 10
ID_LENGTH = 16
_MADE_AT_ONCE = 256
_SHARED_LENGTH = 4
SEED_BITS = 31
# Each of the 32 digits stands for 8 of the 256 bytes, so that all are as likely.
_DIGIT_OF_BYTE = b"abcdefghijklmnopqrstuvwxyz234567" * 8


def new_public_id() -> str:
    """A random id of 16 letters and digits (80 bits), safe in URLs, file names and spreadsheets.

    Random on purpose: neither an order nor a count can be read off it.
    """
    return secrets.token_bytes(ID_LENGTH).translate(_DIGIT_OF_BYTE).decode()


def new_public_ids() -> Iterator[str]:
    """Such ids without end, for rows that are stored in one go; they begin alike and have 60 bits of their own.

    Neighbours in the index as in the table: scattered over it, each row would have another page written.
    """
    shared = new_public_id()[:_SHARED_LENGTH]
    own = ID_LENGTH - _SHARED_LENGTH
    while True:
        digits = secrets.token_bytes(own * _MADE_AT_ONCE).translate(_DIGIT_OF_BYTE).decode()
        yield from (shared + digits[first : first + own] for first in range(0, len(digits), own))


def public_id_of(name: str) -> str:
    """The id of a row that is thrown away and rebuilt from others: the same whenever it is, so that links lead back.

    As good as random where the name holds a public id.
    """
    return _spelled(hashlib.sha256(name.encode()).digest()[:ID_BYTES])


def _spelled(number: bytes) -> str:
    return base64.b32encode(number).decode().lower()


def current_request_id() -> str:
    """The id of the request that this is done for, as the log has it; empty where it is for none."""
    return str(structlog.contextvars.get_contextvars().get("request_id", ""))


def new_seed() -> int:
    """A random seed in [0, 2^31), fit for every database, for a form's field and for JSON read by a browser."""
    return secrets.randbits(SEED_BITS)


class Leased(models.Model):
    """A row of a queue that one person at a time is handed; see `core/leases`."""

    # No index of its own: most rows are in nobody's hands.
    leased_to = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="+",
        db_index=False,
    )
    lease_until = models.DateTimeField(
        null=True, blank=True, help_text="Until then nobody else is handed it from a queue."
    )

    class Meta:
        abstract = True


class PublicRow(models.Model):
    """A row that the outside names by `public_id`: its primary key would tell order and number."""

    public_id = models.CharField(max_length=ID_LENGTH, unique=True, editable=False, default=new_public_id)

    class Meta:
        abstract = True
