"""How many attempts at a secret one address may make, and how long what is tried may be."""

from __future__ import annotations

from typing import Any

from rest_framework.request import Request
from rest_framework.throttling import SimpleRateThrottle

LONGEST_USERNAME = 150
LONGEST_PASSWORD = 1000


class PerAddress(SimpleRateThrottle):
    """The connection's own address: what a client claims in a header is not believed."""

    scope = "tokens-address"
    rate = "60/min"

    def get_cache_key(self, request: Request, view: Any) -> str:
        return f"{self.scope}:{request.META['REMOTE_ADDR']}"
