"""Serve the application with gunicorn: static files collected, and on one machine tables made too."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand

from annotation.management.setup_link import setup_words


class Command(BaseCommand):
    # gunicorn loads all of it once more.
    requires_system_checks = ()
    help = (
        "Serve the application with gunicorn until told to stop; requests under way are finished first. Tables are "
        "brought up to date where the database is SQLite; elsewhere run migrate before a new version. "
        "Start a worker beside it."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--bind", default="127.0.0.1:8000", help="127.0.0.1:8000 unless named")
        parser.add_argument("--workers", type=int, default=2, help="processes; 2 unless named")
        parser.add_argument("--threads", type=int, default=4, help="of each process; 4 unless named")

    def handle(self, *_: Any, bind: str, workers: int, threads: int, **__: Any) -> None:
        call_command("collectstatic", interactive=False, verbosity=0)
        if settings.DATABASES["default"]["ENGINE"].endswith("sqlite3"):
            call_command("migrate", interactive=False, verbosity=0)
            self.stdout.write(setup_words(f"http://{bind}/"))
        self.stdout.write(f"Coverdict is served at http://{bind}/ Ctrl-C stops it.")
        self.stdout.flush()
        # In the place of this process, so that signals reach gunicorn.
        os.environ["DJANGO_SETTINGS_MODULE"] = settings.SETTINGS_MODULE
        os.execv(sys.executable, gunicorn_command(bind, workers=workers, threads=threads))


def gunicorn_command(bind: str, *, workers: int = 2, threads: int = 4) -> list[str]:
    """The command that serves the application."""
    return [
        sys.executable,
        "-m",
        "gunicorn",
        "annotation.config.wsgi:application",
        f"--bind={bind}",
        f"--workers={workers}",
        f"--threads={threads}",
        "--preload",
        "--log-level=warning",
    ]
