"""Store a judge's calls as rows that all workers share."""

from __future__ import annotations

import asyncio
import hashlib
import secrets
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import structlog
from django.db import Error, InterfaceError, OperationalError, connection, transaction

from annotation.core.shared.clock import shared_now
from annotation.judging.services.running.database_thread import DatabaseThread, Grouped
from annotation.models import Judge, JudgeCall, Run
from evaluation.judging.protocol import StoredCall

if TYPE_CHECKING:
    from django.db.models import QuerySet

CLAIM_SECONDS = 10.0
"""The lease of a question that a worker is asking; the worker renews it."""
LOOK_AGAIN_SECONDS = 0.05
KEPT_TRYING_SECONDS = 10.0
"""Writes of answered calls are retried for this time while the database is unavailable."""
_LARGEST_COUNT = 2**31 - 1
LONGEST_MODEL, LONGEST_FINISH_REASON = 200, 40
COLUMNS = (
    *("key", "step", "prompt_version", "request", "reply", "finish_reason"),
    *("prompt_tokens", "completion_tokens", "seconds", "chances"),
)
"""The columns with the same name in `StoredCall`."""
LOGGED = ("step", "prompt_version", "finish_reason", "prompt_tokens", "completion_tokens", "seconds")
"""The columns in the log, without the texts of request and reply."""

logger = structlog.get_logger(__name__)


class RowCallStore:
    """Stores a judge's answered calls as JudgeCall rows, with the run that paid for them.

    If there is no stored reply, one worker claims the question and asks it; other workers with the same question wait
    for the reply. Calls of a project's own judge are used only in that project.
    """

    def __init__(self, judge: Judge, thread: DatabaseThread, *, run: Run | None = None) -> None:
        self._judge = judge
        self._run_id = None if run is None else run.pk
        self._token = secrets.token_hex(16)
        self._claimed = set[str]()
        self._thread = thread
        self._asked = Grouped(thread.begin, self._read_or_claim)
        self._paid = Grouped(thread.begin, self._write)
        self._keeper: asyncio.Task[None] | None = None

    async def get(self, key: str) -> StoredCall | None:
        """Return the stored call with this key; None if the caller must make the call, which the store then claims.

        Waits while another worker makes the call.
        """
        key = self._kept_under(key)
        # Note the claim first, because it may exist although the task was cancelled meanwhile.
        self._claimed.add(key)
        while True:
            if self._keeper is None or self._keeper.done():
                self._keeper = asyncio.create_task(self._prolong())
            call, is_ours = await self._asked.do(key)
            if call is not None:
                self._claimed.discard(key)
            if call is not None or is_ours:
                return call
            await asyncio.sleep(LOOK_AGAIN_SECONDS)

    def release(self, key: str) -> None:
        """End the claim of a call that was not stored, so that others may make it."""
        key = self._kept_under(key)
        if key in self._claimed:
            self._claimed.remove(key)
            self._thread.begin(self._own().filter(key=key).delete)

    async def put(self, call: StoredCall) -> None:
        """Store a call and end its claim. If the key exists, the stored call is not changed."""
        kept = replace(
            call,
            key=self._kept_under(call.key),
            finish_reason=call.finish_reason[:LONGEST_FINISH_REASON],
            model=call.model[:LONGEST_MODEL],
            prompt_tokens=min(call.prompt_tokens or 0, _LARGEST_COUNT),
            completion_tokens=min(call.completion_tokens or 0, _LARGEST_COUNT),
        )
        told = {name: getattr(kept, name) for name in LOGGED}
        logger.info("call answered", judge=self._judge.name, model=kept.model, **told)
        self._claimed.discard(kept.key)
        # Store the call even if the task is cancelled, because it is paid for.
        await self._paid.do(kept, surely=True)

    def _kept_under(self, key: str) -> str:
        project = self._judge.project_id
        return key if project is None else hashlib.sha256(f"{project}:{key}".encode()).hexdigest()

    def _read_or_claim(self, keys: Sequence[str]) -> list[tuple[StoredCall | None, bool]]:
        """For each key, return the stored reply if there is one, and True if this store has claimed the key."""
        found = self._read(keys)
        if missing := [key for key in keys if key not in found]:
            ours = self._claim(missing)
            # Read again, because the former holder of a claim may have written the reply meanwhile.
            found |= self._read(list(ours))
            return [(found.get(key), key in ours and key not in found) for key in keys]
        return [(found[key], False) for key in keys]

    def _claim(self, keys: Sequence[str]) -> set[str]:
        now = shared_now()
        until = now + timedelta(seconds=CLAIM_SECONDS)
        # Sort the keys, so that two workers with the same questions cannot deadlock.
        asking = [
            JudgeCall(
                judge_id=self._judge.pk, run_id=self._run_id, key=key, token=self._token, lease_until=until
            )
            for key in sorted(keys)
        ]
        JudgeCall.objects.bulk_create(asking, ignore_conflicts=True)
        same = JudgeCall.all_calls.filter(key__in=keys)
        same.filter(lease_until__lt=now).update(token=self._token, lease_until=until, created_at=now)
        # A claim with our token is new, because the judge never asks the same question twice at once.
        return set(same.filter(token=self._token, lease_until__isnull=False).values_list("key", flat=True))

    def _own(self) -> QuerySet[JudgeCall]:
        return JudgeCall.all_calls.filter(token=self._token, lease_until__isnull=False)

    async def _prolong(self) -> None:
        """Extend the leases of claims, until the event loop ends."""

        def later() -> None:
            until = shared_now() + timedelta(seconds=CLAIM_SECONDS)
            self._own().update(lease_until=until)

        while True:
            await asyncio.sleep(CLAIM_SECONDS / 3)
            try:
                await asyncio.wrap_future(self._thread.begin(later))
            except Error:
                # Try again at the next renewal. At worst, a question is paid for twice.
                logger.warning("The claims on calls were not prolonged", exc_info=True)

    def _read(self, keys: Sequence[str]) -> dict[str, StoredCall]:
        rows = JudgeCall.objects.select_related("judge").filter(key__in=keys) if keys else ()
        return {
            row.key: StoredCall(
                judge=row.judge.name,
                model=row.served_model,
                **{column: getattr(row, column) for column in COLUMNS},
            )
            for row in rows
        }

    def _write(self, calls: Sequence[StoredCall]) -> list[None]:
        rows = [
            JudgeCall(
                judge_id=self._judge.pk,
                run_id=self._run_id,
                served_model=call.model,
                **{column: getattr(call, column) for column in COLUMNS},
            )
            for call in calls
        ]
        until = time.monotonic() + KEPT_TRYING_SECONDS
        while True:
            try:
                with transaction.atomic():
                    asking = JudgeCall.all_calls.filter(key__in=[row.key for row in rows])
                    asking.filter(lease_until__isnull=False).delete()
                    JudgeCall.objects.bulk_create(rows, ignore_conflicts=True)
            except (OperationalError, InterfaceError):
                # Retry for a while, because the calls are paid for. Meanwhile this thread accepts no new question.
                connection.close()
                if time.monotonic() > until:
                    raise
                time.sleep(LOOK_AGAIN_SECONDS)
            else:
                return [None] * len(rows)
