"""Running functions in threads at the same time."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from django.db import connection

from annotation.core.refusals import Refusal

if TYPE_CHECKING:
    from collections.abc import Callable

PATIENCE_SECONDS = 60


def at_once(*acts: Callable[[], object]) -> list[object]:
    start = threading.Barrier(len(acts))

    def do(act: Callable[[], object]) -> object:
        start.wait(PATIENCE_SECONDS)
        try:
            return act()
        except Refusal as refusal:
            return refusal
        finally:
            connection.close()

    with ThreadPoolExecutor(len(acts)) as threads:
        return list(threads.map(do, acts, timeout=PATIENCE_SECONDS))


def codes_of(*acts: Callable[[], object]) -> list[str]:
    return [each.code if isinstance(each, Refusal) else "" for each in at_once(*acts)]
