"""The servers that judges may call: those in COVERDICT_JUDGE_URLS, and those that administrators add."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from django.conf import settings

from annotation.core.refusals import Invalid, NotAllowed
from annotation.models import AllowedServer
from evaluation.judging.openai import base_url_fault

if TYPE_CHECKING:
    from django.contrib.auth.models import User

LONGEST_URL = AllowedServer._meta.get_field("url").max_length or 0

logger = logging.getLogger(__name__)


def allowed_urls() -> list[str]:
    """The base URLs that judges may call: first those in the settings, then those that administrators added."""
    return [*settings.COVERDICT_JUDGE_URLS, *AllowedServer.objects.values_list("url", flat=True)]


def allow_server(*, url: str, by: User) -> AllowedServer:
    """Allow the judges of all projects to call this base URL. Idempotent.

    Raises NotAllowed if the person is no administrator, and Invalid for an invalid URL.
    """
    _require_administrator(by)
    url = url.strip()
    fault = base_url_fault(url) or (
        len(url) > LONGEST_URL and f"An address has at most {LONGEST_URL} characters."
    )
    if fault:
        raise Invalid(fault, field="url")
    server, is_new = AllowedServer.objects.get_or_create(url=url)
    if is_new:
        logger.info("Server allowed: %s by %s", url, by.username)
    return server


def disallow_server(*, server: AllowedServer, by: User) -> None:
    """Remove a server that an administrator added."""
    _require_administrator(by)
    server.delete()
    logger.info("Server no longer allowed: %s by %s", server.url, by.username)


def _require_administrator(by: User) -> None:
    if not by.is_superuser:
        raise NotAllowed("Only administrators may say which servers judges call.", code="not_administrator")
