"""What a judge's service allows, shared by every process that asks it: calls at once, and calls in a minute."""

from __future__ import annotations

import asyncio
import logging
import secrets
import threading
import time
from datetime import timedelta

from django.db import Error, transaction
from django.db.models import Count, Min, Q, Sum

from annotation.core.shared.clock import shared_now
from annotation.judging.services.database_thread import DatabaseThread
from annotation.models import CallStart, Judge, JudgeShare

ADJUST_SECONDS = 0.5
SHARE_SECONDS = 10.0
"""How long a process that says nothing keeps its share."""
MINUTE = timedelta(seconds=60)

logger = logging.getLogger(__name__)


class RowSlots:
    """A judge's calls at once, as far as they are this process's: `async with slots` around each call.

    The processes that ask a judge divide its calls evenly. A share shrinks at once and grows as others give theirs up,
    so that together they never make more calls than the judge may. A process that dies, or does not reach the database
    for a while, has no share any more.
    """

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self._token = secrets.token_hex(16)
        self._in_use = 0
        self._guard = threading.Lock()
        self._freed = asyncio.Condition()
        self._thread = DatabaseThread("judge-share")
        self._kept_until = 0.0
        self.allowed = 0
        self._thread.begin(self._adjust).result()

    def close(self) -> None:
        """Give the share up; the slots cannot be used any more. Where that fails, it lapses."""
        self._thread.begin(JudgeShare.objects.filter(token=self._token).delete)
        self._thread.close()

    async def keep_even(self) -> None:
        """Adjust the share to how many processes ask, until cancelled."""
        while True:
            await asyncio.sleep(ADJUST_SECONDS)
            try:
                await self._thread.do(self._adjust)
            except Error:
                # The next turn tries again; without one the share lapses.
                logger.warning("The share of a judge was not adjusted", exc_info=True)
            async with self._freed:
                # As many as can go; to wake thousands that cannot costs more than their calls.
                self._freed.notify(max(0, self.allowed - self._in_use))

    async def __aenter__(self) -> None:
        if self._took_one():
            return
        async with self._freed:
            await self._freed.wait_for(self._took_one)

    async def __aexit__(self, *_: object) -> None:
        with self._guard:
            self._in_use -= 1
        async with self._freed:
            self._freed.notify()

    def _took_one(self) -> bool:
        with self._guard:
            is_kept = time.monotonic() < self._kept_until
            is_free = is_kept and self._in_use < self.allowed
            self._in_use += is_free
            return is_free

    @transaction.atomic
    def _adjust(self) -> None:
        """Take this process's even part of the judge's calls, as far as the others leave it."""
        kept_until = time.monotonic() + SHARE_SECONDS
        most = Judge.objects.select_for_update(of=("self",), no_key=True).get(pk=self._judge.pk).concurrency
        now = shared_now()
        JudgeShare.objects.filter(judge=self._judge, lease_until__lt=now).delete()
        others = dict(
            JudgeShare.objects.filter(judge=self._judge)
            .exclude(token=self._token)
            .values_list("token", "calls")
        )
        even, rest = divmod(most, len(others) + 1)
        place = sum(token < self._token for token in others)
        share = max(0, min(even + (place < rest), most - sum(others.values())))
        with self._guard:
            self.allowed = min(self.allowed, share)
            held = max(share, self._in_use)
        JudgeShare.objects.bulk_create(
            [
                JudgeShare(
                    judge=self._judge,
                    token=self._token,
                    calls=held,
                    lease_until=now + timedelta(seconds=SHARE_SECONDS),
                )
            ],
            update_conflicts=True,
            unique_fields=["token"],
            update_fields=["calls", "lease_until"],
        )
        transaction.on_commit(lambda: self._have(share, kept_until))

    def _have(self, share: int, kept_until: float) -> None:
        with self._guard:
            self.allowed, self._kept_until = share, kept_until


class RowPace:
    """No more calls, and no more tokens, of a judge in any minute than its service allows, whoever makes them.

    A single call that is larger than the tokens of a whole minute goes when nothing else went in the last one.
    """

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self._first = asyncio.Lock()
        self._thread = DatabaseThread("judge-pace")

    def close(self) -> None:
        self._thread.close()

    async def turn(self, tokens: int) -> None:
        """Returns when a call with so many tokens may go, and counts it."""
        # Those behind the first have nothing to ask yet.
        async with self._first:
            wait = await self._thread.do(lambda: self._wait(tokens))
            while wait:
                await asyncio.sleep(wait)
                wait = await self._thread.do(lambda: self._wait(tokens))

    @transaction.atomic
    def _wait(self, tokens: int) -> float:
        """Seconds until there may be room; 0 where the call goes now."""
        judge = Judge.objects.select_for_update(of=("self",), no_key=True).get(pk=self._judge.pk)
        now = shared_now()
        # What is later than now is from before the clock was set back.
        over = Q(at__lte=now - MINUTE) | Q(at__gt=now)
        CallStart.objects.filter(over, judge=judge).delete()
        gone = CallStart.objects.filter(judge=judge).aggregate(
            calls=Count("pk"), tokens=Sum("tokens", default=0), first=Min("at")
        )
        calls_fit = judge.calls_per_minute is None or gone["calls"] < judge.calls_per_minute
        tokens_fit = judge.tokens_per_minute is None or gone["tokens"] + tokens <= judge.tokens_per_minute
        if gone["first"] is None or (calls_fit and tokens_fit):
            CallStart.objects.create(judge=judge, at=now, tokens=tokens)
            return 0.0
        return max(0.01, float((gone["first"] + MINUTE - now).total_seconds()))
