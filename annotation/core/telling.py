"""Something said again and again beside long work."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from django.db import DatabaseError, connection


@contextmanager
def every(seconds: float, tell: Callable[[], object]) -> Iterator[None]:
    """Call `tell` every so many seconds for the length of the block, from a thread and connection of its own: what a
    transaction of the block writes is seen by nobody, and what others write is not seen in its snapshot.
    """
    ended = threading.Event()

    def tell_on() -> None:
        try:
            while not ended.wait(seconds):
                try:
                    tell()
                except DatabaseError:
                    # The next turn tries again.
                    connection.close()
        finally:
            connection.close()

    thread = threading.Thread(target=tell_on, name="telling", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
