"""Serving the application with gunicorn, after collecting static files and, on SQLite, updating the tables."""

from __future__ import annotations

import os
import shutil
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand
from django.db import connection

from annotation.management.earlier_database import refuse_earlier_database
from annotation.management.setup_link import setup_words

FEWEST_WORKERS = 2
"""With fewer processes, one busy process would block all requests."""
BYTES_OF_A_WORKER = 256 * 1024**2
THREADS = 8
STOP_SECONDS = 30
CGROUP_LIMIT = Path("/sys/fs/cgroup/memory.max")


class Command(BaseCommand):
    # Skip Django's checks, which would load the program a second time, beside gunicorn.
    requires_system_checks = ()
    help = (
        "Serve the application with gunicorn. When it is stopped, running requests are finished, for at most "
        f"{STOP_SECONDS} seconds. Tables are updated if the database is SQLite; otherwise run migrate "
        "before a new version. Start a worker beside it."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--bind", default="127.0.0.1:8000", help="127.0.0.1:8000 by default")
        parser.add_argument(
            "--workers", type=int, help="processes; by default as many as processors and memory allow"
        )
        parser.add_argument(
            "--threads", type=int, default=THREADS, help=f"of each process; {THREADS} by default"
        )

    def handle(self, *_: Any, bind: str, workers: int | None, threads: int, **__: Any) -> None:
        refuse_earlier_database(connection)
        call_command("collectstatic", interactive=False, verbosity=0)
        if settings.DATABASES["default"]["ENGINE"].endswith("sqlite3"):
            call_command("migrate", interactive=False, verbosity=0)
            self.stdout.write(setup_words(f"http://{bind}/"))
        self.stdout.write(
            f"Coverdict is served at http://{bind}/{' Ctrl-C stops it.' if self.stdout.isatty() else ''}"
        )
        self.stdout.flush()
        if settings.METRICS_TOKEN:
            counts = settings.VAR_DIR / "metrics"
            shutil.rmtree(counts, ignore_errors=True)
            counts.mkdir(parents=True)
            os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(counts)
        # Let gunicorn replace this process, so that it receives the signals.
        os.environ["DJANGO_SETTINGS_MODULE"] = settings.SETTINGS_MODULE
        command = gunicorn_command(bind, workers=workers or fitting_workers(), threads=threads)
        os.execv(sys.executable, command)


def gunicorn_command(bind: str, *, workers: int = FEWEST_WORKERS, threads: int = 4) -> list[str]:
    return [
        sys.executable,
        "-m",
        "gunicorn",
        "annotation.config.wsgi:application",
        f"--bind={bind}",
        f"--workers={workers}",
        f"--threads={threads}",
        "--worker-class=gthread",
        f"--graceful-timeout={STOP_SECONDS}",
        "--limit-request-line=8190",
        "--limit-request-fields=64",
        "--no-control-socket",
        "--preload",
        "--log-level=warning",
    ]


def fitting_workers() -> int:
    """Choose the number of processes: one per processor, as far as half of the memory suffices, and at least two."""
    return max(FEWEST_WORKERS, min(_processors(), _memory() // 2 // BYTES_OF_A_WORKER))


def _processors() -> int:
    # Count only the processors that this process may use. Not all systems report them.
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _memory() -> int:
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    limit = CGROUP_LIMIT.read_text().strip() if CGROUP_LIMIT.exists() else "max"
    return machine if limit == "max" else min(machine, int(limit))
