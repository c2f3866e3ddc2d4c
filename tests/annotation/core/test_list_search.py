from __future__ import annotations

import pytest

from annotation.core.lists import LONGEST_SEARCH, holds, searched_for
from annotation.models import DocumentSet
from tests.annotation.cast import World


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ("PORT", ["port"]),
        ("ÜBER", ["Überlingen.1"]),
        ("überl", ["Überlingen.1"]),
        ("r", ["bridge", "port", "Überlingen.1"]),
        ("%", ["100 %"]),
        ("_", []),
        ("n.1", ["Überlingen.1"]),
        ("ü.e", []),
        ("", ["100 %", "bridge", "port", "Überlingen.1"]),
    ],
)
def test_words_are_found_as_they_stand_in_any_case(world: World, wanted: str, found: list[str]) -> None:
    for name in ("100 %", "Überlingen.1"):
        DocumentSet.objects.create(project=world.project, external_id=name)
    rows = DocumentSet.objects.filter(holds(wanted, "external_id", "group"), project=world.project)
    assert sorted(rows.values_list("external_id", flat=True)) == found


def test_a_search_is_cut_to_what_a_database_takes() -> None:
    assert searched_for("  port\x00 wall ") == "port wall"
    assert len(searched_for("x" * 1000)) == LONGEST_SEARCH
