from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from django.db import transaction
from django.db.models import F
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from annotation.imports.containers import NamedFile
from annotation.imports.problems import ImportRefused
from annotation.imports.services import ImportReport, import_new_project
from annotation.models import Comparison, Event, Project
from tests.annotation.imports.files import HEADER, import_dataset, jsonl, nested, row

MANY = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])

WILD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(alphabet=st.characters(), max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
NEAR = st.fixed_dictionaries(
    {},
    optional={
        **dict.fromkeys(("document", "reference", "system", "summary", "target_words", "language"), WILD),
        "metadata": st.dictionaries(st.text(alphabet=st.characters(), max_size=4), WILD, max_size=3),
        "group": st.text(alphabet=st.characters(), max_size=4),
    },
)
NEAR_NESTED = st.fixed_dictionaries(
    {},
    optional={
        "reference_text": WILD,
        "systems": WILD
        | st.lists(st.fixed_dictionaries({"system": WILD, "summary_text": WILD}), min_size=1, max_size=2),
        "claims": WILD
        | st.lists(st.fixed_dictionaries({"claim_text": WILD, "weight": WILD, "verdicts": WILD}), max_size=2),
    },
)
PLAIN_ROWS = st.lists(
    st.builds(
        row,
        document_id=st.sampled_from(["d1", "d2"]),
        system=st.sampled_from(["ada", "birch"]),
        summary=st.sampled_from(["Rain fell.", "Trams stopped."]),
        reference=st.sampled_from(["", "Rain fell.", "Trams stopped."]),
        reference_id=st.sampled_from(["", "A"]),
        reference_author=st.sampled_from(["", "ada"]),
        target_words=st.sampled_from([None, 5, 10]),
    ),
    min_size=1,
    max_size=6,
)


@contextmanager
def rolled_back() -> Iterator[None]:
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def brought(name: str, content: bytes) -> ImportReport | None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(content)
        try:
            return import_new_project(
                slug="wild", files=[NamedFile(path.name, path)], by=None, skip_invalid=True
            )
        except ImportRefused:
            return None


@pytest.mark.django_db
@MANY
@given(content=st.binary(max_size=200), name=st.sampled_from(["a.csv", "a.jsonl", "a.parquet", "a"]))
def test_arbitrary_bytes_are_refused(content: bytes, name: str) -> None:
    for beginning in (b"", b"{", b"PAR1", HEADER.encode()):
        assert brought(name, beginning + content) is None
        assert not Project.objects.exists()
        assert not Event.objects.exists()


@pytest.mark.django_db
@MANY
@given(changes=NEAR)
def test_any_values_are_imported_or_refused(changes: dict[str, Any]) -> None:
    with rolled_back():
        brought("a.jsonl", json.dumps({**row(), **changes}).encode())


@pytest.mark.django_db
@MANY
@given(changes=NEAR_NESTED)
def test_any_nested_values_are_imported_or_refused(changes: dict[str, Any]) -> None:
    with rolled_back():
        brought("a.jsonl", json.dumps({**nested(), **changes}).encode())


@pytest.mark.django_db
@MANY
@given(
    cells=st.lists(
        st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=6), min_size=6, max_size=6
    )
)
def test_any_cells_are_imported_or_refused(cells: list[str]) -> None:
    with rolled_back():
        brought("a.csv", (HEADER + ",".join(cells)).encode())


@pytest.mark.django_db
@MANY
@given(first=PLAIN_ROWS, second=PLAIN_ROWS)
def test_a_file_imported_twice_changes_nothing_whatever_was_there(
    first: list[Any], second: list[Any], tmp_path: Path
) -> None:
    with rolled_back():
        project = Project.objects.create(slug="wild", name="Wild")
        for rows in (first, second):
            report = _imported(project, jsonl(tmp_path, *rows))
            again = _imported(project, jsonl(tmp_path, *rows))
            assert (again is None) == (report is None)
            assert again is None or not again.has_changes
        own = Comparison.objects.filter(
            summary__system=F("reference__system"), summary__text=F("reference__text")
        )
        assert not own.exists()


def _imported(project: Project, path: Path) -> ImportReport | None:
    try:
        return import_dataset(project=project, path=path, by=None, skip_invalid=True)
    except ImportRefused:
        # Do not catch Conflict: nobody else works on the project, so it would be a fault.
        return None
