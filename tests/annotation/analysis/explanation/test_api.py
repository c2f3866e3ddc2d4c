"""Why a number is what it is, over the API: the same content as the page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from annotation.adjudicating.services.adjudicate import decide_check
from annotation.models import Look
from annotation.reviewing.services.review import override, withdraw_answer
from tests.annotation.cast import add_imported_verdict

if TYPE_CHECKING:
    from tests.annotation.cast import World
    from tests.annotation.conftest import ApiDoor


def address(world: World, summary: str = "") -> str:
    key = summary or world.peers["port", "alder"].public_id
    return f"/api/v1/projects/harbour/summaries/{key}/explanation/"


def explained(world: World, client_of: ApiDoor) -> Any:
    answer = client_of("vic").get(address(world))
    assert answer.status_code == 200, answer.content
    return answer.json()


def test_scores_come_with_their_formulas(world: World, client_of: ApiDoor) -> None:
    made = explained(world, client_of)
    scores = {each["column"]: (each["value"], each["text"]) for each in made["formulas"]}
    # The judge says yes, no, yes: unit 1 has one of two, unit 2 its only claim; 13 of 20 words.
    assert scores["coverage"] == (0.75, "(0.50 + 1.00) / 2")
    assert scores["brevity"] == (0.35, "(20 − 13) / 20")
    assert scores["alignment"] == (None, "")
    assert (made["document_id"], made["system"]) == ("port", "alder")
    assert [unit["number"] for unit in made["peer_units"]] == [1, 2]


def test_every_statement_names_its_author_in_order(world: World, client_of: ApiDoor) -> None:
    check = world.check("alder", 2)
    verdict = override(check=check, by=world.rex, label="yes", reason="it leans").verdict
    withdraw_answer(answer=verdict, by=world.rex)
    override(check=check, by=world.olga, label="yes")
    add_imported_verdict(check, "no")
    decide_check(check=check, by=world.cleo, label="unsure", reason="Neither")
    unit = explained(world, client_of)["comparisons"][0]["units"][0]
    claim = unit["claims"][1]
    assert [
        (each["who"], each["kind"], each["label"], each["had_seen"], each["is_withdrawn"])
        for each in claim["answers"]
    ] == [
        ("lexical", "judge", "no", None, False),
        ("rex", "reviewer", "yes", False, True),
        ("olga", "reviewer", "yes", False, False),
        ("gold.jsonl", "import", "no", None, False),
        ("cleo", "adjudicator", "unsure", None, False),
    ]
    assert (claim["final"], claim["source"]) == ("unsure", "adjudicator")
    assert (claim["dispute"]["state"], claim["dispute"]["answers"]) == ("settled", 2)
    # Unsure is not yes: one of two.
    assert (unit["coverage"]["value"], unit["formula"]) == (0.5, "1 yes / 2 scored")


def test_a_model_summary_has_no_scores_to_explain(world: World, client_of: ApiDoor) -> None:
    assert client_of("vic").get(address(world, world.models["port"].public_id)).status_code == 404


def test_it_is_kept_that_a_reviewer_saw_what_was_said(world: World, client_of: ApiDoor) -> None:
    explained(world, client_of)
    assert not Look.objects.exists()
    client, check = client_of("cleo"), world.check("alder", 2)
    assert client.get(address(world)).status_code == 200
    # Its three checks and the summary.
    assert Look.objects.filter(person=world.cleo, revealed_at__isnull=False).count() == 4
    answer = f"/api/v1/projects/harbour/checks/{check.public_id}/verdicts/"
    said = client.post(answer, {"label": "yes"}, format="json").json()
    assert said["verdict"]["had_seen"] is True


def test_nobody_is_told_over_the_api_how_an_answer_moved_the_scores(world: World, client_of: ApiDoor) -> None:
    answer = f"/api/v1/projects/harbour/checks/{world.check('alder', 2).public_id}/verdicts/"
    client = client_of("rex")
    said = client.post(answer, {"label": "yes"}, format="json")
    assert set(said.json()) == {"verdict", "check"}
    assert "coverage" not in said.content.decode()
    taken = client.delete(f"/api/v1/projects/harbour/verdicts/{said.json()['verdict']['id']}/")
    assert (taken.status_code, taken.content) == (204, b"")
