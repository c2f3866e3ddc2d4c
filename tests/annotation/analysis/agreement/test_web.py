"""The agreement page and the judge page: contents, permissions and files."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING

import pytest

from annotation.assessing.services.assign import assign
from annotation.models import Analysis, Verdict
from evaluation.judging import LABELS
from tests.annotation.answering import answer_fourteen
from tests.annotation.conftest import HTMX

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.contrib.auth.models import User
    from django.test import Client

    from tests.annotation.cast import World

    SignedIn = Callable[[User], Client]

AGREEMENT, JUDGE = "/p/harbour/scores/agreement/", "/p/harbour/scores/judge/"


@pytest.fixture
def answered(world: World) -> World:
    """Rex and Cleo answered fourteen checks before they saw the judge's no to all of them."""
    Verdict.objects.bulk_create(
        Verdict(check_row=check, role="judge", judge=world.judge, origin_name="lexical|v:1", label="no")
        for check in answer_fourteen(world)
    )
    return world


@pytest.mark.parametrize(
    ("address", "words"),
    [(AGREEMENT, "No agreement to show yet."), (JUDGE, "No judge can be compared with people yet.")],
)
def test_a_project_without_answers_says_so(
    world: World, signed_in: SignedIn, address: str, words: str
) -> None:
    assert words in signed_in(world.olga).get(address).content.decode()


def test_agreement_shows_scales_and_pairs(answered: World, signed_in: SignedIn) -> None:
    html = " ".join(signed_in(answered.olga).get(AGREEMENT).content.decode().split())
    assert "two people gave the same answer on 75 % of the items that both answered" in html
    assert "<bdi>cleo</bdi> and <bdi>rex</bdi>" in html
    assert "<bdi>lexical</bdi> and <bdi>rex</bdi>" in html
    assert "4 answers to checks are left out" in html
    assert ", up to date.</p>" in html


def test_the_judge_page_answers_in_one_sentence(answered: World, signed_in: SignedIn) -> None:
    html = " ".join(signed_in(answered.olga).get(JUDGE).content.decode().split())
    assert "How often is <bdi>lexical</bdi> right?" in html
    # Of 14 checks people are divided on three; of the rest Rex and Cleo say no to 1 to 3 alone, and so does the judge.
    assert "Accuracy is 27 % on 11 checks" in html
    assert "People chose which checks of coverage to answer" in html
    assert "3 checks on which people are evenly divided are left out, which favours the judge." in html


def test_checks_that_the_judge_was_never_asked_are_told_apart(answered: World, signed_in: SignedIn) -> None:
    html = " ".join(signed_in(answered.olga).get(JUDGE).content.decode().split())
    assert "<dt>Checks that people answered</dt>" in html
    # Of the fourteen, people are divided on three; the judge is taken back its answer to one of the eleven.
    said = Verdict.objects.filter(role="reviewer").values_list("check_row", "label")
    both_yes = {key for key, _ in said if {label for check, label in said if check == key} == {"yes"}}
    Verdict.objects.filter(role="judge", check_row=min(both_yes), origin_name="lexical|v:1").delete()
    Analysis.objects.all().delete()
    html = " ".join(signed_in(answered.olga).get(JUDGE).content.decode().split())
    assert "<dt>Checks that people answered and it was asked</dt>" in html
    assert "<dd>10 of 11 <span" in html


def test_only_who_may_see_scores_sees_them(answered: World, signed_in: SignedIn) -> None:
    for address in (AGREEMENT, JUDGE, f"{AGREEMENT}pairs/file/", f"{JUDGE}versions/file/"):
        assert signed_in(answered.vic).get(address).status_code == 200
        assert signed_in(answered.rex).get(address).status_code == 403
        assert signed_in(answered.dan).get(address).status_code == 404


def test_the_blind_see_nothing_of_either(answered: World, signed_in: SignedIn) -> None:
    answered.project.memberships.filter(user=answered.olga).update(roles=["owner", "assessor"])
    assign(document_set=answered.sets["bridge"], assessor=answered.olga, by=None, seed=1)
    for address in (AGREEMENT, JUDGE):
        assert signed_in(answered.olga).get(address).status_code == 403


def test_a_scale_or_judge_that_is_not_there_is_not_found(answered: World, signed_in: SignedIn) -> None:
    client = signed_in(answered.olga)
    assert client.get(f"{AGREEMENT}?scale=percents").status_code == 404
    assert client.get(f"{JUDGE}?judge=nobody").status_code == 404
    assert client.get(f"{AGREEMENT}sums/file/").status_code == 404


def test_htmx_gets_the_fragment(answered: World, signed_in: SignedIn) -> None:
    client = signed_in(answered.olga)
    assert client.get(AGREEMENT, headers=HTMX).content.decode().lstrip().startswith('<div id="agreement"')
    assert client.get(JUDGE, headers=HTMX).content.decode().lstrip().startswith('<div id="judge"')


@pytest.mark.parametrize("table", ["scales", "pairs"])
def test_agreement_comes_as_files(answered: World, signed_in: SignedIn, table: str) -> None:
    client = signed_in(answered.olga)
    told = client.get(f"{AGREEMENT}{table}/file/?format=csv").content.decode()
    lines = list(csv.DictReader(io.StringIO(told)))
    rows = json.loads(client.get(f"{AGREEMENT}{table}/file/?format=json").content)
    assert len(lines) == len(rows) == {"scales": 1, "pairs": 3}[table]
    assert client.get(f"{AGREEMENT}{table}/file/?format=xls").status_code == 422


@pytest.mark.parametrize(
    ("table", "count"), [("versions", 1), ("confusion", len(LABELS) + 1), ("systems", 1)]
)
def test_judges_come_as_files(answered: World, signed_in: SignedIn, table: str, count: int) -> None:
    client = signed_in(answered.olga)
    rows = json.loads(client.get(f"{JUDGE}{table}/file/?format=json").content)
    assert len(rows) == count
    assert client.get(f"{JUDGE}{table}/file/").status_code == 200
