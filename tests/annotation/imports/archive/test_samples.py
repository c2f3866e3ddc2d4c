"""The sample projects and a judged study, archived and restored: nothing that was said is lost, no figure moves."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict
from itertools import chain
from typing import TYPE_CHECKING, Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connection
from django.test import override_settings

from annotation.adjudicating.services.adjudicate import decide_check
from annotation.analysis.estimates.estimates import estimates
from annotation.imports.archive.cells import Ids
from annotation.imports.archive.restore import restore_project
from annotation.management.commands.verify_scores import differences
from annotation.models import Check, ImportedPerson, Membership, Project, Role
from annotation.sample.sample_projects import add_sample_project
from tests.annotation.imports.archive.judged_study import NAME, judged_study
from tests.annotation.imports.archive.round_trip import archived, names_after, rows_in, same_rows
from tests.annotation.judging.processes import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.slow


@pytest.fixture
def demo(transactional_db: None) -> Iterator[None]:
    with override_settings(DEMO_SIGN_IN=True):
        yield


IN_TURN = """
import io, json, sys
import django
django.setup()
from django.core.management import call_command
for words in json.loads(sys.argv[1]):
    said = io.StringIO()
    call_command(*words, stdout=said)
    print(json.dumps(said.getvalue()))
"""


def works(environment: dict[str, str], *commands: tuple[str, ...]) -> list[str]:
    """The commands of manage.py one after the other, in one process; what each said."""
    done = subprocess.run(
        [sys.executable, "-c", IN_TURN, json.dumps(commands)],
        env=environment,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def figures(project: Project) -> dict[str, Any]:
    """The estimates as plain values, without what names rows or days."""
    found = estimates(project)
    return {str(target): asdict(table)["systems"] for target, table in found.tables.items()}


Make = Callable[[str], Project]


@pytest.fixture
def make(demo: None, request: pytest.FixtureRequest) -> Make:
    """The project of a name, with everything that people said; the judged study where its data are."""

    def made(name: str) -> Project:
        if name == NAME:
            project = judged_study(request.getfixturevalue("judged_data"))
        else:
            project = add_sample_project(name=name, by=None)
            decide_one(project)
        project.refresh_from_db()
        return project

    return made


@pytest.mark.parametrize("name", ["harbour", "newsroom", NAME])
def test_a_project_comes_back_as_it_was(make: Make, tmp_path: Path, name: str) -> None:
    project = make(name)
    archive = archived(project, tmp_path / "sample.zip")
    for kind in (*SAID[name], "adjudications"):
        assert rows_in(archive, kind) != [], kind
    accounts = set(User.objects.values_list("pk", flat=True))

    report = restore_project(slug="restored", path=archive, by=None)

    assert list(differences(report.project)) == []
    same_rows(project, report.project, tmp_path)
    shown = figures(project)
    assert figures(report.project) == shown
    assert any(shown.values()) == ("draws" in SAID[name])
    came = User.objects.exclude(pk__in=accounts)
    assert came.count() == report.people == ImportedPerson.objects.count() > 0
    assert not any(person.is_active or person.has_usable_password() for person in came)
    assert not Membership.objects.filter(project=report.project).exists()


SAID = {
    "harbour": ("unit_judgments", "summary_judgments"),
    "newsroom": ("draws", "drawn_checks", "verdicts", "check_looks"),
    NAME: ("draws", "drawn_checks", "verdicts", "check_looks", "unit_judgments"),
}
"""What a project has that is not to be lost: percents, marks and quality answers; a finished random sample."""


def decide_one(project: Project) -> None:
    """A decision on a check, which the samples have none of."""
    person = User.objects.create(username=f"decider of {project.slug}")
    Membership.objects.create(project=project, user=person, roles=[Role.ADJUDICATOR])
    check = Check.objects.filter(project=project, is_current=True).order_by("pk")[0]
    decide_check(check=check, by=person, label="unsure", reason="It may be meant.")


@pytest.mark.parametrize("names", [("harbour", "newsroom"), (NAME,)], ids=" and ".join)
def test_projects_go_from_postgresql_to_sqlite_and_back(
    make: Make, tmp_path: Path, subprocess_env: dict[str, str], names: tuple[str, ...]
) -> None:
    if connection.vendor != "postgresql":
        pytest.skip("this run of the tests is on SQLite")
    projects = {name: make(name) for name in names}
    there = {name: archived(project, tmp_path / f"{name}.zip") for name, project in projects.items()}
    back = {name: tmp_path / f"{name}-back.zip" for name in names}

    elsewhere = {**subprocess_env, "DATABASE_URL": f"sqlite:///{tmp_path / 'other.sqlite3'}"}
    trips = [
        (
            ("import_dataset", f"{name}-elsewhere", str(there[name]), "--create"),
            ("verify_scores", f"{name}-elsewhere"),
            # By name, which is there the pseudonym of the first archive: so it can be told who is who.
            ("export_dataset", f"{name}-elsewhere", "--level", "archive", "--names", "-o", str(back[name])),
            ("leaderboard", f"{name}-elsewhere", "--format", "json"),
        )
        for name in names
    ]
    _, *said = works(elsewhere, ("migrate", "--verbosity", "0"), *chain(*trips))

    for (name, project), ranked in zip(projects.items(), said[3::4], strict=True):
        [passed] = rows_in(back[name], "project")
        before = io.StringIO()
        call_command("leaderboard", project.slug, "--format", "json", stdout=before)
        then = Ids(passed["id"]).inside(json.loads(before.getvalue()))
        assert json.loads(ranked) == {**then, "project": f"{name}-elsewhere"}

        came = restore_project(slug=f"{name}-returned", path=back[name], by=None).project
        assert list(differences(came)) == []
        people = {who.removesuffix(f"@{name}-elsewhere"): now for who, now in names_after(came).items()}
        same_rows(project, came, tmp_path, through=[passed["id"]], people=people)
        assert figures(came) == figures(project)
