"""A limit on the calls and tokens per minute."""

import asyncio
import threading
import time
from collections import deque

SECONDS = 60.0


class Pace:
    """Delays calls so that any 60 seconds stay within the limits; None is no limit. Loops and threads can share a Pace.

    A call with more tokens than the limit waits until 60 seconds have passed without another call.
    """

    def __init__(self, calls: int | None, tokens: int | None) -> None:
        self.calls = calls
        self.tokens = tokens
        self._gone: deque[tuple[float, int]] = deque()
        self._sum = 0
        self._guard = threading.Lock()

    async def turn(self, tokens: int) -> None:
        """Wait until a call with `tokens` tokens may be sent, and count it."""
        if self.calls is None and self.tokens is None:
            return
        wait = self._wait(tokens)
        while wait > 0:
            await asyncio.sleep(wait)
            wait = self._wait(tokens)

    def _wait(self, tokens: int) -> float:
        """Count the call and return 0 if it may be sent now; otherwise return the seconds until another attempt."""
        now = time.monotonic()
        with self._guard:
            while self._gone and self._gone[0][0] <= now - SECONDS:
                self._sum -= self._gone.popleft()[1]
            if self._has_room(tokens):
                self._gone.append((now, tokens))
                self._sum += tokens
                return 0.0
            return self._gone[0][0] + SECONDS - now

    def _has_room(self, tokens: int) -> bool:
        if not self._gone:
            return True
        calls_fit = self.calls is None or len(self._gone) < self.calls
        return calls_fit and (self.tokens is None or self._sum + tokens <= self.tokens)
