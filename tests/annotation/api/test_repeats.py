"""Requests that come twice, and changes of what somebody else has changed meanwhile."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier
from typing import TYPE_CHECKING, Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.utils import timezone
from rest_framework.test import APIClient

from annotation.api.kept_replies import UNDER_WAY_FOR
from annotation.models import Guideline, Invitation, KeptReply, Membership, Project, Role
from tests.annotation.api.routes import PREFIX, own_panel
from tests.annotation.cast import World

if TYPE_CHECKING:
    from tests.annotation.conftest import ApiDoor

PROJECT = f"{PREFIX}projects/harbour/"
GUIDELINES = f"{PROJECT}guidelines/"


def keyed(client: APIClient, path: str, body: dict[str, Any], key: str = "one") -> Any:
    return client.post(path, body, headers={"Idempotency-Key": key})


def code(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]


def test_the_same_request_with_its_key_is_carried_out_once(world: World, client_of: ApiDoor) -> None:
    mona = client_of("mona")
    project = {"name": "Mill", "slug": "mill"}
    User.objects.filter(username="mona").update(is_staff=True)
    mona.force_login(User.objects.get(username="mona"))
    first = keyed(mona, f"{PREFIX}projects/", project)
    again = keyed(mona, f"{PREFIX}projects/", project)
    assert (first.status_code, again.status_code) == (201, 201)
    assert again.json() == first.json()
    assert (first.headers.get("Idempotency-Replayed"), again["Idempotency-Replayed"]) == (None, "true")
    # Without the key it is another request.
    assert mona.post(f"{PREFIX}projects/", project).status_code == 409


def test_a_key_is_of_one_person_one_address_and_one_body(world: World, client_of: ApiDoor) -> None:
    assert keyed(client_of("mona"), GUIDELINES, {"text": "One."}).status_code == 201
    assert code(keyed(client_of("mona"), GUIDELINES, {"text": "Two."})) == (422, "key_reused")
    assert keyed(client_of("olga"), GUIDELINES, {"text": "Two."}).status_code == 201
    assert keyed(client_of("mona"), f"{PROJECT}judges/try/", {"kind": "panel"}).status_code == 400
    assert keyed(client_of("mona"), GUIDELINES, {"text": "Three."}, key="two").status_code == 201
    assert Guideline.objects.count() == 3


def test_what_was_refused_may_be_sent_again_with_its_key(world: World, client_of: ApiDoor) -> None:
    assert keyed(client_of("mona"), GUIDELINES, {"text": "", "note": "n"}).status_code == 400
    assert keyed(client_of("mona"), GUIDELINES, {"text": "One."}).status_code == 201


@pytest.mark.parametrize("key", ["", "two words", "x" * 201, "ö"])
def test_a_key_has_a_form(world: World, client_of: ApiDoor, key: str) -> None:
    assert code(keyed(client_of("mona"), GUIDELINES, {"text": "One."}, key=key)) == (400, "parse_error")


def test_a_request_under_way_is_not_begun_again_until_its_server_must_be_dead(
    world: World, client_of: ApiDoor
) -> None:
    keyed(client_of("mona"), GUIDELINES, {"text": "One."})
    KeptReply.objects.update(status=None, body="")
    assert code(keyed(client_of("mona"), GUIDELINES, {"text": "One."})) == (409, "under_way")
    KeptReply.objects.update(began_at=timezone.now() - UNDER_WAY_FOR - timedelta(seconds=1))
    assert keyed(client_of("mona"), GUIDELINES, {"text": "One."}).status_code == 201
    assert KeptReply.objects.get().status == 201


def test_a_reply_is_forgotten_after_a_day(world: World, client_of: ApiDoor) -> None:
    keyed(client_of("mona"), GUIDELINES, {"text": "One."})
    KeptReply.objects.update(began_at=timezone.now() - timedelta(hours=25))
    assert keyed(client_of("mona"), GUIDELINES, {"text": "Two."}).status_code == 201


def test_a_secret_is_not_kept(world: World, client_of: ApiDoor) -> None:
    for path, body in ((f"{PREFIX}account/tokens/", {}), (f"{PROJECT}invitations/", {"roles": ["viewer"]})):
        first = keyed(client_of("olga"), path, body)
        assert first.status_code == 201
        told = first.json()
        assert str(told.get("token") or told["secret"]) not in str(list(KeptReply.objects.values()))
        assert code(keyed(client_of("olga"), path, body)) == (409, "not_kept")
    assert Invitation.objects.count() == 1


def test_whoever_left_the_project_is_not_told_again(world: World, client_of: ApiDoor) -> None:
    keyed(client_of("mona"), GUIDELINES, {"text": "One."})
    Membership.objects.filter(user=world.mona).delete()
    assert keyed(client_of("mona"), GUIDELINES, {"text": "One."}).status_code == 404


def test_files_belong_to_what_was_sent(world: World, client_of: ApiDoor) -> None:
    def send(text: str) -> Any:
        file = SimpleUploadedFile("a.csv", f"document_id,document,system,summary\nd,D.,s,{text}\n".encode())
        return client_of("mona").post(
            f"{PROJECT}imports/", {"files": [file]}, format="multipart", headers={"Idempotency-Key": "f"}
        )

    assert (send("One.").status_code, send("One.")["Idempotency-Replayed"]) == (200, "true")
    assert code(send("Two.")) == (422, "key_reused")


@pytest.mark.django_db(transaction=True)
def test_of_many_at_once_one_is_carried_out() -> None:
    project = Project.objects.create(slug="harbour", name="Harbour")
    olga = User.objects.create(username="olga")
    Membership.objects.create(project=project, user=olga, roles=[Role.OWNER])
    start = Barrier(4)

    def send(_: int) -> int:
        client = APIClient()
        client.force_login(olga)
        start.wait()
        try:
            return keyed(client, f"{PROJECT}members/", {"username": "olga", "roles": ["viewer"]}).status_code
        finally:
            connection.close()

    User.objects.create(username="dan")
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(send, range(4)))
    # She is one already (409): nothing was kept, and nothing is left under way.
    assert not KeptReply.objects.exists()

    def invite(_: int) -> int:
        client = APIClient()
        client.force_login(olga)
        start.wait()
        try:
            return keyed(client, GUIDELINES, {"text": "One."}).status_code
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        told = list(pool.map(invite, range(4)))
    assert set(told) <= {201, 409}
    assert 201 in told
    assert Guideline.objects.count() == 1


# Entity tags


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
