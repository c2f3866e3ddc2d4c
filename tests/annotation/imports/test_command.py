from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from annotation.models import Event, Project, Summary
from annotation.operator_commands import as_typed
from tests.annotation.imports.files import LAYOUTS, jsonl, nested, row

pytestmark = pytest.mark.django_db


def said(*words: object) -> str:
    out = StringIO()
    call_command("import_dataset", *map(str, words), stdout=out)
    return out.getvalue()


def refused(*words: object) -> str:
    with pytest.raises(CommandError) as caught:
        said(*words)
    assert caught.value.returncode == 1
    return str(caught.value)


def test_project_is_made_and_the_import_reported(tmp_path: Path) -> None:
    lines = said("trams", jsonl(tmp_path, nested()), "--create").splitlines()
    assert lines[0] == "data.jsonl: nested JSONL, into trams"
    assert "  summaries               2        0          0" in lines
    assert "Claims belong to the references and are used for coverage." in lines
    assert lines[-1] == (
        "The project has no members yet. Administrators see it in the browser; to add others: "
        + as_typed("add_member", "trams", "NAME", "owner")
    )
    assert Project.objects.get(slug="trams").document_sets.count() == 1


def test_project_must_be_there_or_be_made(tmp_path: Path) -> None:
    assert refused("trams", jsonl(tmp_path, row())) == "There is no project 'trams'. Add --create to make it."


def test_problems_are_listed_and_nothing_is_made(tmp_path: Path) -> None:
    path = jsonl(tmp_path, row(), row(summary="Other."), row(system="birch", summary=...))
    lines = refused("trams", path, "--create").splitlines()
    assert lines[0].startswith("data.jsonl has 2 problems. Nothing was imported.")
    assert lines[1].startswith("  line 2: repeats the key of line 1")
    assert lines[2].startswith("  line 3, summary: is missing.")
    assert not Project.objects.exists()
    assert not Event.objects.exists()


def test_dry_run_makes_nothing(tmp_path: Path) -> None:
    answer = said("trams", jsonl(tmp_path, row()), "--create", "--dry-run")
    assert "Dry run: nothing was written. Changes on import:" in answer
    assert not Project.objects.exists()


def test_skipped_rows_are_named(tmp_path: Path) -> None:
    answer = said("trams", jsonl(tmp_path, row(), row(system="b", summary=...)), "--create", "--skip-invalid")
    assert "Left out: 1 row, for these reasons:\n  line 2, summary: is missing." in answer


def test_columns_of_other_names_are_mapped(tmp_path: Path) -> None:
    path = LAYOUTS / "cnn_dailymail_outputs.csv"
    pairs = ["document=article", "reference=highlights", "system=model", "summary=output"]
    answer = said("trams", path, "--create", "--map", *pairs)
    assert "  document sets           3        0          0" in answer
    assert "Warning: `document_id` is made from a hash of the document" in answer


def test_a_system_and_a_target_length_are_chosen(tmp_path: Path) -> None:
    path = LAYOUTS / "deepeval_test_cases.csv"
    choices = ("--system", "birch", "--target-length", "14")
    said("trams", path, "--create", *choices)
    summaries = Summary.objects.filter(is_summary=True)
    assert set(summaries.values_list("system__name", "target_words")) == {("birch", 14)}
