"""Rate limits for attempts at passwords and for requests by token."""

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
    """A limit on requests with the same key per minute."""

    scope: str
    most: int

    def allow_request(self, request: Request, view: Any) -> bool:
        key = self.get_cache_key(request, view)
        return key is None or count(key, seconds=MINUTE) <= self.most

    def get_cache_key(self, request: Request, view: Any) -> str | None:
        """Return the key to count; None if the request is not limited."""
        raise NotImplementedError

    def wait(self) -> float:
        return seconds_left(MINUTE)


class PerAddress(PerMinute):
    """Limits requests from one network (see `core.shared.clients`)."""

    scope = "tokens-address"
    most = 60

    def get_cache_key(self, request: Request, view: Any) -> str:
        return f"{self.scope}:{client_of(request).network}"


class PerToken(PerMinute):
    """Limits requests with one token."""

    @property
    def most(self) -> int:  # type: ignore[override]
        return int(settings.TOKEN_CALLS_PER_MINUTE)

    def get_cache_key(self, request: Request, view: Any) -> str | None:
        return f"token-calls:{request.auth.digest}" if isinstance(request.auth, AuthToken) else None
