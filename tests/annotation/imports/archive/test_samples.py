"""The sample projects, archived and restored: nothing that was said is lost, and every figure is the same."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import pytest
from django.contrib.auth.models import User
from django.test import override_settings

from annotation.analysis.estimates.estimates import estimates
from annotation.imports.archive.restore import restore_project
from annotation.management.commands.verify_scores import differences
from annotation.models import ImportedPerson, Membership
from annotation.sample.sample_projects import add_sample_project
from tests.annotation.imports.archive.round_trip import archived, same_rows

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from annotation.models import Project

pytestmark = pytest.mark.slow


@pytest.fixture
def demo(transactional_db: None) -> Iterator[None]:
    with override_settings(DEMO_SIGN_IN=True):
        yield


def figures(project: Project) -> dict[str, Any]:
    """The estimates as plain values, without what names rows or days."""
    found = estimates(project)
    return {str(target): asdict(table)["systems"] for target, table in found.tables.items()}


@pytest.mark.parametrize("name", ["harbour", "newsroom"])
def test_a_sample_comes_back_as_it_was(demo: None, tmp_path: Path, name: str) -> None:
    project = add_sample_project(name=name, by=None)
    project.refresh_from_db()
    archive = archived(project, tmp_path / "sample.zip")
    accounts = set(User.objects.values_list("pk", flat=True))

    report = restore_project(slug="restored", path=archive, by=None)

    assert list(differences(report.project)) == []
    same_rows(project, report.project, tmp_path)
    assert figures(report.project) == figures(project)
    came = User.objects.exclude(pk__in=accounts)
    assert came.count() == report.people == ImportedPerson.objects.count() > 0
    assert not any(person.is_active or person.has_usable_password() for person in came)
    assert not Membership.objects.filter(project=report.project).exists()
