"""Progress over the API: one's own work, sets, people, systems, closed sittings, and quality answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.models import Membership, Project, Sitting, SummaryJudgment
from tests.annotation.cast import PEERS, finish
from tests.annotation.laying import add_sets, judge_and_close
from tests.annotation.sitting import repeat, say, sit

if TYPE_CHECKING:
    from tests.annotation.cast import World
    from tests.annotation.conftest import ApiDoor

HERE = "/api/v1/projects/harbour/"


def get(client: Any, path: str) -> Any:
    answer = client.get(f"{HERE}{path}")
    assert answer.status_code == 200, answer.content
    return answer.json()


def closed_twice(world: World, name: str) -> Sitting:
    """A closed sitting of six units of 90 s each, in which alder came twice."""
    sitting = sit(world, name, "port")
    repeat(sitting, "alder")
    for system in PEERS:
        say(sitting, system, (60, [1], 90_000), (20, [2], 90_000))
    say(sitting, "alder", (60, [1], 90_000), (100, [2], 90_000), again=True)
    return finish(sitting)


# 60 and 60, 20 and 100: one of two equal and within 20, (0 + 80) / 2 = 40 apart.
AGREEMENT = {"items": 2, "exact": 0.5, "within_step": 0.5, "mean_difference": 40.0}
FLAGS = {
    "sittings": 1,
    "summaries": 3,
    "units": 6,
    "fast_summaries": 0,
    "fast_units": 0,
    "alike_sittings": 0,
    "percents_without_marks": 0,
    "marks_without_percent": 0,
    "own_models": 0,
    "own_peers": 0,
    "given_again": 0,
}


def test_ones_own_work(world: World, client_of: ApiDoor) -> None:
    closed = closed_twice(world, "ana")
    opened = sit(world, "ana", "bridge")
    sit(world, "ben", "port")
    desk = get(client_of("ana"), "own-work/")
    assert [row["id"] for row in desk["submitted"]] == [closed.public_id]
    assert [row["id"] for row in desk["open"]] == [opened.public_id]
    assert desk["drafts"] == []
    assert desk["submitted"][0]["active_ms"] == 540_000
    # Six units in nine minutes.
    assert desk["effort"] == {"judged_units": 6, "active_ms": 540_000, "hours": 0.15, "units_per_hour": 40.0}
    # While there is work in progress, nothing tells that a summary came twice.
    assert desk["agreement"]["items"] == 0
    assert desk["queue"] == {"sets": 0, "in_hand": None}
    assert desk["lapsed"] == []
    for system in PEERS:
        say(opened, system, (60, [1], 0), (20, [2], 0))
    finish(opened)
    assert get(client_of("ana"), "own-work/")["agreement"] == AGREEMENT


def test_sets_page_by_page(world: World, client_of: ApiDoor) -> None:
    closed_twice(world, "ana")
    mona = client_of("mona")
    first = get(mona, "progress/sets/?limit=1")
    assert first["results"] == [
        {
            "id": world.sets["bridge"].public_id,
            "document_id": "bridge",
            "waiting": 0,
            "open": 0,
            "closed": 0,
            "judged_units": 0,
            "units": 0,
        }
    ]
    (second,) = mona.get(first["next"]).json()["results"]
    assert (second["document_id"], second["closed"], second["judged_units"], second["units"]) == (
        "port",
        1,
        6,
        6,
    )


def test_people(world: World, client_of: ApiDoor) -> None:
    closed_twice(world, "ana")
    ana, ben = get(client_of("mona"), "progress/people/")
    assert (ana["person"], ana["closed"], ana["hours"], ana["units_per_hour"]) == ("ana", 1, 0.15, 40.0)
    assert (ana["agreement"], ana["flags"]) == (AGREEMENT, FLAGS)
    assert (ben["person"], ben["units_per_hour"], ben["agreement"]["exact"]) == ("ben", None, None)


def test_systems(world: World, client_of: ApiDoor) -> None:
    closed_twice(world, "ana")
    alder, _ = get(client_of("vic"), "progress/systems/")["results"]
    assert alder["system"] == "alder"
    assert alder["targets"] == [
        {"target_words": 20, "comparisons": 2, "given": 1, "closed": 1, "judgments": 1}
    ]


def test_closed_sittings(world: World, client_of: ApiDoor) -> None:
    sitting = closed_twice(world, "ana")
    mona = client_of("mona")
    (row,) = get(mona, "progress/sittings/?assessor=ana")["results"]
    assert (row["id"], row["active_ms"], row["seconds_per_unit"]) == (sitting.public_id, 540_000, 90.0)
    assert row["flags"] == FLAGS
    assert get(mona, "progress/sittings/?assessor=ben")["results"] == []


def test_quality(world: World, client_of: ApiDoor) -> None:
    Project.objects.update(question_set="duc2006")
    sitting = sit(world, "ana", "port")
    SummaryJudgment.objects.create(
        sitting=sitting, peer=world.peers["port", "alder"], quality_answers={"focus": 4}
    )
    Sitting.objects.update(closed_at=timezone.now())
    (table,) = get(client_of("vic"), "quality/")
    assert (table["target_words"], len(table["questions"])) == (20, 5)
    (alder,) = table["systems"]
    assert {"question": "focus", "mean": 4.0, "n": 1} in alder["means"]
    assert get(client_of("vic"), "quality/?target_words=100") == []


def test_the_blind_are_told_how_much_and_not_what(world: World, client_of: ApiDoor) -> None:
    closed_twice(world, "ben")
    sit(world, "ana", "port")
    Membership.objects.filter(user=world.ana).update(roles=["assessor", "manager"])
    ana = client_of("ana")
    for row in get(ana, "progress/people/"):
        assert (row["agreement"], row["flags"]) == (None, None)
    units = {row["document_id"]: row["units"] for row in get(ana, "progress/sets/")["results"]}
    assert units == {"bridge": 0, "port": None}


@pytest.mark.parametrize(
    "path", ["progress/sets/", "progress/people/", "progress/systems/", "progress/sittings/"]
)
def test_the_number_of_queries_does_not_grow(world: World, client_of: ApiDoor, path: str) -> None:
    closed_twice(world, "ana")
    mona = client_of("mona")

    def count() -> int:
        with CaptureQueriesContext(connection) as asked:
            get(mona, path)
        return len(asked)

    before = count()
    add_sets(world, ["third", "fourth", "fifth"], targets=(100, 10))
    for name in ("third", "fourth", "bridge"):
        for person in ("ana", "ben"):
            judge_and_close(sit(world, person, name))
    assert count() == before
