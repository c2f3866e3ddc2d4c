from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from annotation.core.criteria import criteria_in_force
from evaluation.metrics import Criterion

if TYPE_CHECKING:
    from django.test import Client

    from tests.annotation.cast import World

PAGE = "/p/harbour/settings/criteria/"
TONE = {
    "name": "tone",
    "question": "Is the tone neutral?",
    "scale": "points",
    "points": "1 = biased\n2\n3) neutral",
    "higher_is_better": "1",
    "reads": "source",
    "answered_by": "both",
    "asked": "before",
}


def facts(world: World) -> list[Criterion]:
    return [row.fact for row in criteria_in_force(world.project)]


def test_a_question_is_added_changed_and_retired(world: World, mona: Client) -> None:
    assert mona.post(f"{PAGE}save/", TONE)["Location"] == PAGE
    tone = Criterion("tone", "Is the tone neutral?", (1, 3), ((1, "biased"), (3, "neutral")))
    assert [each.name for each in facts(world)] == ["unmarked", "tone"]
    assert facts(world)[1].points == tone.points
    assert facts(world)[1].reads == "source"
    page = mona.get(f"{PAGE}?change=tone").content.decode()
    assert "1 = biased" in page
    mona.post(f"{PAGE}save/", {**TONE, "question": "Is it calm?", "changed": "tone"})
    row = criteria_in_force(world.project).get(name="tone")
    assert (row.version, row.question) == (2, "Is it calm?")
    mona.post(f"{PAGE}retire/", {"name": "tone"})
    assert [each.name for each in facts(world)] == ["unmarked"]
    assert world.project.criteria.filter(name="tone").count() == 2


def test_a_set_of_questions_is_added_once(world: World, mona: Client) -> None:
    for _ in range(2):
        mona.post(f"{PAGE}pack/", {"pack": "Teams"})
    assert [each.name for each in facts(world)] == [
        "neutral_tone",
        "no_private_data",
        "usable_alone",
        "unmarked",
    ]


def test_what_cannot_be_asked_is_refused_and_kept_in_the_form(world: World, mona: Client) -> None:
    for wrong, said in (
        ({"points": "1.5 half"}, "is no answer"),
        ({"points": "9" * 5000}, "is no answer"),
        ({"points": "1 = a"}, "2 to 11"),
        ({"name": "alignment"}, "is a score"),
        ({"name": "tone_pooled"}, "is a score"),
        ({"name": ""}, "required"),
    ):
        answer = mona.post(f"{PAGE}save/", {**TONE, **wrong})
        assert answer.status_code in {422, 400}
        assert said in answer.content.decode()
        assert "Is the tone neutral?" in answer.content.decode()
    assert [each.name for each in facts(world)] == ["unmarked"]
    assert mona.get(f"{PAGE}?change=none").status_code == 404


@pytest.mark.parametrize(("act", "field"), [("pack", "pack"), ("retire", "name")])
def test_an_unknown_name_changes_nothing(mona: Client, act: str, field: str) -> None:
    assert mona.post(f"/p/harbour/settings/criteria/{act}/", {field: "nowhere"}).status_code == 422
