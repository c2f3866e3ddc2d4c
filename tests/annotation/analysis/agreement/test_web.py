from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from annotation.analysis.agreement.people import PersonAnswers, people_with_answers
from annotation.reviewing.services.review import override
from tests.annotation.answering import say

if TYPE_CHECKING:
    from tests.annotation.cast import World
    from tests.annotation.conftest import SignIn


AGREEMENT, JUDGE = "/p/harbour/scores/agreement/", "/p/harbour/scores/judge/"


@pytest.mark.parametrize(
    ("address", "words"),
    [(AGREEMENT, "No agreement to show yet."), (JUDGE, "no judge can be compared with people.")],
)
def test_a_project_without_answers_says_so(world: World, signed_in: SignIn, address: str, words: str) -> None:
    assert words in signed_in(world.olga).get(address).content.decode()


def test_agreement_shows_scales_and_pairs(answered: World, signed_in: SignIn) -> None:
    html = " ".join(signed_in(answered.olga).get(AGREEMENT).content.decode().split())
    assert "Two people gave the same answer for 75 % of the 12 claims that both judged." in html
    assert "<bdi>cleo</bdi> and <bdi>rex</bdi>" in html
    assert "<bdi>lexical</bdi> and <bdi>rex</bdi>" in html
    assert "4 answers to checks are left out" in html
    assert ", up to date.</p>" in html


def test_the_judge_page_answers_in_one_sentence(answered: World, signed_in: SignIn) -> None:
    html = " ".join(signed_in(answered.olga).get(JUDGE).content.decode().split())
    assert "Can the judge <bdi>lexical</bdi> be trusted?" in html
    # People are evenly divided on three of the 14 checks. Of the other 11, they say no to checks 1, 2 and 3 only. The
    # judge says no to all, so it is right on 3 of 11, which is 27 %.
    assert "Not known yet: it is right on 27 % of 11 claims that people answered" in html
    assert "People chose these 11 claims of coverage themselves" in html
    assert "3 claims on which people are evenly divided are left out, which favours the judge." in html


def test_a_scale_or_judge_that_is_not_there_is_not_found(answered: World, signed_in: SignIn) -> None:
    client = signed_in(answered.olga)
    assert client.get(f"{AGREEMENT}?scale=percents").status_code == 404
    assert client.get(f"{JUDGE}?judge=nobody").status_code == 404


def test_people_see_where_they_differ_and_how_each_compares_with_the_judge(
    world: World, signed_in: SignIn
) -> None:
    # The judge says yes, no and yes; the newest answer to each check counts.
    one, two, _ = world.checks("alder")
    say(one, world.rex, "no", ms=9000)
    for person, check, label, ms in (
        (world.rex, one, "yes", 2000),
        (world.rex, two, "yes", 4000),
        (world.cleo, one, "no", 0),
    ):
        override(check=check, by=person, label=label, active_ms=ms)
    assert people_with_answers(world.project) == (
        PersonAnswers("cleo", count=1, differ=1.0, seconds=None),
        PersonAnswers("rex", count=2, differ=0.5, seconds=3.0),
    )
    html = " ".join(signed_in(world.vic).get(AGREEMENT).content.decode().split())
    assert one.claim.text in html
    assert "yes and no" in html
    assert '<td class="num" data-name="differ from the judge">50 %</td>' in html
