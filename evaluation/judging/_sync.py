"""Run asynchronous judging from synchronous code."""

import asyncio
import threading
from collections.abc import Awaitable, Coroutine
from contextlib import suppress
from typing import Any, TypeVar

from evaluation.judging.protocol import Judge

_R = TypeVar("_R")


def run(work: Coroutine[Any, Any, _R]) -> _R:
    """Run a coroutine and return its result, even inside a running event loop (a notebook, an async view).

    Inside a running loop, a thread with a loop of its own runs the coroutine while the caller waits. Ctrl-C cancels the
    coroutine before KeyboardInterrupt is raised.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    loop = asyncio.new_event_loop()
    # Create the task here, so that it has the caller's context variables.
    task, ended = loop.create_task(work), threading.Event()

    def body() -> None:
        with asyncio.Runner(loop_factory=lambda: loop) as runner:
            runner.run(asyncio.wait([task]))
        ended.set()

    thread = threading.Thread(target=body, name="evaluation-judging", daemon=True)
    thread.start()
    try:
        # In Python 3.11 an interrupted `join` marks the thread as ended although it still runs, so wait for `ended`.
        ended.wait()
    except BaseException:
        # The loop raises RuntimeError if it has just ended; then there is nothing to cancel.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(task.cancel)
        ended.wait()
        raise
    finally:
        thread.join()
    return task.result()


async def closing(judge: Judge, work: Awaitable[_R]) -> _R:
    """Return the result of the work; close the judge after it."""
    try:
        return await work
    finally:
        await judge.aclose()
