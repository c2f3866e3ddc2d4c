"""The message with a setup link."""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth.models import User
from django.urls import reverse

from annotation.accounts.services import issue_setup_link

ADDRESS_HELP = (
    "where the server is reached; unless named, https:// and the first of ALLOWED_HOSTS in production, else "
    "http://127.0.0.1:8000"
)


def own_address() -> str:
    """Return the installation's base URL: HTTPS in production, otherwise an address of this machine."""
    if not settings.SESSION_COOKIE_SECURE:
        return "http://127.0.0.1:8000"
    hosts = settings.ALLOWED_HOSTS
    return f"https://{next((host for host in hosts if not host.startswith('.')), hosts[0].lstrip('.'))}"


def setup_words(address: str, *, asked: bool = False) -> str:
    """Write the message with a new link for creating an administrator; "" if there is an administrator.

    Unless `asked` is True, the result is "" also if there is any account.
    """
    secret = None if User.objects.exists() and not asked else issue_setup_link()
    if secret is None:
        return ""
    link = address.rstrip("/") + reverse("setup", args=[secret])
    return (
        "There is no administrator yet. Create the account with this link, which works once within a "
        f"day:\n{link}"
    )
