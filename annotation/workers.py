"""Workers: how one is started, and how the others know that it is alive."""

from __future__ import annotations

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
FORGOTTEN_AFTER = timedelta(days=1)

logger = logging.getLogger(__name__)


def worker_command() -> list[str]:
    """The command that starts a worker: a process in which runs, exports and statistics do not wait for each other."""
    celery = [sys.executable, "-m", "celery", "--quiet", "-A", "annotation.config.celery"]
    return [*celery, "worker", "--loglevel=WARNING", "--without-gossip", "--without-mingle"]


def worker_environment() -> dict[str, str]:
    """What a worker that belongs to this process needs in its environment besides what is there.

    It says what goes wrong and nothing else, since it shares the terminal.
    """
    temporary = settings.VAR_DIR / "tmp"
    temporary.mkdir(parents=True, exist_ok=True)
    # The folder of the packages: a worker may be started anywhere.
    paths = [str(Path(annotation.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    return {
        "DJANGO_SETTINGS_MODULE": settings.SETTINGS_MODULE,
        # On the queue's own file system, or kombu may lose messages.
        "TMPDIR": str(temporary),
        "PYTHONPATH": os.pathsep.join(path for path in paths if path),
        "PYTHONWARNINGS": "ignore:::celery.platforms",
        "LOG_LEVEL": os.environ.get("LOG_LEVEL", "WARNING"),
    }


def new_worker_name() -> str:
    """A name for this process that no other worker has."""
    return f"{socket.gethostname()}:{os.getpid()}"


class Heartbeat:
    """Reports a worker as alive every few seconds from a thread of its own, until it is stopped.

    At each beat the worker also reaps, lapses the leases of assessors, and looks for work that no message told it of;
    and once in each hour of the clock it does what is due then. No installation needs a scheduler beside its workers.
    """

    def __init__(
        self, name: str, look: Callable[[], None] = lambda: None, hourly: Callable[[], None] = lambda: None
    ) -> None:
        self._name = name
        self._look = look
        self._hourly = hourly
        self._hour = 0
        self._ended = threading.Event()
        self._reporting = threading.Lock()
        self._thread = threading.Thread(target=self._beat_on, name="heartbeat", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Report the worker as gone, however long a beat that is under way still takes."""
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
                # The row that `stop` has deleted must not come back.
                if self._ended.is_set():
                    return
                report_alive(self._name)
            reap()
            lapse_leases()
            self._look()
            if (hour := int(time.time() // HOUR_SECONDS)) != self._hour:
                self._hour = hour
                self._hourly()
        except Error as error:
            # It is tried again in seconds: one line will do.
            logger.warning("The heartbeat did not reach the database: %s", str(error).strip())
        except Exception:
            # The boundary of a thread without which nobody would reap: the next beat tries again.
            logger.exception("A heartbeat broke off")
        finally:
            # Nothing is kept between beats: a pool that forks its processes must not hand a connection down.
            connection.close()


def report_alive(name: str) -> None:
    """Write down that the worker is alive now, and forget workers long gone."""
    now = shared_now()
    Worker.objects.bulk_create(
        [Worker(name=name, version=annotation.__version__, started_at=now, seen_at=now)],
        update_conflicts=True,
        unique_fields=["name"],
        update_fields=["seen_at"],
    )
    Worker.objects.filter(seen_at__lt=now - FORGOTTEN_AFTER).delete()
