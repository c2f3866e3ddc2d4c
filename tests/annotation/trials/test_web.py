from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from annotation.assessing.services.assign import assign
from annotation.models import AnswerAgain, GuidelineTrial, Membership, Verdict
from annotation.trials.services import decide_trial
from tests.annotation.exports.reading import exported
from tests.annotation.trials.given import answer_all, answered, start

if TYPE_CHECKING:
    from pathlib import Path

    from django.test import Client

    from tests.annotation.cast import World
    from tests.annotation.conftest import ApiDoor, SignIn

GUIDELINES, DESK, API = (
    "/p/harbour/settings/guidelines/",
    "/p/harbour/review/again/",
    "/api/v1/projects/harbour/guideline-trials/",
)
FORM = {"of": "1 coverage", "size": "15", "who": "same"}


@pytest.fixture(autouse=True)
def _answered(world: World) -> None:
    answered(world)


def text(client: Client, address: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", client.get(address).content.decode()))


def test_a_trial_from_the_form_to_the_decision(world: World, olga: Client, rex: Client) -> None:
    assert "version 1, coverage: 48 answered blind" in text(olga, GUIDELINES)
    page = olga.post(f"{GUIDELINES}trials/start/", FORM)["Location"]
    trial = GuidelineTrial.objects.get()
    assert page == f"{GUIDELINES}trials/{trial.public_id}/"
    assert "0 of 15 claims are answered again." in text(olga, page)
    assert "From version 1 to 2 0 of 15 answered" in text(olga, GUIDELINES)
    assert "Answer 15 claims again" in text(rex, "/p/harbour/review/")
    for _ in range(15):
        (action,) = re.findall(rf'action="({DESK}\w+/)"', rex.get(DESK).content.decode())
        assert rex.post(action, {"label": "no"})["Location"] == DESK
    assert "Nothing is left to answer again." in text(rex, DESK)
    shown = text(olga, page)
    # Chance decides whether the five answers under the old version come from enough document sets for an interval.
    assert re.search("The new guidelines change (about 0 of 100 answers|no answers, or few)", shown)
    assert "yes → no 10 of 10 5 of 5" in shown
    assert olga.post(f"{page}decide/", {"decision": "mix"})["Location"] == page
    assert "old and new answers count together" in text(olga, page)
    trial.refresh_from_db()
    assert trial.decision == "mix"


def test_the_desk_names_the_version_and_shows_its_text(world: World, rex: Client) -> None:
    trial = start(world)
    assert "Answer by version 1 of the guidelines" in text(rex, DESK)
    assert "Be strict." in text(rex, DESK)
    trial.answers.filter(is_control=True).delete()
    assert "Answer by version 2 of the guidelines" in text(rex, DESK)
    assert "Be lenient." in text(rex, DESK)


@pytest.mark.parametrize("by_others", [False, True])
def test_the_desk_shows_no_answer(world: World, signed_in: SignIn, by_others: bool) -> None:
    start(world, by_others=by_others)
    # Cleo may see all scores and answers on other pages.
    client = signed_in(world.cleo if by_others else world.rex)
    Verdict.objects.filter(role="judge").update(reason="judge-reason", probability=0.8128)
    pages = [client.get(DESK).content.decode() for _ in range(2)]
    assert pages[0].count('class="verdict ') == 3
    for page in pages:
        assert not re.search("first-reason|judge-reason|0.8128|aria-pressed|<mark|alder|birch", page)
    assert not world.cleo.looks.filter(revealed_at__isnull=False).exists()


def test_wrong_forms_are_refused_with_a_sentence(world: World, olga: Client, rex: Client) -> None:
    for wrong, said in (
        ({"size": "many"}, "Enter a number of claims."),
        ({"size": "3"}, "A trial needs at least 15 claims, and at most the "),
        ({"of": ""}, "Choose an older version"),
    ):
        page = olga.post(f"{GUIDELINES}trials/start/", {**FORM, **wrong}, follow=True)
        assert said in page.content.decode()
    trial = start(world)
    row = trial.answers.all()[0]
    page = rex.post(f"{DESK}{row.public_id}/", {"label": "maybe"}, follow=True)
    assert "A verdict is one of yes, no, unsure" in page.content.decode()
    decided = f"{GUIDELINES}trials/{trial.public_id}/decide/"
    assert (
        "30 claims wait for an answer"
        in olga.post(decided, {"decision": "new"}, follow=True).content.decode()
    )


def test_who_cannot_see_scores_sees_no_result(world: World, rex: Client, signed_in: SignIn) -> None:
    trial = start(world)
    assert rex.get(f"{GUIDELINES}trials/{trial.public_id}/").status_code == 403
    assert "trials/" not in rex.get(GUIDELINES).content.decode()
    assert "Which answers count?" not in text(signed_in(world.vic), f"{GUIDELINES}trials/{trial.public_id}/")


def test_a_manager_with_open_work_starts_one_without_seeing_it(world: World, mona: Client) -> None:
    Membership.objects.filter(user=world.mona).update(roles=["manager", "assessor"])
    assign(document_set=world.sets["bridge"], assessor=world.mona, by=None)
    assert mona.post(f"{GUIDELINES}trials/start/", FORM)["Location"] == GUIDELINES
    assert GuidelineTrial.objects.count() == 1


def test_answers_given_again_are_in_no_export(world: World, tmp_path: Path) -> None:
    trial = start(world)
    before = exported(world.project, "answers", tmp_path / "before")
    answer_all(world, trial, new=8, old=1)
    assert exported(world.project, "answers", tmp_path / "after") == before
    decide_trial(trial=trial, by=world.olga, decision="mix")
    rows = exported(world.project, "answers", tmp_path / "decided")
    assert sum(row["guideline_version"] == 2 for row in rows) == 20


def test_the_api_starts_and_reads(world: World, client_of: ApiDoor) -> None:
    client = client_of("olga")
    asked = {"old_version": 1, "size": 15, "by_others": True}
    made = client.post(API, asked, format="json")
    assert made.status_code == 201
    assert (made.json()["asked"], made.json()["waiting"], made.json()["cost"]) == (15, 15, None)
    assert client.post(API, asked, format="json").status_code == 409
    trial = GuidelineTrial.objects.get()
    answer_all(world, trial, new=5, old=0, by=world.cleo)
    (found,) = client.get(API).json()
    assert found["cost"]["changed"]["difference"] == 0.5
    assert {row["system"] for row in found["cost"]["systems"]} == {"alder", "birch"}
    decide_trial(trial=trial, by=world.olga, decision="drop")
    assert client.get(API).json()[0]["decision"] == "drop"
    assert not AnswerAgain.objects.filter(label=None).exists()
