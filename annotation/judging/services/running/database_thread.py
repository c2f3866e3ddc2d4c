"""A thread that works with the database for an event loop, which must not."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Generic, TypeVar

from django.db import Error, connection

Item = TypeVar("Item")
ThreadResult = TypeVar("ThreadResult")


class DatabaseThread:
    """One thread with a connection of its own, which does one piece of work after the other.

    An event loop must neither wait for the database nor touch the connection of the thread that runs it.
    """

    def __init__(self, name: str) -> None:
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix=name)

    def close(self) -> None:
        """End the thread and its connection, once everything that was started is done."""
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
        started = self.begin(work)
        # Cancelling takes back the reading of the result alone, which stands behind the work.
        return await asyncio.wrap_future(self._thread.submit(started.result))


class Grouped(Generic[Item, ThreadResult]):
    """Works of one kind that are done together: what comes while the thread is busy is one work for it.

    `do_all` gets the items in the order in which they came, and gives a result, or the exception to raise, for each.
    """

    def __init__(
        self,
        thread: DatabaseThread,
        do_all: Callable[[Sequence[Item]], Sequence[ThreadResult | BaseException]],
    ) -> None:
        self._thread = thread
        self._do_all = do_all
        self._guard = threading.Lock()
        self._coming: list[tuple[Item, Future[ThreadResult]]] = []

    def begin(self, item: Item, *, surely: bool = False) -> Future[ThreadResult]:
        """Have this done when its turn comes; who is to have it done `surely` cannot cancel it."""
        result: Future[ThreadResult] = Future()
        if surely:
            result.set_running_or_notify_cancel()
        with self._guard:
            self._coming.append((item, result))
            is_first = len(self._coming) == 1
        if is_first:
            self._thread.begin(self._do_what_came)
        return result

    async def do(self, item: Item) -> ThreadResult:
        """The result. A caller who is cancelled before its turn comes takes it back."""
        return await asyncio.wrap_future(self.begin(item))

    async def do_surely(self, item: Item) -> ThreadResult:
        """The result of the work, which is done even where the caller is cancelled meanwhile."""
        return await asyncio.wrap_future(self.begin(item, surely=True))

    def _do_what_came(self) -> None:
        with self._guard:
            came, self._coming = self._coming, []
        wanted = [
            (item, result)
            for item, result in came
            if result.running() or result.set_running_or_notify_cancel()
        ]
        try:
            done = self._do_all([item for item, _ in wanted]) if wanted else ()
        except BaseException as failure:
            for _, result in wanted:
                result.set_exception(failure)
            raise
        for (_, result), outcome in zip(wanted, done, strict=True):
            if isinstance(outcome, BaseException):
                result.set_exception(outcome)
            else:
                result.set_result(outcome)


def _close_connection() -> None:
    # Each thread has a connection of its own under this name, so the name must be looked up in it.
    connection.close()


def _with_good_connection(work: Callable[[], ThreadResult]) -> ThreadResult:
    try:
        return work()
    except Error:
        connection.close()
        raise
