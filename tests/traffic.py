"""The requests that the live server is working on; a request may continue after the page that sent it is closed."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any, Self

from django.core.signals import request_finished, request_started

if TYPE_CHECKING:
    from types import TracebackType

QUIET_S = 0.1
"""The server is quiet after this number of seconds without a request."""
LONGEST_S = 60.0


class Traffic:
    """Counts the requests of this process within the with block.

    At its end it waits for the last response. Otherwise a request could run while the test's database is emptied,
    which could cause a deadlock, or a row that the next test finds.
    """

    def __init__(self) -> None:
        self._under_way = 0
        self.answered = 0
        self._last_change = time.monotonic()
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        request_started.connect(self.started)
        request_finished.connect(self.over)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.come_to_rest()
        finally:
            request_started.disconnect(self.started)
            request_finished.disconnect(self.over)

    def come_to_rest(self) -> None:
        give_up = time.monotonic() + LONGEST_S
        while not self._is_quiet():
            if time.monotonic() > give_up:
                raise TimeoutError(f"{self._under_way} requests without an answer after {LONGEST_S:.0f} s")
            time.sleep(QUIET_S / 5)

    def _is_quiet(self) -> bool:
        with self._lock:
            return not self._under_way and time.monotonic() - self._last_change > QUIET_S

    def started(self, **_: Any) -> None:
        self._count(1)

    def over(self, **_: Any) -> None:
        self._count(-1)

    def _count(self, by: int) -> None:
        with self._lock:
            self._under_way += by
            self.answered += by < 0
            self._last_change = time.monotonic()
