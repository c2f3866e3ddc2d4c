"""The queues of checks through the API: handing out, planted verdicts, batches and draws, as on screen."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from annotation.models import Check, CheckLook, Draw, Project, Verdict
from annotation.reviewing.services.review import override

if TYPE_CHECKING:
    from tests.annotation.cast import World
    from tests.annotation.conftest import ApiDoor

HERE = "/api/v1/projects/harbour/"


def at(world: World, system: str, position: int, rest: str = "") -> str:
    return f"{HERE}checks/{world.check(system, position).public_id}/{rest}"


def post(client: Any, path: str, body: dict[str, object] | None = None) -> Any:
    return client.post(path if path.startswith("/") else HERE + path, body or {}, format="json")


def form_of(told: Any) -> Any:
    """Names and kinds of values, without the values."""
    if isinstance(told, dict):
        return {name: form_of(value) for name, value in told.items()}
    return [form_of(each) for each in told] if isinstance(told, list) else type(told).__name__


def test_the_queue_is_that_of_the_screen(world: World, client_of: ApiDoor) -> None:
    override(check=world.check("alder", 1), by=world.cleo, label="yes")
    page = client_of("rex").get(f"{HERE}review-queue/?only=all").json()
    assert (page["count"], page["is_counted_out"], page["after"]) == (6, True, None)
    answered = next(row for row in page["results"] if row["id"] == world.check("alder", 1).public_id)
    assert answered["human_label"] is None
    assert client_of("rex").get(f"{HERE}review-queue/?system=x").status_code == 403


def test_checks_are_handed_out_to_one_person_each(world: World, client_of: ApiDoor) -> None:
    first = post(client_of("rex"), "checks/next/").json()["check"]
    second = post(client_of("cleo"), "checks/next/").json()["check"]
    assert first["id"] != second["id"]
    assert first["is_hidden_yet"] is True
    assert Check.objects.get(public_id=first["id"]).leased_to == world.rex
    third = post(client_of("rex"), "checks/next/", {"after": first["id"]}).json()["check"]
    assert third["id"] not in (first["id"], second["id"])
    assert Check.objects.get(public_id=first["id"]).leased_to is None


def test_nothing_left_is_null(world: World, client_of: ApiDoor) -> None:
    assert post(client_of("rex"), "checks/next/", {"side": "peer"}).json() == {"check": None, "held": None}


def test_a_look_is_kept_and_holds_the_check(world: World, client_of: ApiDoor) -> None:
    Project.objects.update(reveal="on_request")
    client = client_of("rex")
    assert post(client, at(world, "alder", 2, "looks/")).json()["judge_label"] is None
    assert post(client, at(world, "alder", 2, "looks/"), {"reveal": True}).json()["judge_label"] == "no"
    look = CheckLook.objects.get(check_row=world.check("alder", 2), person=world.rex)
    assert look.revealed_at is not None
    assert world.check("alder", 2).leased_to == world.rex
    # The caller's own word does not undo what was shown.
    said = post(client, at(world, "alder", 2, "verdicts/"), {"label": "yes", "shown": "nothing"}).json()
    assert said["verdict"]["shown"] == "judge"


def test_all_that_goes_with_an_answer(world: World, client_of: ApiDoor) -> None:
    body = {
        "label": "no",
        "quotes": [{"unit": 2, "start": 0, "end": 7}],
        "error_type": "wrong_entity",
        "active_ms": 1200,
    }
    said = post(client_of("rex"), at(world, "alder", 2, "verdicts/"), body).json()["verdict"]
    assert {name: said[name] for name in body} == body
    assert said["evidence"] == [2]
    wrong = [{**body, "error_type": "typo"}, {**body, "quotes": [{"unit": 2, "start": 7, "end": 7}]}]
    answers = [post(client_of("rex"), at(world, "alder", 2, "verdicts/"), each).status_code for each in wrong]
    assert answers == [400, 422]


def test_whoever_met_anothers_answer_in_a_conflict_knows_that_one(world: World, client_of: ApiDoor) -> None:
    override(check=world.check("alder", 2), by=world.cleo, label="yes")
    client = client_of("rex")
    body = {"label": "no", "seen": ""}
    assert post(client, at(world, "alder", 2, "verdicts/"), body).status_code == 409
    assert client.get(at(world, "alder", 2)).json()["judge_label"] is None
    said = post(client, at(world, "alder", 2, "verdicts/"), {"label": "no"}).json()
    assert said["verdict"]["shown"] == "person"


class TestPlanted:
    """A wrong verdict in the judge's place, until its reader is told."""

    def test_it_stands_where_the_judges_would_and_is_told_after_the_answer(
        self, world: World, client_of: ApiDoor
    ) -> None:
        Project.objects.update(reveal="shown", planted_share=1)
        client = client_of("rex")
        # The judge gave yes at .9; shown is no.
        shown = client.get(at(world, "alder", 1)).json()
        # As sure as the no of which it takes the words.
        assert (shown["judge_label"], shown["judge_probability"]) == ("no", 0.2)
        assert (shown["final_label"], shown["final_source"], shown["planted_label"]) == ("no", "judge", None)
        assert [(each["source"], each["label"]) for each in shown["verdicts"]] == [("judge", "no")]
        said = post(client, at(world, "alder", 1, "verdicts/"), {"label": "no"}).json()
        assert said["verdict"]["shown"] == Verdict.Shown.PLANTED
        assert (said["check"]["judge_label"], said["check"]["planted_label"]) == ("yes", "no")

    def test_nothing_in_its_form_gives_it_away(self, world: World, client_of: ApiDoor) -> None:
        Project.objects.update(reveal="shown", planted_share=1)
        client = client_of("rex")
        # The second is the judge's own "no", of which it is not certain.
        planted, true = (client.get(at(world, "alder", position)).json() for position in (1, 2))
        assert CheckLook.objects.get(check_row=world.check("alder", 1)).planted_label == "no"
        assert form_of(planted) == form_of(true)
        same = ("judge_label", "human_label", "final_label", "final_source", "is_disputed", "unscored_reason")
        assert [planted[name] for name in same] == [true[name] for name in same]
        assert planted["verdicts"][0]["reason"] == true["verdicts"][0]["reason"]

    def test_filters_go_by_what_its_reader_takes_for_true(self, world: World, client_of: ApiDoor) -> None:
        Project.objects.update(reveal="shown", planted_share=1)
        client = client_of("rex")
        name = client.get(at(world, "alder", 1)).json()["id"]
        assert CheckLook.objects.get(person=world.rex).planted_label == "no"
        # Of what others answer after that the reader sees nothing until they are told.
        override(check=world.check("alder", 1), by=world.cleo, label="yes")

        def found(query: str) -> bool:
            return name in [row["id"] for row in client.get(f"{HERE}checks/?{query}").json()["results"]]

        assert [found(f"label={label}") for label in ("no", "yes", "unscored")] == [True, False, False]
        assert (found("disputed=false"), found("unanswered=true")) == (True, True)

    def test_the_queue_against_the_judge_goes_by_it_too(self, world: World, client_of: ApiDoor) -> None:
        Project.objects.update(planted_share=1)
        client = client_of("rex")
        post(client, at(world, "alder", 1, "verdicts/"), {"label": "yes"})
        # The judge said yes too, but what Rex was shown is no.
        assert CheckLook.objects.get(person=world.rex).planted_label == "no"
        queued = client.get(f"{HERE}review-queue/?only=against").json()["results"]
        assert [row["id"] for row in queued] == [world.check("alder", 1).public_id]

    def test_one_that_is_untold_when_no_more_are_planted_stays_until_it_is_told(
        self, world: World, client_of: ApiDoor
    ) -> None:
        Project.objects.update(planted_share=1)
        client = client_of("rex")
        post(client, at(world, "alder", 1, "verdicts/"), {"label": "yes"})
        Project.objects.update(planted_share=0, reveal="shown")

        def judge_says() -> set[str]:
            shown = client.get(at(world, "alder", 1)).json()
            listed = client.get(f"{HERE}checks/").json()["results"]
            labels = {row["judge_label"] for row in listed if row["id"] == shown["id"]}
            labels |= {each["label"] for each in shown["verdicts"] if each["source"] == "judge"}
            return labels | {shown["judge_label"]}

        assert judge_says() == {"no"}
        queued = client.get(f"{HERE}review-queue/?only=against").json()["results"]
        assert [row["id"] for row in queued] == [world.check("alder", 1).public_id]
        told = post(client, at(world, "alder", 2, "verdicts/"), {"label": "no"}).json()[
            "disclosed_control_items"
        ]
        assert [(each["check"], each["planted_label"]) for each in told] == [
            (world.check("alder", 1).public_id, "no")
        ]
        assert judge_says() == {"yes"}

    def test_lists_do_not_give_it_away(self, world: World, client_of: ApiDoor) -> None:
        Project.objects.update(reveal="shown", planted_share=1)
        client = client_of("rex")
        client.get(at(world, "alder", 1))
        rows = client.get(f"{HERE}checks/").json()["results"]
        labels = {row["id"]: row["judge_label"] for row in rows}
        assert labels.pop(world.check("alder", 1).public_id) == "no"
        # What was not looked at yet tells nothing.
        assert set(labels.values()) == {None}
        assert client.get(f"{HERE}checks/?label=yes").json()["results"] == []
        assert len(client.get(f"{HERE}checks/?label=no").json()["results"]) == 1

    def test_after_the_own_answer_it_is_told_with_the_next_one(
        self, world: World, client_of: ApiDoor
    ) -> None:
        Project.objects.update(planted_share=1)
        client = client_of("rex")
        first = post(client, at(world, "alder", 1, "verdicts/"), {"label": "yes"}).json()
        assert (
            first["verdict"]["shown"],
            first["check"]["judge_label"],
            first["disclosed_control_items"],
        ) == (
            "nothing",
            "no",
            [],
        )
        second = post(client, at(world, "alder", 2, "verdicts/"), {"label": "no"}).json()
        assert second["disclosed_control_items"] == [
            {"check": world.check("alder", 1).public_id, "planted_label": "no"}
        ]
        assert client.get(at(world, "alder", 1)).json()["judge_label"] == "yes"


