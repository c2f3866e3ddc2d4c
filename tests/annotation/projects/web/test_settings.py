from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

import pytest

from annotation.models import Event, Project
from annotation.projects.services.change_project import RULES as CHANGEABLE
from annotation.projects.services.change_project import change_project
from annotation.projects.web.settings import ADVANCED, BASICS, RulesForm
from tests.annotation.conftest import HTMX

if TYPE_CHECKING:
    from django.test import Client

    from tests.annotation.cast import World

ROOM = "/p/harbour/settings/"
RULES = {
    "name": "Harbour study",
    "description": "Read slowly.",
    "blend": "weighted",
    "blend_human_weight": "0.75",
    "assessor_average": "median",
    "compares": "reference",
    "composite_weight": "0.5",
    "own_weights": "coverage 2, brevity 0.5",
    "least_scored": "0.4",
    "target_length": "30",
    "percent_scale": "fives",
    "assessors_per_set": "2",
    "lease_minutes": "45",
    "reveal": "shown",
    "dispute_threshold": "0.5",
    "dispute_answers": "judge",
    "deciding_judge": "lexical",
}


def test_a_weight_is_shown_in_four_decimals_and_left_as_it_is(world: World, mona: Client) -> None:
    shown = mona.get(ROOM).content.decode()
    assert 'value="0.6667"' in shown
    mona.post(ROOM, {**RULES, "composite_weight": "0.6667"})
    project = Project.objects.get(slug="harbour")
    assert (project.blend, project.composite_weight) == ("weighted", 2 / 3)


def test_a_plain_form_saves_and_comes_back(world: World, mona: Client) -> None:
    assert mona.post(ROOM, RULES)["Location"] == ROOM
    project = Project.objects.get(slug="harbour")
    assert (project.blend, project.blend_human_weight, project.composite_weight) == ("weighted", 0.75, 0.5)
    assert project.own_weights == {"coverage": 2, "brevity": 0.5}
    assert (project.reveal, project.percent_scale) == ("shown", "fives")
    assert (project.assessors_per_set, project.lease_minutes) == (2, 45)
    assert project.target_length == 30
    assert (project.dispute_threshold, project.dispute_answers) == (0.5, "judge")
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
        {"name": ""},
        {"assessors_per_set": "21"},
        {"description": "Read slowly." * 400},
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


def test_what_was_judged_fixes_its_rules_whatever_is_sent(world: World, mona: Client) -> None:
    page = mona.get(ROOM).content.decode()
    assert re.search(r'<select name="over_length"[^>]* disabled', page)
    mona.post(ROOM, {**RULES, "over_length": "truncate"})
    assert Project.objects.get(slug="harbour").over_length == "zero"


def test_every_rule_is_in_one_group() -> None:
    placed = [*BASICS, *(name for _, names in ADVANCED for name in names)]
    of_api = {name for name in CHANGEABLE if name.startswith("summarization_")}
    assert sorted(placed) == sorted(RulesForm.base_fields) == sorted({*CHANGEABLE} - of_api)


def as_filled(form: RulesForm, **typed: str) -> dict[str, str]:
    inputs = re.findall(r"<(?:input|select|textarea)[^>]*>", "".join(str(form[name]) for name in form.fields))
    hidden = {
        name: html.unescape(value[1] if (value := re.search(r'value="([^"]*)"', one)) else "")
        for one in inputs
        if (name := one.split('name="')[1].split('"')[0]).startswith("initial-")
    }
    shown = {name.removeprefix("initial-"): value for name, value in hidden.items() if value != "False"}
    return {**hidden, **shown, **typed}


def test_an_old_page_undoes_nothing(world: World, mona: Client) -> None:
    page = mona.get(ROOM).context["form"]
    change_project(project=world.project, by=world.olga, reveal="shown", summarization_strict=True)
    mona.post(ROOM, as_filled(page, name="Renamed"))
    project = Project.objects.get(slug="harbour")
    assert (project.name, project.reveal, project.summarization_strict) == ("Renamed", "shown", True)
    last = Event.objects.filter(verb="change project").order_by("pk").last()
    assert set(last.data["changed"]) == {"name"}
