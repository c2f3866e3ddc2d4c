"""Members, invitations, guidelines, comments over the API."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rest_framework.test import APIClient

from annotation.assessing.services.assign import assign
from annotation.core.permissions import roles_in
from annotation.models import Membership
from annotation.projects.services.write_guidelines import write_guidelines
from annotation.reviewing.services.review import override

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.annotation.cast import World

    ClientOf = Callable[[str], APIClient]

HERE = "/api/v1/projects/harbour/"


def code_of(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]


def test_members_come_change_and_go(world: World, client_of: ClientOf) -> None:
    olga = client_of("olga")
    made = olga.post(f"{HERE}members/", {"username": "dan", "roles": ["viewer"]})
    assert made.status_code == 201
    address = f"{HERE}members/{made.json()['id']}/"
    assert olga.patch(address, {"roles": ["reviewer"], "seen": ["viewer"]}).json()["roles"] == ["reviewer"]
    assert code_of(olga.patch(address, {"roles": ["owner"], "seen": ["viewer"]})) == (409, "newer_roles")
    override(check=world.check("alder", 1), by=world.dan, label="yes")
    assert olga.get(address).json()["stays"]["verdicts"] == 1
    assert olga.delete(address).status_code == 204
    assert roles_in(world.dan, world.project) == frozenset()
    names = [row["username"] for row in olga.get(f"{HERE}members/").json()["results"]]
    assert names == ["ana", "ben", "cleo", "mona", "olga", "rex", "vic"]


def test_an_invitation_by_a_program(world: World, client_of: ClientOf) -> None:
    issued = client_of("olga").post(f"{HERE}invitations/", {"roles": ["reviewer"], "note": "Dan"}).json()
    assert issued["address"].endswith(f"/invitations/{issued['secret']}/")
    joined = client_of("dan").post("/api/v1/invitations/accept/", {"secret": issued["secret"]})
    assert (joined.status_code, joined.json()) == (
        201,
        {"project": "harbour", "username": "dan", "roles": ["reviewer"]},
    )
    (row,) = client_of("olga").get(f"{HERE}invitations/").json()["results"]
    assert (row["state"], row["accepted_by"]) == ("accepted", "dan")
    assert "secret" not in row
    again = client_of("rex").post("/api/v1/invitations/accept/", {"secret": issued["secret"]})
    assert code_of(again) == (409, "used")


def test_a_new_account_by_an_invitation(world: World, client_of: ClientOf) -> None:
    secret = client_of("olga").post(f"{HERE}invitations/", {"roles": ["viewer"]}).json()["secret"]
    given = {"secret": secret, "username": "eve", "password": "six tall harbours"}
    weak = APIClient().post("/api/v1/invitations/account/", {**given, "password": "short"}, format="json")
    assert code_of(weak) == (422, "invalid")
    joined = APIClient().post("/api/v1/invitations/account/", given, format="json")
    assert joined.json()["username"] == "eve"
    token = APIClient().post(
        "/api/v1/tokens/", {"username": "eve", "password": "six tall harbours"}, format="json"
    )
    assert token.status_code == 201


def test_an_invitation_taken_back(world: World, client_of: ClientOf) -> None:
    olga = client_of("olga")
    issued = olga.post(f"{HERE}invitations/", {"roles": ["viewer"]}).json()
    assert olga.delete(f"{HERE}invitations/{issued['invitation']['id']}/").status_code == 204
    answer = client_of("dan").post("/api/v1/invitations/accept/", {"secret": issued["secret"]})
    assert code_of(answer) == (409, "revoked")


def test_guidelines_are_written_and_read(world: World, client_of: ClientOf) -> None:
    mona = client_of("mona")
    made = mona.post(f"{HERE}guidelines/", {"text": "# Units", "note": "First.", "seen": 0})
    assert (made.status_code, made.json()["html"].strip()) == (201, "<h3>Units</h3>")
    assert code_of(mona.post(f"{HERE}guidelines/", {"text": "Two.", "seen": 0})) == (409, "newer_guidelines")
    write_guidelines(project=world.project, text="Two.", by=world.mona)
    ben = client_of("ben")
    assert [row["version"] for row in ben.get(f"{HERE}guidelines/").json()["results"]] == [2, 1]
    assert ben.get(f"{HERE}guidelines/1/").json()["text"] == "# Units"
    assert ben.get(f"{HERE}guidelines/3/").status_code == 404


def test_gaps_are_listed_for_whoever_writes_guidelines(world: World, client_of: ClientOf) -> None:
    check = world.check("birch", 1)
    override(check=check, by=world.rex, label="unsure", error_type="guideline_gap", reason="Is May a date?")
    found = client_of("mona").get(f"{HERE}guidelines/gaps/").json()
    (gap,) = found["results"]
    assert (found["count"], gap["kind"], gap["by"], gap["reason"]) == (1, "verdict", "rex", "Is May a date?")
    assert (gap["summary"], gap["marked_under"], gap["settled_by"]) == (check.peer.public_id, 0, None)
    write_guidelines(project=world.project, text="A month is a date.", by=world.mona)
    assert client_of("mona").get(f"{HERE}guidelines/gaps/").json() == {"count": 0, "results": []}
    (settled,) = client_of("mona").get(f"{HERE}guidelines/gaps/?settled=true").json()["results"]
    assert settled["settled_by"] == 1


def test_a_blind_manager_is_told_of_no_gap(world: World, client_of: ClientOf) -> None:
    override(check=world.check("birch", 1), by=world.rex, label="unsure", error_type="guideline_gap")
    Membership.objects.filter(user=world.mona).update(roles=["manager", "assessor"])
    assign(document_set=world.sets["port"], assessor=world.mona, by=None)
    assert client_of("mona").get(f"{HERE}guidelines/gaps/").json() == {"count": None, "results": []}


def test_comments(world: World, client_of: ClientOf) -> None:
    claim = world.check("alder", 1).claim.public_id
    made = client_of("rex").post(f"{HERE}claims/{claim}/comments/", {"text": "@cleo @ana?"}).json()
    assert (made["notified"], made["not_notified"]) == (["cleo"], ["ana"])
    cleo = client_of("cleo")
    (row,) = cleo.get(f"{HERE}claims/{claim}/comments/").json()["comments"]
    assert (row["by"], row["mentions"], row["is_withdrawn"]) == ("rex", ["cleo"], False)
    assert cleo.delete(f"{HERE}comments/{made['id']}/").status_code == 404
    assert client_of("rex").delete(f"{HERE}comments/{made['id']}/").status_code == 204
    (row,) = cleo.get(f"{HERE}claims/{claim}/comments/").json()["comments"]
    assert (row["text"], row["is_withdrawn"]) == ("", True)


def test_a_reviewer_gets_no_comments_of_others_before_an_answer(world: World, client_of: ClientOf) -> None:
    claim = world.check("alder", 1).claim.public_id
    client_of("cleo").post(f"{HERE}claims/{claim}/comments/", {"text": "Clearly no."})
    thread = client_of("rex").get(f"{HERE}claims/{claim}/comments/").json()
    assert thread == {"comments": [], "hidden": 1}
