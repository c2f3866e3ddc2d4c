from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from annotation.adjudicating.services.adjudicate import decide_check
from annotation.models import (
    Look,
    Membership,
    Project,
    Verdict,
)
from annotation.reviewing.services.review import override
from tests.annotation.cast import World

if TYPE_CHECKING:
    from tests.annotation.conftest import ApiDoor

HERE = "/api/v1/projects/harbour/"
OF_THE_JUDGE = ("judge_label", "judge_probability", "unscored_reason")


def at(world: World, system: str, position: int, rest: str = "") -> str:
    return f"{HERE}checks/{world.check(system, position).public_id}/{rest}"


def results(client: Any, query: str) -> list[dict[str, Any]]:
    answer = client.get(f"{HERE}checks/{query}")
    assert answer.status_code == 200, answer.content
    return list(answer.json()["results"])


@pytest.mark.parametrize("mode", Project.Reveal.values)
@pytest.mark.parametrize("name", ["rex", "cleo", "olga"])
def test_an_answer_returns_the_check_as_it_is_read_afterwards(
    world: World, client_of: ApiDoor, mode: str, name: str
) -> None:
    world.project.reveal = mode
    world.project.save()
    client = client_of(name)
    for number, label in ((1, "no"), (2, "unsure"), (3, "yes")):
        override(check=world.check("alder", number), by=world.olga, label="yes")
        client.get(at(world, "alder", number))
        body = client.post(at(world, "alder", number, "verdicts/"), {"label": label}, format="json").json()
        shown = client.get(at(world, "alder", number)).json()
        assert {**body["check"], "texts": shown["texts"]} == shown
    decide_check(check=world.check("alder", 2), by=world.olga, label="no", reason="Not said.")
    body = client.post(at(world, "alder", 2, "verdicts/"), {"label": "yes"}, format="json").json()
    shown = client.get(at(world, "alder", 2)).json()
    assert {**body["check"], "texts": shown["texts"]} == shown


@pytest.mark.parametrize(
    ("answer", "status", "field"),
    [
        ({}, 400, "label"),
        ({"label": "yes", "evidence": ["a"]}, 400, "evidence.0"),
        ({"label": "yes", "evidence": [1, 99]}, 422, "evidence"),
        ({"label": "yes", "final_label": "yes"}, 400, "final_label"),
    ],
)
def test_a_senseless_answer_is_refused(
    world: World, client_of: ApiDoor, answer: dict[str, Any], status: int, field: str
) -> None:
    sent = client_of("rex").post(at(world, "alder", 1, "verdicts/"), answer, format="json")
    assert (sent.status_code, sent.json()["error"]["field"]) == (status, field)
    assert not Verdict.objects.filter(person=world.rex).exists()


def test_the_history_holds_everything_said(world: World, client_of: ApiDoor) -> None:
    override(check=world.check("alder", 2), by=world.rex, label="yes", reason="There.")
    decide_check(check=world.check("alder", 2), by=world.cleo, label="unsure", reason="Hm.")
    shown = client_of("cleo").get(at(world, "alder", 2)).json()
    assert [(v["role"], v["by"], v["label"], v["reason"]) for v in shown["verdicts"]] == [
        ("judge", "lexical", "no", "no mention of: wall"),
        ("reviewer", "rex", "yes", "There."),
        ("adjudicator", "cleo", "unsure", "Hm."),
    ]


class TestReveal:
    def test_lists_and_filters_do_not_tell_either(self, world: World, client_of: ApiDoor) -> None:
        client = client_of("rex")
        for row in results(client, ""):
            assert [row[name] for name in (*OF_THE_JUDGE, "final_label")] == [None] * 4
        assert results(client, "?label=yes") == results(client, "?label=no") == []
        assert len(results(client, "?label=unscored")) == 6

    def test_who_wrote_a_summary_is_not_told_even_after_the_own_answer(
        self, world: World, client_of: ApiDoor
    ) -> None:
        client = client_of("rex")
        sent = client.post(at(world, "alder", 2, "verdicts/"), {"label": "yes"}, format="json").json()
        assert not [row for row in (sent["check"], *results(client, "")) if "system" in row]
        assert client.get(f"{HERE}checks/?system=alder").status_code == 403

    def test_a_reviewer_who_may_view_scores_is_told_who_wrote_it(
        self, world: World, client_of: ApiDoor
    ) -> None:
        Membership.objects.filter(user=world.rex).update(roles=["reviewer", "viewer"])
        assert {row["system"] for row in results(client_of("rex"), "?system=alder")} == {"alder"}

    @pytest.mark.parametrize("role", ["viewer", "manager"])
    def test_a_reviewer_with_another_role_waits_as_well(
        self, world: World, client_of: ApiDoor, role: str
    ) -> None:
        Membership.objects.filter(user=world.rex).update(roles=["reviewer", role])
        assert client_of("rex").get(at(world, "alder", 2)).json()["judge_label"] is None

    @pytest.mark.parametrize("name", ["vic", "cleo", "olga", "mona"])
    def test_others_see_it_at_once(self, world: World, client_of: ApiDoor, name: str) -> None:
        assert client_of(name).get(at(world, "alder", 2)).json()["judge_label"] == "no"


class TestWhatIsKeptOfSeeing:
    def seen_by(self, name: str) -> int:
        return Look.objects.filter(person__username=name, revealed_at__isnull=False).count()

    @pytest.mark.parametrize(("name", "known"), [("cleo", 2), ("olga", 2), ("rex", 0), ("vic", 0)])
    def test_a_page_of_the_list_shows_its_checks_and_no_others(
        self, world: World, client_of: ApiDoor, name: str, known: int
    ) -> None:
        assert len(results(client_of(name), "?limit=2")) == 2
        assert self.seen_by(name) == known

    def test_where_nothing_is_kept_back_a_reviewers_list_shows_it_too(
        self, world: World, client_of: ApiDoor
    ) -> None:
        Project.objects.update(reveal="shown")
        assert len(results(client_of("rex"), "")) == self.seen_by("rex") == 6

    @pytest.mark.parametrize("name", ["cleo", "olga"])
    def test_the_next_check_is_handed_out_without_the_judges_answer(
        self, world: World, client_of: ApiDoor, name: str
    ) -> None:
        handed = client_of(name).post(f"{HERE}checks/next/", {}, format="json").json()["check"]
        assert (handed["judge_label"], handed["verdicts"], handed["is_hidden_yet"]) == (None, [], True)
        assert self.seen_by(name) == 0
