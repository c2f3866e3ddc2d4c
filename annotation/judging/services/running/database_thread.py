"""A thread that uses the database for an event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Generic, TypeVar

from django.db import Error, connection, connections

Item = TypeVar("Item")
ThreadResult = TypeVar("ThreadResult")


class DatabaseThread:
    """A thread with its own connection that does one piece of work at a time."""

    def __init__(self, name: str) -> None:
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix=name)

    def close(self) -> None:
        """Finish all started work, then end the thread and close its connection."""
        self._thread.submit(connections.close_all).result()
        self._thread.shutdown()

    def begin(self, work: Callable[[], ThreadResult]) -> Future[ThreadResult]:
        """Queue the work and return at once."""
        return self._thread.submit(_with_good_connection, work)


class Grouped(Generic[Item, ThreadResult]):
    """Items of one kind that are processed in groups: a group has all items that arrived while the thread was busy.

    `begin` queues work for the thread, such as `DatabaseThread.begin`. `do_all` receives the items in order. For each
    item it returns a result, or an exception to raise.
    """

    def __init__(
        self,
        begin: Callable[[Callable[[], None]], object],
        do_all: Callable[[Sequence[Item]], Sequence[ThreadResult | BaseException]],
    ) -> None:
        self._begin = begin
        self._do_all = do_all
        self._guard = threading.Lock()
        self._coming: list[tuple[Item, Future[ThreadResult]]] = []

    def begin(self, item: Item, *, surely: bool = False) -> Future[ThreadResult]:
        """Queue an item and return at once. If `surely`, the item cannot be cancelled."""
        result: Future[ThreadResult] = Future()
        if surely:
            result.set_running_or_notify_cancel()
        with self._guard:
            self._coming.append((item, result))
            is_first = len(self._coming) == 1
        if is_first:
            self._begin(self._do_what_came)
        return result

    async def do(self, item: Item, *, surely: bool = False) -> ThreadResult:
        """Queue an item and return its result. A cancellation removes the item unless it has started.

        If `surely`, the item is processed even if the caller is cancelled.
        """
        return await asyncio.wrap_future(self.begin(item, surely=surely))

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


def _with_good_connection(work: Callable[[], ThreadResult]) -> ThreadResult:
    try:
        return work()
    except Error:
        connection.close()
        raise
