"""How many attempts at a secret one address may make, how long what is tried may be, and how much a token may ask."""

from __future__ import annotations

import time
from typing import Any

from django.conf import settings
from django.core.cache import cache
from knox.models import AuthToken
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle, SimpleRateThrottle

from annotation.core.accounts.clients import client_of

MINUTE = 60

LONGEST_USERNAME = 150
LONGEST_PASSWORD = 1000


class PerAddress(SimpleRateThrottle):
    """Per client's address, as `core.accounts` finds it: what a client claims in a header is not believed."""

    scope = "tokens-address"
    rate = "60/min"

    def get_cache_key(self, request: Request, view: Any) -> str:
        return f"{self.scope}:{client_of(request).network}"


class PerToken(BaseThrottle):
    """Requests of one token in a minute of the clock, counted by each process: one number, not a list of moments."""

    def allow_request(self, request: Request, view: Any) -> bool:
        if not isinstance(request.auth, AuthToken):
            return True
        key = f"token-calls:{request.auth.digest}:{int(time.time() // MINUTE)}"
        cache.add(key, 0, timeout=2 * MINUTE)
        try:
            return int(cache.incr(key)) <= int(settings.TOKEN_CALLS_PER_MINUTE)
        except ValueError:
            # Emptied in between.
            return True

    def wait(self) -> float:
        return MINUTE - time.time() % MINUTE
