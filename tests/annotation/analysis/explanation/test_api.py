from __future__ import annotations

from typing import TYPE_CHECKING, Any

from annotation.models import Look

if TYPE_CHECKING:
    from tests.annotation.cast import World
    from tests.annotation.conftest import ApiDoor


def address(world: World, summary: str = "") -> str:
    key = summary or world.summaries["port", "alder"].public_id
    return f"/api/v1/projects/harbour/summaries/{key}/explanation/"


def explained(world: World, client_of: ApiDoor) -> Any:
    answer = client_of("vic").get(address(world))
    assert answer.status_code == 200, answer.content
    return answer.json()


def test_scores_come_with_their_formulas(world: World, client_of: ApiDoor) -> None:
    made = explained(world, client_of)
    scores = {each["column"]: (each["value"], each["text"]) for each in made["formulas"]}
    # The judge says yes, no, yes: unit 1 has one of two and unit 2 its only claim. The summary has 13 of 20 words.
    assert scores["coverage"] == (0.75, "(0.50 + 1.00) / 2")
    assert scores["brevity"] == (0.35, "(20 − 13) / 20")
    assert scores["composite_2_3"][1] == "0.667·0.750 + 0.333·0.350"
    assert scores["claim_coverage"][1] == "2 yes / 3 scored"
    assert scores["alignment"] == (None, "")
    assert (made["document_id"], made["system"]) == ("port", "alder")
    assert [unit["number"] for unit in made["summary_units"]] == [1, 2]


def test_a_model_summary_has_no_scores_to_explain(world: World, client_of: ApiDoor) -> None:
    assert client_of("vic").get(address(world, world.references["port"].public_id)).status_code == 404


def test_it_is_kept_that_a_reviewer_saw_what_was_said(world: World, client_of: ApiDoor) -> None:
    explained(world, client_of)
    assert not Look.objects.exists()
    client, check = client_of("cleo"), world.check("alder", 2)
    assert client.get(address(world)).status_code == 200
    # The looks are at the summary and at its three checks.
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
