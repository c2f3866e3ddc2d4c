"""How many attempts at a secret one address may make, how long what is tried may be, and how much a token may ask."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from knox.models import AuthToken
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from annotation.core.shared.clients import client_of
from annotation.core.shared.limits import count, seconds_left

MINUTE = 60

LONGEST_USERNAME = 150
LONGEST_PASSWORD = 1000


class PerMinute(BaseThrottle):
    """So many requests with the same key in a minute of the clock, whichever process they come to."""

    scope: str
    most: int

    def allow_request(self, request: Request, view: Any) -> bool:
        key = self.get_cache_key(request, view)
        return key is None or count(key, seconds=MINUTE) <= self.most

    def get_cache_key(self, request: Request, view: Any) -> str | None:
        """What is counted; None where nothing is."""
        raise NotImplementedError

    def wait(self) -> float:
        return seconds_left(MINUTE)


class PerAddress(PerMinute):
    """Per client's address, as `core.accounts` finds it: what a client claims in a header is not believed."""

    scope = "tokens-address"
    most = 60

    def get_cache_key(self, request: Request, view: Any) -> str:
        return f"{self.scope}:{client_of(request).network}"


class PerToken(PerMinute):
    """Requests of one token."""

    @property
    def most(self) -> int:  # type: ignore[override]
        return int(settings.TOKEN_CALLS_PER_MINUTE)

    def get_cache_key(self, request: Request, view: Any) -> str | None:
        return f"token-calls:{request.auth.digest}" if isinstance(request.auth, AuthToken) else None
