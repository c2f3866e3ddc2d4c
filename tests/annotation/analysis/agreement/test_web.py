"""The agreement page and the judge page: contents, permissions and files."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING

import pytest

from evaluation.judging import LABELS
from tests.annotation.conftest import HTMX

if TYPE_CHECKING:
    from tests.annotation.cast import World
    from tests.annotation.conftest import SignIn


AGREEMENT, JUDGE = "/p/harbour/scores/agreement/", "/p/harbour/scores/judge/"


@pytest.mark.parametrize(
    ("address", "words"),
    [(AGREEMENT, "No agreement to show yet."), (JUDGE, "No judge can be compared with people yet.")],
)
def test_a_project_without_answers_says_so(world: World, signed_in: SignIn, address: str, words: str) -> None:
    assert words in signed_in(world.olga).get(address).content.decode()


def test_agreement_shows_scales_and_pairs(answered: World, signed_in: SignIn) -> None:
    html = " ".join(signed_in(answered.olga).get(AGREEMENT).content.decode().split())
    assert "two people gave the same answer on 75 % of the items that both answered" in html
    assert "<bdi>cleo</bdi> and <bdi>rex</bdi>" in html
    assert "<bdi>lexical</bdi> and <bdi>rex</bdi>" in html
    assert "4 answers to checks are left out" in html
    assert ", up to date.</p>" in html


def test_the_judge_page_answers_in_one_sentence(answered: World, signed_in: SignIn) -> None:
    html = " ".join(signed_in(answered.olga).get(JUDGE).content.decode().split())
    assert "How often is <bdi>lexical</bdi> right?" in html
    # Of 14 checks people are divided on three; of the rest Rex and Cleo say no to 1 to 3 alone, and so does the judge.
    assert "Accuracy is 27 % on 11 checks" in html
    assert "People chose which checks of coverage to answer" in html
    assert "3 checks on which people are evenly divided are left out, which favours the judge." in html


def test_a_scale_or_judge_that_is_not_there_is_not_found(answered: World, signed_in: SignIn) -> None:
    client = signed_in(answered.olga)
    assert client.get(f"{AGREEMENT}?scale=percents").status_code == 404
    assert client.get(f"{JUDGE}?judge=nobody").status_code == 404
    assert client.get(f"{AGREEMENT}sums/file/").status_code == 404


def test_htmx_gets_the_fragment(answered: World, signed_in: SignIn) -> None:
    client = signed_in(answered.olga)
    assert client.get(AGREEMENT, headers=HTMX).content.decode().lstrip().startswith('<div id="agreement"')
    assert client.get(JUDGE, headers=HTMX).content.decode().lstrip().startswith('<div id="judge"')


@pytest.mark.parametrize(
    ("table", "count"),
    [
        (f"{AGREEMENT}scales", 1),
        (f"{AGREEMENT}pairs", 3),
        (f"{JUDGE}versions", 1),
        (f"{JUDGE}confusion", len(LABELS) + 1),
        (f"{JUDGE}systems", 1),
    ],
)
def test_tables_come_as_files(answered: World, signed_in: SignIn, table: str, count: int) -> None:
    client = signed_in(answered.olga)
    told = client.get(f"{table}/file/").content.decode()
    rows = json.loads(client.get(f"{table}/file/?format=json").content)
    assert len(list(csv.DictReader(io.StringIO(told)))) == len(rows) == count
    assert client.get(f"{table}/file/?format=xls").status_code == 422
