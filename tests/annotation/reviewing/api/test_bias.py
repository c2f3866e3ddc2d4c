"""The bias watch over the API: figures with their cases, and the same as a file."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

import pytest

from tests.annotation.answering import answer_fourteen

if TYPE_CHECKING:
    from tests.annotation.cast import World
    from tests.annotation.conftest import ApiDoor

HERE = "/api/v1/projects/harbour/bias/"


def test_every_figure_stands_beside_its_cases(world: World, client_of: ApiDoor) -> None:
    answer_fourteen(world)
    told = client_of("mona").get(HERE).json()
    cleo, rex = told["people"]
    assert (cleo["person"], rex["person"]) == ("cleo", "rex")
    # See the tests of the query for the calculation.
    assert rex["answers"] == 14
    assert rex["overridden_unseen"] == {"count": 6, "n": 10, "share": 0.6}
    assert rex["overridden_seen"] == {"count": 0, "n": 4, "share": None}
    assert rex["switched"] == {"count": 4, "n": 10, "share": 0.4}
    assert rex["withstood"] == {"count": 0, "n": 0, "share": None}
    assert rex["time"] == {"median_ms": 8000.0, "n": 14}
    agreement = {"agreed": 9, "pairs": 12, "share": 0.75, "kappa": pytest.approx(8 / 17)}
    assert rex["agreement"] == agreement
    assert told["project"]["agreement"] == agreement | {"kappa": pytest.approx(7 / 15)}
    assert told["project"]["switched"] == {"count": 4, "n": 17, "share": pytest.approx(4 / 17)}
    assert "person" not in told["project"]


def test_the_file_has_a_line_for_the_project_and_one_for_each_person(
    world: World, client_of: ApiDoor
) -> None:
    world.rex.username = "=rex"
    world.rex.save()
    answer_fourteen(world)
    answer = client_of("mona").get(f"{HERE}file/?format=csv")
    assert answer["Content-Disposition"] == 'attachment; filename="harbour-bias.csv"'
    lines = list(csv.DictReader(io.StringIO(answer.content.decode())))
    # No cell acts as a formula.
    assert [(line["person"], line["answers"]) for line in lines] == [
        ("", "26"),
        ("'=rex", "14"),
        ("cleo", "12"),
    ]
    rex = lines[1]
    assert (rex["switched"], rex["switched_n"], rex["switched_share"]) == ("4", "10", "0.4")
    assert (rex["overridden_seen"], rex["overridden_seen_n"], rex["overridden_seen_share"]) == ("0", "4", "")
    assert (rex["median_ms"], rex["median_ms_n"]) == ("8000.0", "14")
    told = client_of("mona").get(f"{HERE}file/?format=json").json()
    assert told["project"]["person"] is None
    assert [person["agreement_n"] for person in told["people"]] == [12, 12]


def test_other_formats_are_refused(world: World, client_of: ApiDoor) -> None:
    assert client_of("mona").get(f"{HERE}file/?format=xlsx").status_code == 400
