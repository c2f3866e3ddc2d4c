"""Serve the sample project on this machine: database, worker and web server under one roof."""

from __future__ import annotations

import os
import socket
import sys
import time
import urllib.request
import webbrowser
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError

from annotation.core.jobs import reap
from annotation.judging.queries.runs import run_progress
from annotation.judging.services.judges import judge_by_name
from annotation.judging.services.start_run import start_run
from annotation.management.supervisor import Child, Supervisor
from annotation.models import Job, Project, Run
from annotation.sample.load import DEMO_PEOPLE, judged_sample, load_sample, review_sample
from annotation.workers import worker_command, worker_environment

DEMO_SETTINGS = "annotation.config.settings.demo"
JUDGED_WITHIN_SECONDS = 300
SERVED_WITHIN_SECONDS = 90
HIGHEST_PORT = 65535


class Command(BaseCommand):
    help = "Serve the sample project, judged by the offline lexical baseline, on 127.0.0.1."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--port", default="8000", help="8000 unless named")
        parser.add_argument("--no-browser", action="store_true", help="do not open a browser")

    def handle(self, *_: Any, port: str, no_browser: bool, **__: Any) -> None:
        if not settings.DEMO_SIGN_IN:
            # The demo's people can be signed in as by anybody: that must not depend on other settings.
            os.environ["DJANGO_SETTINGS_MODULE"] = DEMO_SETTINGS
            os.execv(sys.executable, [sys.executable, *sys.argv])
        number = _free_port(port)
        call_command("migrate", interactive=False, verbosity=0)
        if not (settings.STATIC_ROOT / "staticfiles.json").exists():
            call_command("collectstatic", interactive=False, verbosity=0)
        _purge_queue(settings.VAR_DIR / "queue")
        with Supervisor(say=self.say, chore=reap) as supervisor:
            project = judged_sample()
            web = Child("web server", _web_command(number), worker_environment())
            if project is not None:
                supervisor.add(web)
            supervisor.add(Child("worker", worker_command(), worker_environment()))
            if project is None:
                project = load_sample()
                if not self._judge(project, supervisor):
                    return
                supervisor.add(web)
            call_command("leaderboard", project.slug, stdout=self.stdout)
            address = f"http://{settings.DEMO_HOST}:{number}/"
            if not supervisor.watch(lambda: _answers(address), seconds=SERVED_WITHIN_SECONDS):
                if not supervisor.stopping.is_set():
                    raise CommandError("The web server did not answer; what it said stands above.")
                return
            self._welcome(address)
            if not no_browser:
                webbrowser.open(address)
            supervisor.watch()
            self.say("Stopping.")

    def say(self, line: str) -> None:
        self.stdout.write(line)
        self.stdout.flush()

    def _judge(self, project: Project, supervisor: Supervisor) -> bool:
        """Have the sample judged through Celery; False if told to stop meanwhile."""
        run = Run.objects.filter(project=project).order_by("pk").first() or start_run(
            project=project, judge=judge_by_name("lexical"), metrics=("coverage", "alignment"), by=None
        )
        self.say("Judging the sample project claim by claim, through Celery ...")
        started = time.monotonic()
        if not supervisor.watch(lambda: _is_over(run), seconds=JUDGED_WITHIN_SECONDS):
            if supervisor.stopping.is_set():
                return False
            raise CommandError("The worker did not finish judging the sample; what it said stands above.")
        progress = run_progress(run)
        if progress.failures:
            self.say(f"Some of the sample could not be judged: {progress.failures[0].error}")
        review_sample(project)
        self.say(f"Judged {progress.summaries_done} summaries in {time.monotonic() - started:.1f} s.")
        return True

    def _welcome(self, address: str) -> None:
        people = ", ".join(f"{person.first_name} ({person.does})" for person in DEMO_PEOPLE)
        self.say(f"\nCoverdict is open at {address}\nSign in with one click as {people}. Ctrl-C stops it.")


def _is_over(run: Run) -> bool:
    return not Job.objects.filter(run=run, state__in=(Job.State.WAITING, Job.State.WORKING)).exists()


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
    """Forget messages of an earlier life: the Job rows know what is still to be done."""
    for message in folder.rglob("*"):
        if message.is_file():
            message.unlink(missing_ok=True)


def _web_command(port: int) -> list[str]:
    return [
        sys.executable,
        "-m",
        "gunicorn",
        "annotation.config.wsgi:application",
        f"--bind={settings.DEMO_HOST}:{port}",
        "--workers=2",
        "--threads=4",
        "--log-level=warning",
    ]


def _answers(address: str) -> bool:
    try:
        with urllib.request.urlopen(f"{address}healthz", timeout=2) as reply:
            return bool(reply.status == 200)
    except OSError:
        return False
