"""How often something was done in a stretch of the clock, counted by all processes together."""

from __future__ import annotations

import hashlib
import logging
import time

from django.core.cache import cache

HOUR = 3600

logger = logging.getLogger(__name__)


def count(key: str, *, seconds: int) -> int:
    """How often this was called with the key in the present stretch of so many seconds, this time included.

    0 where the cache does not answer, which the log tells: a limit that cannot be counted must not close the site.
    """
    name = f"{key}:{int(time.time() // seconds)}"
    try:
        try:
            return int(cache.incr(name))
        except ValueError:
            # It lasts longer than its stretch, whatever the clocks of two hosts say.
            return 1 if cache.add(name, 1, timeout=2 * seconds) else int(cache.incr(name))
    except Exception:
        # Each kind of cache has errors of its own.
        logger.warning("A limit is not counted, since the cache does not answer", exc_info=True)
        return 0


def takes_mail_turn(key: str, *, most: int) -> bool:
    """Whether one of the `most` mails of this hour was left, for an address or from one: `key` is kept as a hash."""
    return count(f"mail:{hashlib.sha256(key.encode(errors='replace')).hexdigest()}", seconds=HOUR) <= most


def seconds_left(seconds: int) -> float:
    """Until the next stretch of so many seconds begins."""
    return seconds - time.time() % seconds
