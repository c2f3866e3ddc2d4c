"""Questions and answers over the API."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from annotation.judging.services.ask_questions import ask_questions, retire_question
from annotation.models import Question, Rating
from tests.annotation.asking import answer

if TYPE_CHECKING:
    from tests.annotation.cast import World
    from tests.annotation.conftest import ApiDoor

HERE = "/api/v1/projects/harbour/"


def place(world: World) -> str:
    return f"{HERE}document-sets/{world.sets['port'].public_id}/questions/"


def test_questions_come_with_what_the_source_answers(world: World, client_of: ApiDoor) -> None:
    first, second = ask_questions(
        document_set=world.sets["port"], texts=["Is it so?", "Is it far?"], by=world.mona
    )
    answer(first, "yes", judge=world.judge, reason="It says so.")
    retire_question(question=second, by=world.mona)
    told = client_of("vic").get(place(world)).json()
    assert told["judge"] == "lexical"
    assert told["results"][0] == {
        "id": first.public_id,
        "position": 1,
        "text": "Is it so?",
        "origin": "added by mona",
        "is_made_up": False,
        "retired_at": None,
        "source": {"label": "yes", "probability": None, "evidence": [], "reason": "It says so."},
    }
    assert told["results"][1]["source"] is None
    assert told["results"][1]["retired_at"] is not None


def test_a_manager_asks(world: World, client_of: ApiDoor) -> None:
    answered = client_of("mona").post(place(world), {"questions": ["Is it so?"]}, format="json")
    assert answered.status_code == 201
    [told] = answered.json()
    assert told["text"] == "Is it so?"
    assert Question.objects.get().public_id == told["id"]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"questions": []}, 400),
        ({"questions": "Is it so?"}, 400),
        ({"questions": ["x" * 1001]}, 400),
        ({"questions": [""]}, 400),
        ({"questions": [f"Is it {number}?" for number in range(500)]}, 400),
        ({"questions": ["?!"]}, 422),
        ({"questions": ["Is it so?", "is it SO?"]}, 422),
    ],
)
def test_what_cannot_be_asked_is_refused(
    world: World, client_of: ApiDoor, body: dict[str, object], status: int
) -> None:
    assert client_of("mona").post(place(world), body, format="json").status_code == status
    assert not Question.objects.exists()


def test_a_summarys_answers_and_ratings(world: World, client_of: ApiDoor) -> None:
    [question] = ask_questions(document_set=world.sets["port"], texts=["Is it so?"], by=None)
    alder = world.peers["port", "alder"]
    answer(question, "yes", judge=world.judge)
    answer(question, None, judge=world.judge, summary=alder, reason="refused")
    Rating.objects.create(
        summary=alder, name="completeness", origin_name="completeness", value=0.5, reason="Missing: quick."
    )
    told = client_of("vic").get(f"{HERE}summaries/{alder.public_id}/answers/").json()
    assert told == {
        "judge": "lexical",
        "questions": [
            {
                "question": question.public_id,
                "text": "Is it so?",
                "source": {"label": "yes", "probability": None, "evidence": [], "reason": ""},
                "answer": {"label": None, "probability": None, "evidence": [], "reason": "refused"},
                "counts": False,
                "standing": "unscored",
            }
        ],
        "ratings": [{"name": "completeness", "value": 0.5, "judge": "", "reason": "Missing: quick."}],
    }


def test_a_model_summary_answers_nothing(world: World, client_of: ApiDoor) -> None:
    address = f"{HERE}summaries/{world.models['port'].public_id}/answers/"
    assert client_of("vic").get(address).status_code == 404


def test_a_run_is_asked_for_questions(world: World, client_of: ApiDoor) -> None:
    body = {"judge": "lexical", "metrics": ["question_coverage"], "n_questions": 7}
    assert client_of("mona").post(f"{HERE}runs/", body, format="json").json()["n_questions"] == 7
