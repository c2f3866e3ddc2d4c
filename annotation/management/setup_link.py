"""What a server says at its start while nobody has an account on it."""

from __future__ import annotations

from django.db import DatabaseError
from django.urls import reverse

from annotation.accounts.services import issue_setup_link


def setup_words(address: str) -> str:
    """How the first account is made, with a new link at this address.

    Empty where there is an account, or no table yet.
    """
    try:
        secret = issue_setup_link()
    except DatabaseError:
        return ""
    if secret is None:
        return ""
    link = address.rstrip("/") + reverse("setup", args=[secret])
    return (
        "There are no accounts yet. Create the first one with this link, which works once within a "
        f"day:\n{link}"
    )
