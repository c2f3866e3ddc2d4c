"""Synchronous doors in front of the one asynchronous path."""

import asyncio
import threading
from collections.abc import Awaitable, Coroutine
from contextlib import suppress
from typing import Any, TypeVar

from evaluation.judging.protocol import Judge

_R = TypeVar("_R")


def run(work: Coroutine[Any, Any, _R]) -> _R:
    """The coroutine's result, also if an event loop is already running (a notebook, an async view).

    There it runs in a thread with a loop of its own while the caller waits. Ctrl-C cancels it before it
    surfaces.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    loop = asyncio.new_event_loop()
    # Made here, so that it sees the caller's context.
    task, ended = loop.create_task(work), threading.Event()

    def body() -> None:
        with asyncio.Runner(loop_factory=lambda: loop) as runner:
            runner.run(asyncio.wait([task]))
        ended.set()

    thread = threading.Thread(target=body, name="evaluation-judging", daemon=True)
    thread.start()
    try:
        # Not join: in Python 3.11 an interrupted join takes the thread for ended.
        ended.wait()
    except BaseException:
        # RuntimeError: it has just ended by itself.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(task.cancel)
        ended.wait()
        raise
    finally:
        thread.join()
    return task.result()


async def closing(judge: Judge, work: Awaitable[_R]) -> _R:
    """The work's result; afterwards the judge is closed, for its connections must not outlive the loop."""
    try:
        return await work
    finally:
        await judge.aclose()
