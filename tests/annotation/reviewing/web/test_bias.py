"""The page of the bias watch: its words are true of the numbers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tests.annotation.answering import add_checks, answer_fourteen, look, say

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.contrib.auth.models import User
    from django.test import Client

    from tests.annotation.cast import World

    SignIn = Callable[[User], Client]

BIAS = "/p/harbour/settings/bias/"


def text_of(client: Client, address: str = BIAS) -> str:
    answer = client.get(address)
    assert answer.status_code == 200
    return " ".join(re.sub(r"<[^>]*>", " ", answer.content.decode()).split())


def test_without_answers_it_says_so(world: World, signed_in: SignIn) -> None:
    assert "No checks have been answered yet." in text_of(signed_in(world.mona))


def test_what_can_be_said_is_said_in_words(world: World, signed_in: SignIn) -> None:
    answer_fourteen(world)
    text = text_of(signed_in(world.mona))
    # See the tests of the query: 4 of 17 switched, 9 of 12 pairs agree.
    assert "Reviewers changed 4 of 17 differing answers (24 %)" in text.replace("'", "&#x27;")
    assert "to the judge" in text
    assert "pairs of reviewers gave the same answer in 9 of 12 cases (75 %)." in text
    assert "control items (" not in text
    assert "No control items are shown at present" in text


def test_answers_with_a_planted_verdict_are_not_counted_and_that_is_said(
    world: World, signed_in: SignIn
) -> None:
    # Twelve answers that are not the judge's no; at two of them a planted yes, which agreed, was shown instead of it.
    for number, check in enumerate(add_checks(world, 12)):
        look(check, world.rex, planted="yes" if number < 2 else None, told=number < 2)
        say(check, world.rex, "yes")
    text = text_of(signed_in(world.mona))
    # 12 - 2 = 10, and none of the ten was changed.
    assert "Reviewers changed 0 of 10 differing answers (0 %)" in text
    assert "Left out are checks with a control item" in text


def test_too_few_is_said_with_how_many_there_are(world: World, signed_in: SignIn) -> None:
    for check in add_checks(world, 9):
        say(check, world.rex, "yes", ms=4200)
    text = text_of(signed_in(world.mona))
    assert "Not known yet: this needs at least 10 answers of a kind." in text
    assert "too few (9 of 9)" in text
    assert "100 %" not in text


def test_where_the_verdict_is_always_shown_it_says_that_nothing_comes_before(
    world: World, signed_in: SignIn
) -> None:
    world.project.reveal = "shown"
    world.project.save()
    assert "so there are no new blind answers" in text_of(signed_in(world.mona))


def test_one_reviewer_has_no_line_for_all_together(world: World, signed_in: SignIn) -> None:
    for check in add_checks(world, 10):
        say(check, world.rex, "yes")
    assert "All together" not in text_of(signed_in(world.mona))


def test_the_tabs_of_the_settings_lead_to_it(world: World, signed_in: SignIn) -> None:
    assert f'href="{BIAS}"' in signed_in(world.mona).get("/p/harbour/settings/").content.decode()


def test_the_file_is_fetched_from_the_page(world: World, signed_in: SignIn) -> None:
    answer_fourteen(world)
    answer = signed_in(world.mona).get(f"{BIAS}file/?format=csv")
    assert answer["Content-Disposition"] == 'attachment; filename="harbour-bias.csv"'
    assert answer.content.decode().splitlines()[0].startswith("person,answers,in_lists,in_lists_n,")
    assert signed_in(world.mona).get(f"{BIAS}file/?format=xlsx").status_code == 422
