"""Changes of what somebody else has changed meanwhile."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rest_framework.test import APIClient

from annotation.models import Project
from tests.annotation.api.routes import PREFIX, own_panel
from tests.annotation.cast import World

if TYPE_CHECKING:
    from tests.annotation.conftest import ApiDoor

PROJECT = f"{PREFIX}projects/harbour/"
GUIDELINES = f"{PROJECT}guidelines/"


def code(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]


def matching(client: APIClient, method: str, path: str, body: dict[str, Any], tag: str) -> Any:
    return getattr(client, method)(path, body, headers={"If-Match": tag})


def test_of_two_who_read_the_same_project_one_changes_it(world: World, client_of: ApiDoor) -> None:
    mona, olga = client_of("mona"), client_of("olga")
    hers, theirs = mona.get(PROJECT)["ETag"], olga.get(PROJECT)["ETag"]
    changed = matching(mona, "patch", PROJECT, {"description": "Mona's."}, hers)
    assert changed.status_code == 200
    assert code(matching(olga, "patch", PROJECT, {"description": "Olga's."}, theirs)) == (412, "stale")
    assert Project.objects.get(slug="harbour").description == "Mona's."
    # The reply says what stands now; with it, and with a star, the next change goes through.
    assert matching(mona, "patch", PROJECT, {"description": "B"}, changed["ETag"]).status_code == 200
    assert matching(mona, "patch", PROJECT, {"description": "C"}, "*").status_code == 200


def test_a_change_in_place_says_what_it_is_of(world: World, client_of: ApiDoor) -> None:
    mona = client_of("mona")
    for path in (PROJECT, f"{PROJECT}judges/{own_panel(world).public_id}/"):
        assert code(mona.patch(path, {})) == (428, "if_match_missing")
    assert code(client_of("vic").patch(PROJECT, {})) == (403, "not_allowed")


def test_a_judge_and_a_claim_are_changed_as_they_were_read(world: World, client_of: ApiDoor) -> None:
    mona, rex = client_of("mona"), client_of("rex")
    judge = f"{PROJECT}judges/{own_panel(world).public_id}/"
    tag = mona.get(judge)["ETag"]
    assert matching(mona, "patch", judge, {"concurrency": 2}, tag).status_code == 200
    assert code(matching(mona, "patch", judge, {"concurrency": 3}, tag)) == (412, "stale")
    claim = f"{PROJECT}claims/{world.check('alder', 1).claim.public_id}/"
    tag = rex.get(claim)["ETag"]
    assert code(matching(rex, "post", f"{claim}reword/", {"text": "It shuts"}, '"other"')) == (412, "stale")
    assert matching(rex, "post", f"{claim}reword/", {"text": "It shuts"}, tag).status_code == 200
    assert rex.get(claim)["ETag"] != tag


def test_guidelines_are_written_over_the_version_that_was_read(world: World, client_of: ApiDoor) -> None:
    mona = client_of("mona")
    assert mona.post(GUIDELINES, {"text": "One."}).status_code == 201
    tag = mona.get(f"{GUIDELINES}1/")["ETag"]
    assert matching(mona, "post", GUIDELINES, {"text": "Two."}, tag).status_code == 201
    assert code(matching(mona, "post", GUIDELINES, {"text": "Three."}, tag)) == (412, "stale")
    assert (
        matching(
            mona, "post", GUIDELINES, {"text": "Three."}, mona.get(f"{GUIDELINES}2/")["ETag"]
        ).status_code
        == 201
    )
