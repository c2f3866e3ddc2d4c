from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from annotation.assessing.services.assign import assign
from annotation.assessing.services.queue import pull
from annotation.models import Assignment, CoverageJudgment, Reading
from tests.annotation.conftest import HTMX
from tests.annotation.laying import open_queue

if TYPE_CHECKING:
    from django.test import Client

    from tests.annotation.cast import World


@pytest.fixture
def assignment(world: World) -> Assignment:
    return assign(document_set=world.sets["port"], assessor=world.ana, by=None, seed=1)


def first(assignment: Assignment) -> Reading:
    return assignment.readings.order_by("position")[0]


def form_of(reading: Reading) -> str:
    return f"/p/harbour/work/{reading.public_id}/"


def act(world: World, reading: Reading, unit: int = 1) -> str:
    return f"{form_of(reading)}units/{world.units('port')[unit - 1].public_id}/"


def judge_everything(world: World, client: Client, assignment: Assignment, percent: int) -> None:
    for reading in assignment.readings.all():
        for unit in (1, 2):
            client.post(act(world, reading, unit), {"percent": percent, "marks": ["1", "2"]})


def test_a_pulled_set_shows_its_clock_and_the_way_back_before_it_is_begun(world: World, ana: Client) -> None:
    given = assign(document_set=world.sets["bridge"], assessor=world.ana, by=None, seed=1)
    open_queue(world)
    pulled = pull(project=world.project, by=world.ana)
    page = ana.get("/p/harbour/work/").content.decode()
    assert "reserved for you until <span data-lease><time" in page
    assert f"/sets/{pulled.public_id}/give-back/" in page
    assert page.index(f"set-{pulled.public_id}") < page.index(f"set-{given.public_id}")


def test_a_plain_form_saves_a_unit_and_comes_back_to_it(
    world: World, ana: Client, assignment: Assignment
) -> None:
    address = act(world, first(assignment))
    answer = ana.post(address, {"percent": "60", "marks": ["1", "2"], "note": "half of it"})
    unit = world.units("port")[0].public_id
    assert answer["Location"] == f"{form_of(first(assignment))}#unit-{unit}"
    saved = CoverageJudgment.objects.get()
    assert (saved.percent, saved.evidence, saved.reason) == (60, [1, 2], "half of it")


@pytest.mark.parametrize(
    "data", [{"percent": "30"}, {"percent": "120"}, {"percent": "much"}, {"percent": "20", "marks": "9"}]
)
def test_what_makes_no_sense_is_refused_and_nothing_saved(
    world: World, ana: Client, assignment: Assignment, data: dict[str, str]
) -> None:
    address = act(world, first(assignment))
    assert ana.post(address, data).status_code == 422
    notice = ana.post(address, data, headers=HTMX)
    assert (notice.status_code, notice["HX-Retarget"]) == (422, "#notices")
    assert not CoverageJudgment.objects.exists()


def test_the_form_opens_on_the_first_unit_without_a_percent(
    world: World, ana: Client, assignment: Assignment
) -> None:
    ana.post(act(world, first(assignment), 1), {"percent": "60"})
    form = ana.get(form_of(first(assignment))).context["form"]
    assert form.in_hand.number == 2
    assert (form.judged, form.number, len(form.here.summaries)) == (1, 1, 2)


def test_every_unit_has_a_form_that_works_without_scripts(
    world: World, ana: Client, assignment: Assignment
) -> None:
    page = ana.get(form_of(first(assignment))).content.decode()
    for unit in (1, 2):
        assert f'method="post" action="{act(world, first(assignment), unit)}"' in page
    # The page has two reference units with two summary units to mark for each, and six percents for unmarked units.
    assert page.count('name="marks"') == 4
    assert (page.count('name="percent"'), page.count('name="value-')) == (2 * 6, 6)
    assert page.count(">Save unit ") == 2


def test_the_source_is_one_key_away(world: World, ana: Client, assignment: Assignment) -> None:
    address = f"{form_of(first(assignment))}source/"
    assert b"The repair costs 40 million crowns" in ana.get(address).content
    assert b"<html" not in ana.get(address, headers=HTMX).content


@pytest.mark.parametrize("slip", [{"percent": 60}, {"percent": 0, "marks": ["1"]}])
def test_a_set_with_slips_is_closed_when_that_is_confirmed(
    world: World, ana: Client, assignment: Assignment, slip: dict[str, object]
) -> None:
    judge_everything(world, ana, assignment, percent=60)
    ana.post(act(world, first(assignment), 2), {**slip, "follows": "1"})
    close = f"/p/harbour/work/sets/{assignment.public_id}/close/"
    asked = ana.post(close).content.decode()
    assert (
        "1 reference unit has a percent but no marked summary unit, or 0 % with a marked one: summary 1."
        in asked
    )
    assignment.refresh_from_db()
    assert assignment.closed_at is None
    assert ana.post(close, {"confirmed": "1"})["Location"] == "/p/harbour/work/"
    assignment.refresh_from_db()
    assert assignment.closed_at is not None


def test_a_closed_set_is_shown_and_takes_nothing_more(
    world: World, ana: Client, assignment: Assignment
) -> None:
    judge_everything(world, ana, assignment, percent=60)
    ana.post(f"/p/harbour/work/sets/{assignment.public_id}/close/")
    page = ana.get(form_of(first(assignment))).content
    assert b"cannot be changed" in page
    assert b">Save unit " not in page
    assert ana.post(act(world, first(assignment)), {"percent": "0"}, headers=HTMX).status_code == 409
