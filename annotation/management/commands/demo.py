"""Serve the sample project on this machine, with database, worker and web server."""

from __future__ import annotations

import gc
import os
import socket
import sys
import time
import urllib.request
import warnings
import webbrowser
from argparse import ArgumentParser
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from annotation.analysis.leaderboard.leaderboard import RANKED
from annotation.analysis.leaderboard.leaderboards import opening_board
from annotation.analysis.make_analysis import recompute
from annotation.demo.harbour import SLUG, answer_harbour, is_harbour_answered
from annotation.demo.people import DEMO_PEOPLE
from annotation.demo.project import begin_sample_project
from annotation.judging.queries.runs import is_under_way, run_progress
from annotation.management.commands.leaderboard import table_lines
from annotation.management.commands.serve import gunicorn_command
from annotation.management.earlier_database import refuse_earlier_database
from annotation.management.setup_link import setup_words
from annotation.management.supervisor import LOOK_EVERY_SECONDS, Child, Supervisor, forked, run_here, spawned
from annotation.models import Analysis, Project, Run
from annotation.settings_choice import LOCAL
from annotation.workers import worker_command, worker_environment

DEMO_SETTINGS = "annotation.config.settings.demo"
JUDGED_WITHIN_SECONDS = 300
SERVED_WITHIN_SECONDS = 90
HIGHEST_PORT = 65535


class Command(BaseCommand):
    # Skip Django's checks, which would delay every start.
    requires_system_checks = ()
    help = "Serve the sample project, judged by the offline lexical baseline, on 127.0.0.1."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--port", default="8000", help="8000 by default")
        parser.add_argument("--no-browser", action="store_true", help="do not open a browser")
        parser.add_argument(
            "--empty",
            action="store_true",
            help="without the sample project and its people; prints a setup link",
        )

    def handle(self, *_: Any, port: str, no_browser: bool, empty: bool, **__: Any) -> None:
        wanted = LOCAL if empty else DEMO_SETTINGS
        if wanted != settings.SETTINGS_MODULE:
            # The demo has settings of its own.
            os.environ["DJANGO_SETTINGS_MODULE"] = wanted
            os.execv(sys.executable, [sys.executable, *sys.argv])
        refuse_earlier_database(connection)
        number = _free_port(port)
        address = f"http://{settings.DEMO_HOST}:{number}/"
        os.environ["COVERDICT_OWN_PORT"] = str(number)
        _purge_queue(settings.VAR_DIR / "queue")
        _import_what_forks_share()
        with Supervisor(say=self.say) as supervisor:
            if not self._have_done(supervisor, _prepare_tables if empty else _prepare):
                return
            supervisor.add(_child("web server", gunicorn_command(f"{settings.DEMO_HOST}:{number}")))
            supervisor.add(_child("worker", worker_command()))
            if not empty and not self._have_done(supervisor, self._show_judged):
                return
            if not supervisor.watch(lambda: _answers(address), seconds=SERVED_WITHIN_SECONDS):
                if not supervisor.stopping.is_set():
                    raise CommandError("The web server did not respond; see its output above.")
                return
            if empty:
                self._have_done(supervisor, partial(self._say_how_to_begin, address))
            else:
                self._welcome(address)
            if not no_browser:
                webbrowser.open(address)
            if not supervisor.stopping.is_set():
                supervisor.watch()
            self.say("Stopping.")

    def _have_done(self, supervisor: Supervisor, work: Callable[[], object]) -> bool:
        done = supervisor.have_done(work, seconds=JUDGED_WITHIN_SECONDS)
        if not done and not supervisor.stopping.is_set():
            raise CommandError("The sample project could not be prepared; see the error above.")
        return done

    def say(self, line: str) -> None:
        self.stdout.write(line)
        self.stdout.flush()

    def _show_judged(self) -> None:
        project = Project.objects.get(slug=SLUG)
        if not is_harbour_answered(project):
            self.say("Judging the sample project claim by claim, through Celery ...")
            run = Run.objects.filter(project=project).earliest("pk")
            started = time.monotonic()
            while is_under_way(run):
                time.sleep(LOOK_EVERY_SECONDS)
            progress = run_progress(run)
            if progress.failures:
                self.say(f"Some of the sample could not be judged: {progress.failures[0].error}")
            answer_harbour(project)
            self.say(f"Judged {progress.summaries_done} summaries in {time.monotonic() - started:.1f} s.")
        # Compute an outdated leaderboard in this fork, whose end frees the memory. A worker would keep the memory.
        recompute(project=project, kind=Analysis.Kind.LEADERBOARD, key=RANKED)
        shown, _ = opening_board(project)
        if shown is not None:
            self.say("\n".join(table_lines(shown)))

    def _say_how_to_begin(self, address: str) -> None:
        self.say(f"\nCoverdict is open at {address} Ctrl-C stops it.\n{setup_words(address)}".rstrip())

    def _welcome(self, address: str) -> None:
        people = ", ".join(f"{person.first_name} ({person.does})" for person in DEMO_PEOPLE)
        self.say(f"\nCoverdict is open at {address}\nSign in with one click as {people}. Ctrl-C stops it.")


def _import_what_forks_share() -> None:
    import_module(settings.ROOT_URLCONF)
    # A demo in a container runs as root, so hide Celery's warning about root.
    warnings.filterwarnings("ignore", module="celery.platforms")
    os.environ.setdefault("CELERY_SKIP_CHECKS", "1")
    # Exclude existing objects from garbage collection, which would copy their memory in every fork.
    gc.collect()
    gc.freeze()


def _child(name: str, command: Sequence[str]) -> Child:
    if sys.platform == "darwin":
        # On macOS libraries may fail after a fork, so start a new process.
        return Child(name, partial(spawned, command, worker_environment()))
    return Child(name, partial(forked, partial(run_here, command)))


def _prepare_tables() -> None:
    executor = MigrationExecutor(connection)
    if executor.migration_plan(executor.loader.graph.leaf_nodes()):
        call_command("migrate", interactive=False, verbosity=0)
    if settings.DEMO_SIGN_IN and not (settings.STATIC_ROOT / "staticfiles.json").exists():
        call_command("collectstatic", interactive=False, verbosity=0)


def _prepare() -> None:
    _prepare_tables()
    begin_sample_project(by=None)


def _free_port(named: str) -> int:
    if not named.isdecimal() or not 1 <= int(named) <= HIGHEST_PORT:
        raise CommandError(f"A port is a number from 1 to {HIGHEST_PORT}, not {named!r}: make demo PORT=8080")
    port = int(named)
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((settings.DEMO_HOST, port))
        except OSError as error:
            another = port + 1 if port < HIGHEST_PORT else 8080
            raise CommandError(
                f"Port {port} cannot be used ({error.strerror}). Take another: make demo PORT={another}"
            ) from error
    return port


def _purge_queue(folder: Path) -> None:
    """Delete messages of an earlier process."""
    for message in folder.rglob("*"):
        if message.is_file():
            message.unlink(missing_ok=True)


def _answers(address: str) -> bool:
    try:
        with urllib.request.urlopen(f"{address}healthz", timeout=2) as reply:
            return bool(reply.status == 200)
    except OSError:
        return False
