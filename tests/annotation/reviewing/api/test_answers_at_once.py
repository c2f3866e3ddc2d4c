from __future__ import annotations

from typing import TYPE_CHECKING

from annotation.models import Project, Verdict
from tests.annotation.api.routes import PREFIX
from tests.annotation.cast import World

if TYPE_CHECKING:
    from tests.annotation.conftest import ApiDoor

ADDRESS = f"{PREFIX}projects/harbour/checks/answers/"


def given(world: World) -> set[tuple[int, str]]:
    return set(Verdict.objects.filter(person=world.rex).values_list("check_row", "label"))


def test_answers_are_taken_in_one_request(world: World, client_of: ApiDoor) -> None:
    first, second = world.check("alder", 1), world.check("alder", 2)
    answers = [{"check": first.public_id, "label": "yes"}, {"check": second.public_id, "label": "no"}]
    answer = client_of("rex").post(ADDRESS, {"answers": answers})
    assert answer.status_code == 200
    assert [each["error"] for each in answer.json()["results"]] == [None, None]
    assert given(world) == {(first.pk, "yes"), (second.pk, "no")}


def test_one_that_cannot_be_taken_takes_all_with_it_unless_they_are_skipped(
    world: World, client_of: ApiDoor
) -> None:
    check = world.check("alder", 1)
    answers = [
        {"check": check.public_id, "label": "yes"},
        {"check": "none", "label": "no"},
        {"check": check.public_id, "label": "maybe"},
        {"check": check.public_id, "label": "no", "reson": "Misspelt."},
        {"label": "no"},
    ]
    rex = client_of("rex")
    refused = rex.post(ADDRESS, {"answers": answers})
    assert (refused.status_code, refused.json()["error"]["details"]) == (404, {"row": 2})
    refused = rex.post(ADDRESS, {"answers": [answers[0], answers[2]]})
    error = refused.json()["error"]
    assert (refused.status_code, error["field"], error["details"]["row"]) == (422, "label", 2)
    assert error["message"] == 'label: "maybe" is none of yes, no, unsure.'
    assert given(world) == set()
    taken = client_of("rex").post(ADDRESS, {"answers": answers, "skip_invalid": True}).json()["results"]
    assert [(each["verdict"] is None, each["error"] and each["error"]["code"]) for each in taken] == [
        (False, None),
        (True, "not_found"),
        (True, "invalid"),
        (True, "invalid"),
        (True, "invalid"),
    ]
    assert given(world) == {(check.pk, "yes")}


def test_a_check_is_answered_where_no_judge_decides(world: World, client_of: ApiDoor) -> None:
    """Projects with imported claims may have no deciding judge."""
    Project.objects.filter(pk=world.project.pk).update(deciding_judge=None)
    check, rex = world.check("alder", 1), client_of("rex")
    for path, body in (
        (ADDRESS, {"answers": [{"check": check.public_id, "label": "yes"}]}),
        (f"{PREFIX}projects/harbour/checks/{check.public_id}/verdicts/", {"label": "no"}),
    ):
        assert rex.post(path, body).status_code in (200, 201), path
