from __future__ import annotations

from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import IntegrityError, connection
from django.test.utils import CaptureQueriesContext

from annotation.core.by_hand import copy_rows
from annotation.imports.containers import NamedFile
from annotation.imports.problems import ImportRefused
from annotation.imports.services import import_new_project
from annotation.imports.store import SETS_AT_ONCE
from annotation.models import Check, Project, Score, System, Unit, Verdict
from tests.annotation.imports.files import import_dataset, jsonl, nested, row


def statements(act: Any) -> int:
    with CaptureQueriesContext(connection) as seen:
        act()
    return len(seen)


@pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite takes a number of values a statement")
@pytest.mark.parametrize("is_new", [False, True])
def test_statements_do_not_grow_with_sets(db: None, tmp_path: Path, *, is_new: bool) -> None:
    def counted(slug: str, sets: int, systems: int) -> int:
        summaries = [{"system": f"s{n}", "summary_text": "It rained. Trams stopped."} for n in range(systems)]
        claims = [{"claim_text": "It rained", "verdicts": {one["system"]: 1 for one in summaries}}] * systems
        lines = [nested(doc_id=f"d{n}", systems=summaries, claims=claims) for n in range(sets)]
        path = jsonl(tmp_path, *lines)
        if is_new:
            return statements(
                lambda: import_new_project(slug=slug, by=None, files=[NamedFile(path.name, path)])
            )
        into = Project.objects.create(slug=slug, name=slug)
        return statements(lambda: import_dataset(project=into, path=path, by=None))

    few, many = counted("few", 1, 1), counted("many", SETS_AT_ONCE, 3)
    assert many == few
    assert few < 70


@pytest.mark.django_db
@pytest.mark.parametrize(
    "line",
    [
        pytest.param(nested(), id="claims of the reference"),
        pytest.param(nested(reference_text=None), id="claims of the documents"),
        pytest.param(
            nested(
                systems=[{"system": "alder", "summary_text": "It rained. Trams stopped."}],
                claims=[{"claim_text": "Trams stopped.", "verdicts": {"alder": "unsure"}}],
            ),
            id="claims of the summaries",
        ),
        pytest.param(
            nested(systems=[{"system": name, "summary_text": ""} for name in ("alder", "birch")]),
            id="empty summaries",
        ),
        pytest.param(
            nested(
                claims=[
                    {"claim_text": "It rained", "weight": 2.5, "verdicts": {"alder": 1}},
                    {"claim_text": "Oslo"},
                ]
            ),
            id="weights, and claims that nobody answered",
        ),
        pytest.param(nested(claims=[]), id="no claims"),
        pytest.param(
            row(system="REF", reference_author="REF", summary="Rain.", reference="Rain."), id="own reference"
        ),
        pytest.param(row(reference=...), id="no reference"),
        pytest.param(row(target_words=1, questions=["Did it rain?"]), id="over length"),
    ],
)
@pytest.mark.parametrize("over_length", Project.OverLength.values)
def test_new_sets_are_scored_as_they_would_be_later(
    project: Project, tmp_path: Path, line: dict[str, Any], over_length: str
) -> None:
    project.over_length = over_length
    project.save()
    import_dataset(project=project, path=jsonl(tmp_path, line), by=None)
    assert Score.objects.filter(project=project).exists()
    call_command("verify_scores", project.slug, stdout=StringIO())


@pytest.mark.django_db
def test_what_is_added_to_a_set_that_was_there_is_scored(project: Project, tmp_path: Path) -> None:
    import_dataset(project=project, path=jsonl(tmp_path, nested(claims=[])), by=None)
    import_dataset(project=project, path=jsonl(tmp_path, nested(), nested(doc_id="d2")), by=None)
    assert Score.objects.filter(claims=2).count() == 4
    call_command("verify_scores", project.slug, stdout=StringIO())


@pytest.mark.django_db
def test_what_the_database_forbids_is_not_stored(project: Project) -> None:
    with pytest.raises(IntegrityError):
        copy_rows(System, ("project_id", "name"), [(project.pk, "a"), (project.pk, "a")])


@pytest.mark.django_db
def test_columns_that_are_not_named_hold_their_defaults(project: Project, tmp_path: Path) -> None:
    import_dataset(project=project, path=jsonl(tmp_path, nested()), by=None)
    for kind in (Check, Verdict, Unit):
        stored = kind._default_manager.first()
        assert stored is not None
        plain = kind()
        for field in kind._meta.concrete_fields:
            # The file gives none of these columns a value.
            if field.attname in {"had_seen", "votes", "leased_to_id", "weight", "made_by_id"}:
                assert getattr(stored, field.attname) == getattr(plain, field.attname)
        assert (
            len({*kind._default_manager.values_list("public_id", flat=True)}) == kind._default_manager.count()
        )


@pytest.mark.django_db
@pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL has no such limit")
def test_a_file_too_large_for_sqlite_is_refused_with_the_way_out(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("annotation.imports.services.MOST_BYTES_ON_SQLITE", 10)
    with pytest.raises(ImportRefused, match="use PostgreSQL"):
        import_dataset(project=project, path=jsonl(tmp_path, nested()), by=None)
