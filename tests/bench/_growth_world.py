"""Bring GROWTH_SIZE document sets in, judge them, write them out and show them, in this one process; print as JSON
the milliseconds of processor time of each, by set or by page. GROWTH_KEEPER is the process that holds PostgreSQL.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import django
from django.conf import settings
from django.core.management import call_command
from django.db import connection

from tests.bench._volume_world import document_text, processor_seconds

if TYPE_CHECKING:
    from django.test import Client

    from annotation.models import Project

SIZE = int(os.environ.get("GROWTH_SIZE", "1000"))
WARM_UP, SHOWN = 5, 20
TICKS = os.sysconf("SC_CLK_TCK")


def main() -> dict[str, float]:
    from django.contrib.auth.models import User
    from django.test import Client

    from annotation.core.jobs import Lane
    from annotation.judging.services.start_run import start_run
    from annotation.models import Judge, Membership, Project, Role, Run
    from annotation.perform_job import pull

    call_command("migrate", verbosity=0)
    project = _brought("warm-up", 20)
    judge = Judge.objects.create(name="lexical", kind=Judge.Kind.LEXICAL)

    def judged(project: Project) -> None:
        run = start_run(project=project, judge=judge, metrics=["coverage", "alignment"], by=None)
        pull(Lane.RUNS)
        run.refresh_from_db()
        if run.state != Run.State.FINISHED or run.stop_reason:
            raise RuntimeError(f"the run ended as {run.state}: {run.stop_reason}")

    # What the first of its kind imports, prepares and compiles is not what grows.
    judged(project)
    _out(project)
    told = {}
    told["import, a set"] = _spent(lambda: _brought("study", SIZE)) / SIZE
    project = Project.objects.get(slug="study")
    if connection.vendor == "postgresql":
        # A running server does so by itself, a minute after rows came in.
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")
    told["lexical run, a set"] = _spent(lambda: judged(project)) / SIZE
    told["export of claims, a set"] = _spent(lambda: _out(project)) / SIZE
    person = User.objects.create_user("rex")
    Membership.objects.create(project=project, user=person, roles=[Role.OWNER])
    client = Client(headers={"HX-Request": "true"}, SERVER_NAME="localhost")
    client.force_login(person)
    # No worker lives: the first page makes the statistics.
    told["statistics of the leaderboard, a set"] = _spent(lambda: _shown(client, "scores/")) / SIZE
    for what, path in {
        "leaderboard page": "scores/",
        "review queue page": "review/",
        "review queue by effect": "review/?order=effect",
    }.items():
        told[what] = _page(client, path)
    return told


def _brought(slug: str, size: int) -> Project:
    from annotation.models import Project

    file = Path(settings.VAR_DIR) / "sets.jsonl"
    with file.open("w") as stream:
        stream.writelines(_lines(size))
    with Path(os.devnull).open("w") as nowhere:
        call_command("import_dataset", slug, str(file), create=True, stdout=nowhere)
    return Project.objects.get(slug=slug)


def _lines(size: int) -> Iterator[str]:
    for number in range(size):
        fact, *filler = document_text(number)
        one = {
            "doc_id": f"made-{number:06}",
            "source_text": " ".join([fact, *filler]),
            "systems": [{"system": "one", "summary_text": filler[number % len(filler)]}],
            "claims": [{"claim_text": fact.rstrip("."), "verdicts": {"one": number % 2}}],
        }
        yield f"{json.dumps(one)}\n"


def _out(project: Project) -> None:
    path = Path(settings.VAR_DIR) / "claims.csv"
    with Path(os.devnull).open("w") as nowhere:
        call_command(
            "export_dataset", project.slug, level="claims", format="csv", output=path, stdout=nowhere
        )


def _shown(client: Client, path: str) -> None:
    answer = client.get(f"/p/study/{path}")
    if answer.status_code != 200:
        raise RuntimeError(f"{path} answered {answer.status_code}")


def _page(client: Client, path: str) -> float:
    for _ in range(WARM_UP):
        _shown(client, path)

    def shown() -> None:
        for _ in range(SHOWN):
            _shown(client, path)

    return _spent(shown) / SHOWN


def _spent(act: Callable[[], object]) -> float:
    """Milliseconds of processor time, the database's among them."""
    before = time.process_time() + _of_database()
    act()
    return 1000 * (time.process_time() + _of_database() - before)


def _of_database() -> float:
    """Seconds that the PostgreSQL server has used so far, with all its processes, those that ended among them."""
    keeper = os.environ.get("GROWTH_KEEPER")
    if keeper is None:
        return 0.0
    postmaster = _children(keeper)[0]
    ended = [int(each) for each in _stat(postmaster)[13:15]]
    running = sum(processor_seconds(int(each)) for each in _children(postmaster))
    return processor_seconds(int(postmaster)) + running + sum(ended) / TICKS


def _children(pid: str) -> list[str]:
    return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()


def _stat(pid: str) -> list[str]:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


if __name__ == "__main__":
    django.setup()
    sys.stdout.write(json.dumps(main()) + "\n")
