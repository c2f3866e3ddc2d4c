"""Counting events per time window, for all processes together."""

from __future__ import annotations

import hashlib
import logging
import time

from django.core.cache import cache

HOUR = 3600

logger = logging.getLogger(__name__)


def count(key: str, *, seconds: int) -> int:
    """Count this call, and return the number of calls with this key in the current window of `seconds`.

    If the cache is unavailable, the result is 0, because limits must not close the site.
    """
    name = f"{key}:{int(time.time() // seconds)}"
    try:
        try:
            return int(cache.incr(name))
        except ValueError:
            # Keep the entry longer than its window, because the clocks of hosts differ.
            return 1 if cache.add(name, 1, timeout=2 * seconds) else int(cache.incr(name))
    except Exception:
        # Catch all exceptions, because each kind of cache has its own.
        logger.warning("A limit is not counted, since the cache does not answer", exc_info=True)
        return 0


def takes_mail_turn(key: str, *, most: int) -> bool:
    """Count a mail for `key`, and return True if it is among the first `most` of the current clock hour.

    Only a hash of the key is stored.
    """
    return count(f"mail:{hashlib.sha256(key.encode(errors='replace')).hexdigest()}", seconds=HOUR) <= most


def seconds_left(seconds: int) -> float:
    """Return the seconds until the next window of this length begins."""
    return seconds - time.time() % seconds
