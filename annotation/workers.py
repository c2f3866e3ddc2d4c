"""Starting workers, and recording which of them are alive."""

from __future__ import annotations

import ctypes
import gc
import logging
import os
import socket
import sys
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

from django.conf import settings
from django.db import Error, connection

import annotation
from annotation.assessing.services.queue import lapse_leases
from annotation.core.jobs import reap
from annotation.core.shared.clock import shared_now
from annotation.models import Worker

BEAT_SECONDS = 3.0
HOUR_SECONDS = 3600
MINUTE_SECONDS = 60
FORGOTTEN_AFTER = timedelta(days=1)

logger = logging.getLogger(__name__)


def worker_command() -> list[str]:
    """Return the command that starts a worker."""
    celery = [sys.executable, "-m", "celery", "--quiet", "-A", "annotation.config.celery"]
    return [*celery, "worker", "--loglevel=WARNING", "--without-gossip", "--without-mingle"]


def worker_environment() -> dict[str, str]:
    """Return the environment variables that a worker needs in addition to those of this process."""
    temporary = settings.VAR_DIR / "tmp"
    temporary.mkdir(parents=True, exist_ok=True)
    # A worker may be started in any folder, so add the folder of the packages to the path.
    paths = [str(Path(annotation.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    return {
        "DJANGO_SETTINGS_MODULE": settings.SETTINGS_MODULE,
        # kombu may lose messages unless this folder is on the queue's file system.
        "TMPDIR": str(temporary),
        "PYTHONPATH": os.pathsep.join(path for path in paths if path),
        "PYTHONWARNINGS": "ignore:::celery.platforms",
    }


def new_worker_name() -> str:
    """Make a name for this process from its machine and number."""
    return f"{socket.gethostname()}:{os.getpid()}"


class Heartbeat:
    """Reports a worker as alive every few seconds from its own thread, until it is stopped.

    Each beat also reaps jobs, lets leases lapse and calls `look`; the first beat, and the first of each hour, calls
    `hourly`.
    """

    def __init__(
        self, name: str, look: Callable[[], None] = lambda: None, hourly: Callable[[], None] = lambda: None
    ) -> None:
        self._name = name
        self._look = look
        self._hourly = hourly
        self._hour = self._minute = 0
        self._ended = threading.Event()
        self._reporting = threading.Lock()
        self._thread = threading.Thread(target=self._beat_on, name="heartbeat", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Stop the beats and delete the worker's row."""
        self._ended.set()
        with self._reporting:
            Worker.objects.filter(name=self._name).delete()
        self._thread.join(timeout=BEAT_SECONDS)

    def _beat_on(self) -> None:
        pause = min(BEAT_SECONDS, settings.WORKER_SILENT_SECONDS / 3)
        while True:
            self._beat()
            if self._ended.wait(pause):
                return

    def _beat(self) -> None:
        try:
            with self._reporting:
                # `stop` has deleted the row; do not create it again.
                if self._ended.is_set():
                    return
                report_alive(self._name)
            reap()
            lapse_leases()
            self._look()
            if (minute := int(time.time() // MINUTE_SECONDS)) != self._minute:
                self._minute = minute
                give_memory_back()
            if (hour := int(time.time() // HOUR_SECONDS)) != self._hour:
                self._hour = hour
                self._hourly()
        except Error as error:
            # The next attempt follows soon, so log no traceback.
            logger.warning("The heartbeat did not reach the database: %s", str(error).strip())
        except Exception:
            # Keep the thread alive. The next beat tries again.
            logger.exception("A heartbeat broke off")
        finally:
            # Close the connection after each beat.
            connection.close()


def give_memory_back() -> None:
    """Collect cyclic garbage and, on Linux with glibc, return free memory to the system."""
    gc.collect()
    if sys.platform == "linux" and (trim := getattr(ctypes.CDLL(None), "malloc_trim", None)):
        trim(0)


def report_alive(name: str) -> None:
    """Record that the worker is alive, and delete rows of workers that have not reported for a day."""
    now = shared_now()
    Worker.objects.bulk_create(
        [Worker(name=name, version=annotation.__version__, started_at=now, seen_at=now)],
        update_conflicts=True,
        unique_fields=["name"],
        update_fields=["seen_at"],
    )
    Worker.objects.filter(seen_at__lt=now - FORGOTTEN_AFTER).delete()
