"""Synchronous doors in front of the one asynchronous path."""

import asyncio
import contextlib
import contextvars
import threading
from collections.abc import Awaitable, Coroutine
from typing import Any, TypeVar

from evaluation.judging.protocol import Judge

_R = TypeVar("_R")


def run(work: Coroutine[Any, Any, _R]) -> _R:
    """The coroutine's result, also where an event loop is already running (a notebook, an async view).

    There it runs in a thread with a loop of its own while the caller waits. Ctrl-C cancels it before it
    surfaces.
    """
    return _run_in_thread(work) if _is_loop_running() else asyncio.run(work)


async def closing(judge: Judge, work: Awaitable[_R]) -> _R:
    """The work's result; afterwards the judge is closed, for its connections must not outlive the loop."""
    try:
        return await work
    finally:
        await judge.aclose()


def _is_loop_running() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _run_in_thread(work: Coroutine[Any, Any, _R]) -> _R:
    outcome: list[_R] = []
    failure: list[BaseException] = []
    started, finished = threading.Event(), threading.Event()
    running: list[tuple[asyncio.AbstractEventLoop, asyncio.Task[Any] | None]] = []

    async def announced() -> _R:
        running.append((asyncio.get_running_loop(), asyncio.current_task()))
        started.set()
        return await work

    def body() -> None:
        try:
            outcome.append(asyncio.run(announced()))
        # The thread is the boundary: whatever happened in it is raised again in the caller.
        except BaseException as error:  # noqa: BLE001
            failure.append(error)
        finally:
            started.set()
            finished.set()

    context = contextvars.copy_context()
    thread = threading.Thread(target=context.run, args=(body,), name="evaluation-judging", daemon=True)
    thread.start()
    try:
        # Not join: in Python 3.11 an interrupted join takes the thread for ended.
        finished.wait()
    except BaseException:
        started.wait()
        for loop, task in running:
            # RuntimeError: it has just ended by itself.
            with contextlib.suppress(RuntimeError):
                if task is not None:
                    loop.call_soon_threadsafe(task.cancel)
        finished.wait()
        raise
    finally:
        thread.join()
    if failure:
        raise failure[0]
    return outcome[0]
