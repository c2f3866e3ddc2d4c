"""A thread that works with the database for an event loop, which must not."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from django.db import DatabaseError, connection

ThreadResult = TypeVar("ThreadResult")


class DatabaseThread:
    """One thread with a connection of its own, which does one piece of work after the other.

    An event loop must neither wait for the database nor touch the connection of the thread that runs it.
    """

    def __init__(self, name: str) -> None:
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix=name)

    def close(self) -> None:
        """End the thread and its connection, once everything that was begun is done."""
        self._thread.submit(_close_connection).result()
        self._thread.shutdown()

    def begin(self, work: Callable[[], ThreadResult]) -> Future[ThreadResult]:
        """Have this done when its turn comes, and wait for nothing."""
        return self._thread.submit(_with_good_connection, work)

    async def do(self, work: Callable[[], ThreadResult]) -> ThreadResult:
        """The result of the work. A caller who is cancelled before its turn comes takes it back."""
        return await asyncio.wrap_future(self.begin(work))

    async def do_surely(self, work: Callable[[], ThreadResult]) -> ThreadResult:
        """The result of the work, which is done even where the caller is cancelled meanwhile."""
        begun = self.begin(work)
        # Cancelling takes back the reading of the result alone, which stands behind the work.
        return await asyncio.wrap_future(self._thread.submit(begun.result))


def _close_connection() -> None:
    # Each thread has a connection of its own under this name, so the name must be looked up in it.
    connection.close()


def _with_good_connection(work: Callable[[], ThreadResult]) -> ThreadResult:
    try:
        return work()
    except DatabaseError:
        connection.close()
        raise
