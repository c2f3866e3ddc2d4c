"""What every row of the project shares: a public id that tells nothing."""

from __future__ import annotations

import base64
import secrets

from django.db import models


def new_public_id() -> str:
    """A random id of 16 letters and digits (80 bits), safe in URLs, file names and spreadsheets.

    Random on purpose: neither an order nor a count can be read off it.
    """
    return base64.b32encode(secrets.token_bytes(10)).decode().lower()


class PublicRow(models.Model):
    """A row that the outside names by `public_id`, never by its primary key."""

    public_id = models.CharField(max_length=16, unique=True, editable=False, default=new_public_id)

    class Meta:
        abstract = True