def test_a_batch_is_offered_taken_over_and_withdrawn(world: World, client_of: ApiDoor) -> None:
    Project.objects.update(reveal="shown")
    client = client_of("rex")
    offered = client.get(f"{HERE}verdict-batches/offer/?side=reference").json()
    assert (offered["count"], offered["by_label"], offered["has_more"]) == (6, {"yes": 2, "no": 4}, False)
    body = {"side": "reference", "expected": 6, "fingerprint": offered["fingerprint"]}
    stale = post(client, "verdict-batches/", {**body, "expected": 5})
    assert (stale.status_code, stale.json()["error"]["code"]) == (409, "changed")
    batch = post(client, "verdict-batches/", body).json()
    assert (batch["count"], batch["filters"]) == (6, {"side": "reference"})
    assert client_of("cleo").delete(f"{HERE}verdict-batches/{batch['id']}/").status_code == 403
    assert client.delete(f"{HERE}verdict-batches/{batch['id']}/").status_code == 204
    assert not Verdict.objects.filter(batch__isnull=False, withdrawn_at=None).exists()


def test_a_batch_needs_a_narrowed_list(world: World, client_of: ApiDoor) -> None:
    for query in ("", "?only=all"):
        assert client_of("cleo").get(f"{HERE}verdict-batches/offer/{query}").status_code == 422


