"""A worker and a web server in which signals cause faults.

Start them with `celery -A tests.bench._struck worker` and `gunicorn "tests.bench._struck:web()"`.
"""

from __future__ import annotations

import ctypes
import os
import signal
import threading
import time
from typing import TYPE_CHECKING, Any

import time_machine

from annotation.config.celery import app
from tests.bench._strikes import AHEAD, BACK, DIE, HOUR

if TYPE_CHECKING:
    from django.core.handlers.wsgi import WSGIHandler

__all__ = ("app",)


def web() -> WSGIHandler:
    from annotation.config.wsgi import application

    return application


def _die(*_: Any) -> None:
    """Raise SystemExit in all threads whose names begin with one of the names in MORTAL, which commas separate."""
    for thread in threading.enumerate():
        if thread.name.startswith(tuple(os.environ["MORTAL"].split(","))):
            ident = ctypes.c_ulong(thread.ident or 0)
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ident, ctypes.py_object(SystemExit))


def _jump(number: int, _: Any) -> None:
    """Shift Python's wall clock by an hour from now on; the monotonic clock does not change."""
    ahead = HOUR if number == AHEAD else -HOUR
    time_machine.travel(time.time() + ahead, tick=True).start()


signal.signal(DIE, _die)
signal.signal(AHEAD, _jump)
signal.signal(BACK, _jump)
