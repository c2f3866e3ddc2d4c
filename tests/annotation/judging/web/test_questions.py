"""The page of a document set's questions, and the questions on the page of a summary."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from annotation.assessing.services.assign import assign
from annotation.judging.services.ask_questions import ask_questions
from annotation.models import Question
from tests.annotation.asking import answer
from tests.annotation.conftest import HTMX

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.contrib.auth.models import User
    from django.test import Client

    from tests.annotation.cast import World


@pytest.fixture
def mona(world: World, signed_in: Callable[[User], Client]) -> Client:
    return signed_in(world.mona)


def place(world: World) -> str:
    return f"/p/harbour/scores/sets/{world.sets['port'].public_id}/questions/"


def made_up(world: World) -> Question:
    return Question.objects.create(
        document_set=world.sets["port"], position=1, text="Is it old?", origin="judge", origin_name="lexical"
    )


def standing() -> list[str]:
    return list(Question.objects.filter(retired_at=None).order_by("position").values_list("text", flat=True))


def test_the_page_shows_what_the_source_answers(world: World, mona: Client) -> None:
    question = made_up(world)
    answer(question, "no", judge=world.judge, reason="planted reason")
    page = mona.get(place(world)).content.decode()
    for told in ("Is it old?", "planted reason", "made up by a judge", "the source does not say yes"):
        assert told in page


def test_a_plain_form_asks_and_comes_back(world: World, mona: Client) -> None:
    made_up(world)
    answered = mona.post(
        f"{place(world)}ask/", {"questions": "Did it rain?\r\n\r\nWas it cold?\r\n", "retire_made_up": "yes"}
    )
    assert (answered.status_code, answered["Location"]) == (302, place(world))
    assert standing() == ["Did it rain?", "Was it cold?"]
    assert "2 questions are asked from the next run on." in mona.get(place(world)).content.decode()


def test_without_the_tick_those_made_up_stay(world: World, mona: Client) -> None:
    made_up(world)
    mona.post(f"{place(world)}ask/", {"questions": "Did it rain?"})
    assert standing() == ["Is it old?", "Did it rain?"]


def test_htmx_gets_the_room_with_the_new_question(world: World, mona: Client) -> None:
    fragment = mona.post(f"{place(world)}ask/", {"questions": "Did it rain?"}, headers=HTMX).content.decode()
    assert fragment.lstrip().startswith('<div id="questions"')
    assert "Did it rain?" in fragment


@pytest.mark.parametrize("typed", ["", "Did it rain?\nDid it rain?", "x" * 1001])
def test_what_is_refused_stays_in_the_form(world: World, mona: Client, typed: str) -> None:
    answered = mona.post(f"{place(world)}ask/", {"questions": typed}, headers=HTMX)
    assert answered.status_code == 422
    assert answered.context["typed"] == typed
    assert b'role="alert"' in answered.content
    assert standing() == []


def test_what_is_asked_already_is_told(world: World, mona: Client) -> None:
    ask_questions(document_set=world.sets["port"], texts=["Did it rain?"], by=None)
    answered = mona.post(f"{place(world)}ask/", {"questions": "Did it rain?"})
    assert answered.status_code == 422
    assert "This is asked already" in answered.content.decode()


def test_a_question_is_retired_and_named_as_such(world: World, mona: Client) -> None:
    question = made_up(world)
    address = f"/p/harbour/scores/questions/{question.public_id}/retire/"
    fragment = mona.post(address, headers=HTMX).content.decode()
    assert standing() == []
    assert "1 retired" in fragment
    assert mona.post(address)["Location"] == place(world)


def test_who_may_not_change_sees_no_form(world: World, signed_in: Callable[[User], Client]) -> None:
    made_up(world)
    page = signed_in(world.vic).get(place(world)).content.decode()
    assert "Is it old?" in page
    assert "/ask/" not in page
    assert "/retire/" not in page


def test_whoever_judges_blind_sees_no_question_and_no_answer(
    world: World, signed_in: Callable[[User], Client]
) -> None:
    answer(made_up(world), "no", judge=world.judge, reason="planted reason")
    assign(document_set=world.sets["port"], assessor=world.ana, by=None)
    world.ana.memberships.update(roles=["assessor", "manager", "viewer"])
    client = signed_in(world.ana)
    assert client.get(place(world)).status_code == 403
    for headers in ({}, HTMX):
        told = client.post(f"{place(world)}ask/", {"questions": ""}, headers=headers)
        assert told.status_code == 422
        assert "planted reason" not in told.content.decode()
        assert "Is it old?" not in told.content.decode()


def test_a_summarys_page_shows_each_question_with_both_answers(
    world: World, signed_in: Callable[[User], Client]
) -> None:
    kept, missed, retired = ask_questions(
        document_set=world.sets["port"], texts=["Does it close?", "Is it weak?", "Is it far?"], by=None
    )
    alder = world.peers["port", "alder"]
    for question, said in ((kept, "yes"), (missed, "no"), (retired, None)):
        answer(question, "yes", judge=world.judge, reason="planted source")
        answer(question, said, judge=world.judge, summary=alder, reason=f"planted {said}")
    mona = signed_in(world.mona)
    mona.post(f"/p/harbour/scores/questions/{retired.public_id}/retire/")
    page = mona.get(f"/p/harbour/scores/summaries/{alder.public_id}/").content.decode()
    for told in (
        "counts: yes in both",
        "counts: yes in the source alone",
        "does not count: retired",
        "planted source",
        "planted yes",
        "planted None",
        "1 yes in both / 2 yes in the source",
        place(world),
    ):
        assert told in page


def test_a_run_is_asked_for_questions(world: World, mona: Client) -> None:
    mona.post(
        "/p/harbour/runs/start/", {"judge": "lexical", "metrics": "question_coverage", "n_questions": "7"}
    )
    run = world.project.runs.get()
    assert run.n_questions == 7
    assert "7 questions per document set" in mona.get(f"/p/harbour/runs/{run.public_id}/").content.decode()


@pytest.mark.parametrize("typed", ["many", "-1", "51", "2.5"])
def test_a_number_of_questions_that_makes_no_sense_stays_in_the_form(
    world: World, mona: Client, typed: str
) -> None:
    answered = mona.post(
        "/p/harbour/runs/start/", {"judge": "lexical", "metrics": "question_coverage", "n_questions": typed}
    )
    assert answered.status_code == 422
    assert f'value="{typed}"' in answered.content.decode()
