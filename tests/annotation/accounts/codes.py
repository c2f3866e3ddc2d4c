"""Codes of an authenticator app as in RFC 6238, computed without the library that checks them."""

from __future__ import annotations

import base64
import hashlib
import hmac
import time

STEP_SECONDS = 30


def code_at(secret: str, *, steps: int = 0) -> str:
    counter = int(time.time()) // STEP_SECONDS + steps
    digest = hmac.new(base64.b32decode(secret), counter.to_bytes(8, "big"), hashlib.sha1).digest()
    start = digest[-1] & 15
    number = int.from_bytes(digest[start : start + 4], "big") & 0x7FFFFFFF
    return f"{number % 10**6:06}"