def test_a_batch_is_for_those_who_may_know_what_the_judge_says(world: World, client_of: ApiDoor) -> None:
    refused = client_of("rex").get(f"{HERE}verdict-batches/offer/?side=reference")
    assert refused.status_code == 403
    assert "Answer the checks one by one" in refused.json()["error"]["message"]
    body = {"side": "reference", "expected": 6, "fingerprint": "0" * 16}
    assert post(client_of("rex"), "verdict-batches/", body).status_code == 403
    assert not Verdict.objects.filter(batch__isnull=False).exists()


def test_checks_are_drawn_and_the_draw_fills(world: World, client_of: ApiDoor) -> None:
    body = {"method": "uniform", "share": 0.67, "seed": 3}
    made = post(client_of("mona"), "check-draws/", body).json()
    assert (made["frame"], made["drawn"], made["answered"], made["seed"]) == (6, 4, 0, 3)
    found = post(client_of("rex"), "checks/next/", {"draw": made["id"]}).json()["check"]
    assert Draw.objects.get().drawn_checks.filter(check_row__public_id=found["id"]).exists()
    post(client_of("rex"), f"{HERE}checks/{found['id']}/verdicts/", {"label": "yes"})
    [row] = client_of("mona").get(f"{HERE}check-draws/").json()
    assert (row["answered"], row["drawn"]) == (1, 4)


def test_where_all_that_waits_is_with_others_it_is_told_until_when(world: World, client_of: ApiDoor) -> None:
    # A sixth of six: one.
    made = post(client_of("mona"), "check-draws/", {"share": 0.17, "seed": 3}).json()
    held = post(client_of("cleo"), "checks/next/", {"draw": made["id"]}).json()
    assert (held["check"]["id"], held["held"]) != (None, {})
    found = post(client_of("rex"), "checks/next/", {"draw": made["id"]}).json()
    until = Check.objects.get(public_id=held["check"]["id"]).lease_until
    assert until is not None
    assert (found["check"], found["held"]["count"]) == (None, 1)
    assert datetime.fromisoformat(found["held"]["until"]) == until
    [row] = client_of("mona").get(f"{HERE}check-draws/").json()
    assert row["held"]["count"] == 1


def test_a_sample_is_cancelled_once_it_is_not_wanted(world: World, client_of: ApiDoor) -> None:
    made = post(client_of("mona"), "check-draws/", {"share": 0.5}).json()
    assert made["cancelled_at"] is None
    cancelled = post(client_of("mona"), f"check-draws/{made['id']}/cancel/").json()
    assert cancelled["cancelled_at"] is not None
    assert client_of("mona").get(f"{HERE}check-draws/").json() == [cancelled]
    assert post(client_of("rex"), "checks/next/", {"draw": made["id"]}).status_code == 422
