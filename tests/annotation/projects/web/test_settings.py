"""Changing a project's rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from annotation.models import Event, Project
from tests.annotation.conftest import HTMX

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.contrib.auth.models import User
    from django.test import Client

    from tests.annotation.cast import World

ROOM = "/p/harbour/settings/"
RULES = {
    "name": "Harbour study",
    "description": "Read slowly.",
    "blend": "weighted",
    "blend_human_weight": "0.75",
    "assessor_average": "median",
    "composite_weight": "0.5",
    "percent_scale": "fives",
    "question_set": "own",
    "own_questions": '[{"id": "clear", "text": "Is it clear?", "answers": ["no", "yes"]}]',
    "repeat_share": "0.1",
    "lease_minutes": "45",
    "reveal": "on_request",
    "planted_share": "0",
    "dispute_threshold": "0.5",
    "dispute_voices": "judge",
    "audit_share": "0",
    "own_adjudication": "on",
    "deciding_judge": "lexical",
}


@pytest.fixture
def mona(world: World, signed_in: Callable[[User], Client]) -> Client:
    return signed_in(world.mona)


def test_a_plain_form_saves_and_comes_back(world: World, mona: Client) -> None:
    assert mona.post(ROOM, RULES)["Location"] == ROOM
    project = Project.objects.get(slug="harbour")
    assert (project.blend, project.blend_human_weight, project.composite_weight) == ("weighted", 0.75, 0.5)
    assert (project.reveal, project.percent_scale) == ("on_request", "fives")
    assert (project.question_set, project.repeat_share, project.lease_minutes) == ("own", 0.1, 45)
    assert [question["id"] for question in project.own_questions] == ["clear"]
    assert (project.dispute_threshold, project.dispute_voices, project.own_adjudication) == (
        0.5,
        "judge",
        True,
    )
    assert Event.objects.filter(verb="change project").count() == 1


def test_htmx_gets_the_form_with_what_was_saved(mona: Client) -> None:
    page = mona.post(ROOM, RULES, headers=HTMX).content.decode()
    assert page.lstrip().startswith('<form id="rules"')
    assert 'value="0.75"' in page
    assert "Saved." in page


@pytest.mark.parametrize("headers", [{}, HTMX], ids=["page", "htmx"])
@pytest.mark.parametrize(
    "wrong",
    [
        {"blend_human_weight": "1.5"},
        {"composite_weight": "-1"},
        {"blend": "coin"},
        {"name": ""},
        {"own_questions": "[{"},
        {"own_questions": "[]"},
        {"own_questions": '[{"id": "1"}]'},
        {"repeat_share": "2"},
        {"lease_minutes": "0"},
    ],
)
def test_a_rule_out_of_range_is_refused_and_what_was_typed_kept(
    world: World, mona: Client, wrong: dict[str, str], headers: dict[str, str]
) -> None:
    answer = mona.post(ROOM, {**RULES, **wrong}, headers=headers)
    page = answer.content.decode()
    assert answer.status_code == 422
    assert f'id="{next(iter(wrong))}-fault"' in page
    assert "Read slowly." in page
    assert ("<html" in page) is not bool(headers)
    assert Project.objects.get(slug="harbour").blend == "human_first"


def test_what_is_wrong_is_said_first_with_the_way_to_it(mona: Client) -> None:
    page = mona.post(ROOM, {**RULES, "repeat_share": "2", "name": ""}, headers=HTMX).content.decode()
    summary = page[page.index('id="faults"') : page.index("</ul>")]
    assert 'role="alert" tabindex="-1" autofocus' in summary
    assert '<a href="#id_name">Name</a>' in summary
    assert '<a href="#id_repeat_share">Share of hidden repeats</a>' in summary
    assert page.index("</ul>") < page.index('name="name"')


def test_no_judge_may_decide(world: World, mona: Client) -> None:
    mona.post(ROOM, {**RULES, "deciding_judge": ""})
    assert Project.objects.get(slug="harbour").deciding_judge is None


def test_the_form_shows_the_rules_as_they_are(mona: Client) -> None:
    form = mona.get(ROOM).context["form"]
    assert form.initial["deciding_judge"] == "lexical"
    assert form.initial["blend"] == "human_first"
