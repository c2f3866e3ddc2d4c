"""Base classes of rows, public ids and seeds."""

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
# Map each of the 256 bytes to one of 32 digits; 8 bytes share a digit, so all digits are equally likely.
_DIGIT_OF_BYTE = b"abcdefghijklmnopqrstuvwxyz234567" * 8


def new_public_id() -> str:
    """Make a random id of 16 letters and digits (80 bits)."""
    return secrets.token_bytes(ID_LENGTH).translate(_DIGIT_OF_BYTE).decode()


def new_public_ids() -> Iterator[str]:
    """Yield ids for rows that are stored together. The ids have a common start and 60 random bits each.

    The common start keeps the rows close in the index.
    """
    shared = new_public_id()[:_SHARED_LENGTH]
    own = ID_LENGTH - _SHARED_LENGTH
    while True:
        digits = secrets.token_bytes(own * _MADE_AT_ONCE).translate(_DIGIT_OF_BYTE).decode()
        yield from (shared + digits[first : first + own] for first in range(0, len(digits), own))


def public_id_of(name: str) -> str:
    """Compute the id of a row that is deleted and rebuilt. The id depends only on `name`."""
    return _spelled(hashlib.sha256(name.encode()).digest()[:ID_BYTES])


def _spelled(number: bytes) -> str:
    return base64.b32encode(number).decode().lower()


def current_request_id() -> str:
    """Return the id of the current request in the log; "" outside of requests."""
    return str(structlog.contextvars.get_contextvars().get("request_id", ""))


def new_seed() -> int:
    """Make a random seed in [0, 2^31)."""
    return secrets.randbits(SEED_BITS)


class Leased(models.Model):
    """A queue row that only one person at a time can hold; see `reviewing/services/leases`."""

    # This column has no full index, because most rows are not leased. Subclasses index only the leased rows.
    leased_to = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="+",
        db_index=False,
    )
    lease_until = models.DateTimeField(
        null=True, blank=True, help_text="Until then no queue gives it to anyone else."
    )

    class Meta:
        abstract = True


class PublicRow(models.Model):
    """A row with a `public_id`, which addresses and files use in place of the primary key."""

    public_id = models.CharField(max_length=ID_LENGTH, unique=True, editable=False, default=new_public_id)

    class Meta:
        abstract = True
