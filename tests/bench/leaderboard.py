"""The leaderboard of 25 systems: made anew with 10,000 draws, over 100 document sets and over 2,500; and its page.

On SQLite, so that what the database does counts as processor time too. The bars are compared with processor time,
which a busy machine does not stretch; the time on the clock stands beside it.
"""

from __future__ import annotations

import os
import random
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from tests.bench import Row

if TYPE_CHECKING:
    from annotation.models import Project

NAME = "leaderboard"
SYSTEMS = 25
SIZES = {100: 1.0, 2_500: 5.0}
"""Document sets, and the seconds in which their leaderboard must be made."""
TURNS = 3
PAGES = 20
PAGE_MS = 100.0
AT_ONCE = 2_000


def run() -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        os.environ["COVERDICT_VAR"] = folder
        os.environ["DATABASE_URL"] = f"sqlite:///{Path(folder) / 'leaderboard.sqlite3'}"
        os.environ["DJANGO_SETTINGS_MODULE"] = "annotation.config.settings.test"
        import django
        from django.core.management import call_command

        django.setup()
        call_command("migrate", verbosity=0)
        return [row for sets, bar in SIZES.items() for row in _measure(sets, bar)]


def _measure(sets: int, bar: float) -> list[Row]:
    from annotation.analysis.leaderboard.leaderboards import board
    from annotation.analysis.make_analysis import compute
    from annotation.models import Analysis, Score, Worker
    from annotation.workers import report_alive

    project = filled(sets)
    name = f"{sets:,} document sets x {SYSTEMS} systems"
    kind = Analysis.Kind.LEADERBOARD
    made, on_clock = _best(lambda: compute(project=project, kind=kind, key="board coverage"), TURNS)
    # The first turn stores what the page shows.
    _spent(lambda: board(project))
    asked, waited = _pages(project, says=b"up to date.</p>")
    # A score written anew, and a worker that never comes: every page counts.
    Score.objects.filter(project=project, summary__system__name="system 00").update(revision=0)
    report_alive("nobody")
    counted, counted_on_clock = _pages(project, says=b"An update is being computed")
    Worker.objects.all().delete()
    return [
        Row(
            f"{name}, made anew",
            made,
            "s of CPU",
            at_most=bar,
            note=f"{on_clock:.2f} s on the clock, best of {TURNS}",
        ),
        Row(
            f"{name}, page from stored",
            1000 * asked,
            "ms of CPU",
            at_most=PAGE_MS,
            note=f"{1000 * waited:.0f} ms on the clock, median of {PAGES}",
        ),
        Row(
            f"{name}, page with newer answers",
            1000 * counted,
            "ms of CPU",
            note=f"{1000 * counted_on_clock:.0f} ms on the clock, median of {PAGES}",
        ),
    ]


def _pages(project: Project, *, says: bytes) -> tuple[float, float]:
    """Processor time and time on the clock of one request for the page, the median."""
    from django.contrib.auth.models import User
    from django.test import Client

    from annotation.models import Membership, Role

    person, _ = User.objects.get_or_create(username=f"viewer {project.slug}")
    Membership.objects.get_or_create(project=project, user=person, defaults={"roles": [Role.VIEWER]})
    client = Client()
    client.force_login(person)
    address = f"/p/{project.slug}/scores/"
    spent = []
    for _ in range(PAGES + 1):
        bodies: list[bytes] = []
        spent.append(_spent(lambda: bodies.append(client.get(address).content)))  # noqa: B023 - called at once
        if says not in bodies[0]:
            raise RuntimeError(f"the leaderboard's page did not come, or does not say {says!r}")
    # The first one compiles the templates.
    return statistics.median(cpu for cpu, _ in spent[1:]), statistics.median(wall for _, wall in spent[1:])


def _best(act: Callable[[], object], turns: int) -> tuple[float, float]:
    spent = [_spent(act) for _ in range(turns)]
    return min(cpu for cpu, _ in spent), min(wall for _, wall in spent)


def _spent(act: Callable[[], object]) -> tuple[float, float]:
    cpu, wall = time.process_time(), time.perf_counter()
    act()
    return time.process_time() - cpu, time.perf_counter() - wall


def filled(sets: int) -> Project:
    """A project whose every score has a value, so that nothing is skipped."""
    from annotation.models import SCORES, DocumentSet, Judge, Project, Score, Summary, System

    judge, _ = Judge.objects.get_or_create(name="lexical", kind=Judge.Kind.LEXICAL)
    project = Project.objects.create(slug=f"sets-{sets}", name=f"{sets} sets", deciding_judge=judge)
    systems = System.objects.bulk_create(
        System(project=project, name=f"system {number:02}") for number in range(SYSTEMS)
    )
    documents = DocumentSet.objects.bulk_create(
        (DocumentSet(project=project, external_id=f"set {number:04}") for number in range(sets)),
        batch_size=AT_ONCE,
    )
    summaries = Summary.objects.bulk_create(
        (
            Summary(
                document_set=document, system=system, is_peer=True, target_words=100, text="One sentence."
            )
            for document in documents
            for system in systems
        ),
        batch_size=AT_ONCE,
    )
    chance = random.Random(0)
    Score.objects.bulk_create(
        (
            Score(
                project=project,
                summary=summary,
                peer_words=2,
                claims=10,
                signature="coverdict|v:bench",
                **{name: chance.random() for name in SCORES},
            )
            for summary in summaries
        ),
        batch_size=AT_ONCE,
    )
    return project


if __name__ == "__main__":
    for row in run():
        print(row)
