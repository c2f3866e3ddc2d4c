"""The sample projects and a judged study, archived and restored: nothing that was said is lost, no figure moves."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import override_settings

from annotation.adjudicating.services.adjudicate import decide_check
from annotation.analysis.estimates.estimates import estimates
from annotation.imports.archive.cells import Ids
from annotation.imports.archive.restore import restore_project
from annotation.management.commands.verify_scores import differences
from annotation.models import Check, ImportedPerson, Membership, Role
from annotation.sample.sample_projects import add_sample_project
from tests.annotation.imports.archive.judged_study import NAME, judged_study
from tests.annotation.imports.archive.round_trip import archived, names_after, rows_in, same_rows
from tests.annotation.judging.processes import manage

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from annotation.models import Project

pytestmark = pytest.mark.slow


@pytest.fixture
def demo(transactional_db: None) -> Iterator[None]:
    with override_settings(DEMO_SIGN_IN=True):
        yield


def works(environment: dict[str, str], *arguments: str) -> str:
    done = manage(environment, *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def figures(project: Project) -> dict[str, Any]:
    """The estimates as plain values, without what names rows or days."""
    found = estimates(project)
    return {str(target): asdict(table)["systems"] for target, table in found.tables.items()}


@pytest.fixture
def project(demo: None, request: pytest.FixtureRequest, name: str) -> Project:
    """The project of that name, with everything that people said; the judged study where its data are."""
    if name == NAME:
        made = judged_study(request.getfixturevalue("judged_data"))
    else:
        made = add_sample_project(name=name, by=None)
        decide_one(made)
    made.refresh_from_db()
    return made


@pytest.mark.parametrize("name", ["harbour", "newsroom", NAME])
def test_a_project_comes_back_as_it_was(project: Project, tmp_path: Path, name: str) -> None:
    archive = archived(project, tmp_path / "sample.zip")
    for kind in (*SAID[name], "adjudications"):
        assert rows_in(archive, kind) != [], kind
    accounts = set(User.objects.values_list("pk", flat=True))

    report = restore_project(slug="restored", path=archive, by=None)

    assert list(differences(report.project)) == []
    same_rows(project, report.project, tmp_path)
    assert figures(report.project) == figures(project)
    assert any(figures(project).values()) == ("draws" in SAID[name])
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
    person = User.objects.create(username="decider")
    Membership.objects.create(project=project, user=person, roles=[Role.ADJUDICATOR])
    check = Check.objects.filter(project=project, is_current=True).order_by("pk")[0]
    decide_check(check=check, by=person, label="unsure", reason="It may be meant.")


@pytest.mark.parametrize("name", SAID)
def test_a_project_goes_from_postgresql_to_sqlite_and_back(
    project: Project, tmp_path: Path, subprocess_env: dict[str, str], name: str
) -> None:
    if connection.vendor != "postgresql":
        pytest.skip("this run of the tests is on SQLite")
    there, back = archived(project, tmp_path / "there.zip"), tmp_path / "back.zip"

    elsewhere = {**subprocess_env, "DATABASE_URL": f"sqlite:///{tmp_path / 'other.sqlite3'}"}
    works(elsewhere, "migrate", "--verbosity", "0")
    works(elsewhere, "import_dataset", "elsewhere", str(there), "--create")
    works(elsewhere, "verify_scores", "elsewhere")
    # By name, which is there the pseudonym of the first archive: so it can be told who is who.
    works(elsewhere, "export_dataset", "elsewhere", "--level", "archive", "--names", "-o", str(back))

    [passed] = rows_in(back, "project")
    ranked = json.loads(works(elsewhere, "leaderboard", "elsewhere", "--format", "json"))
    before = json.loads(works(subprocess_env, "leaderboard", project.slug, "--format", "json"))
    assert ranked == {**Ids(passed["id"]).inside(before), "project": "elsewhere"}

    came = restore_project(slug="returned", path=back, by=None).project
    assert list(differences(came)) == []
    people = {who.removesuffix("@elsewhere"): now for who, now in names_after(came).items()}
    same_rows(project, came, tmp_path, through=[passed["id"]], people=people)
    assert figures(came) == figures(project)
