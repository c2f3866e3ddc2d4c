"""The computation and the page of a large leaderboard, in processor time on SQLite."""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from tests.bench import Row, _study

if TYPE_CHECKING:
    from annotation.models import Project

SETS = 100
ANEW_SECONDS = 1.0
TURNS = 3
PAGES = 20
PAGE_MS = 100.0


def run() -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        os.environ["COVERDICT_VAR"] = folder
        os.environ["DATABASE_URL"] = f"sqlite:///{Path(folder) / 'leaderboard.sqlite3'}"
        os.environ["DJANGO_SETTINGS_MODULE"] = "annotation.config.settings.test"
        import django
        from django.core.management import call_command

        django.setup()
        call_command("migrate", verbosity=0)
        return _measure()


def _measure() -> list[Row]:
    from annotation.analysis.leaderboard.leaderboards import board
    from annotation.analysis.make_analysis import compute
    from annotation.models import Analysis

    project = _study.fill(SETS)
    name = f"leaderboard, {SETS} document sets x {_study.SYSTEMS} systems"
    kind = Analysis.Kind.LEADERBOARD
    made = min(_spent(lambda: compute(project=project, kind=kind, key="coverage")) for _ in range(TURNS))
    # This call stores the statistics of the page.
    board(project)
    page = 1000 * _page(project)
    return [
        Row(f"{name}, made again", made, "s of CPU", at_most=ANEW_SECONDS, note=f"best of {TURNS}"),
        Row(f"{name}, page", page, "ms of CPU", at_most=PAGE_MS, note=f"median of {PAGES}"),
    ]


def _page(project: Project) -> float:
    from django.contrib.auth.models import User
    from django.test import Client

    from annotation.models import Membership, Role

    person = User.objects.create_user("viewer")
    Membership.objects.create(project=project, user=person, roles=[Role.VIEWER])
    client = Client()
    client.force_login(person)
    spent = []
    for _ in range(PAGES + 1):
        bodies: list[bytes] = []
        spent.append(
            _spent(lambda: bodies.append(client.get(f"/p/{project.slug}/scores/").content))  # noqa: B023 - called at once
        )
        if b"up to date.</p>" not in bodies[0]:
            raise RuntimeError("the leaderboard's page did not come, or is not up to date")
    # The first request compiles the templates.
    return statistics.median(spent[1:])


def _spent(act: Callable[[], object]) -> float:
    cpu = time.process_time()
    act()
    return time.process_time() - cpu
