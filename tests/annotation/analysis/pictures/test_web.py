"""The pictures page and its downloads, and the pictures on the pages of judges and of progress."""

from __future__ import annotations

import csv
import io
import json
import re
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import pytest

from annotation.analysis.pictures import drawings
from annotation.analysis.pictures.web import PICTURES
from annotation.models import CheckLook
from annotation.reviewing.services.review import override
from tests.annotation.cast import CLAIMS
from tests.annotation.sitting import say, sit
from tests.annotation.web.test_pages import FORBIDDEN

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.contrib.auth.models import User
    from django.test import Client

    from tests.annotation.cast import World

pytestmark = pytest.mark.django_db
PAGE = "/p/harbour/scores/pictures/"


@pytest.fixture
def vic(world: World, signed_in: Callable[[User], Client], monkeypatch: pytest.MonkeyPatch) -> Client:
    """A viewer of a project in which people have answered some checks, for once enough for a curve."""
    monkeypatch.setattr(drawings, "FEWEST_FOR_CURVE", 1)
    for name, position, label in (("alder", 1, "yes"), ("alder", 2, "yes"), ("birch", 1, "no")):
        override(check=world.check(name, position), by=world.rex, label=label)
    return signed_in(world.vic)


def get(client: Client, address: str) -> str:
    answer = client.get(address)
    assert answer.status_code == 200, address
    return answer.content.decode()


@pytest.mark.parametrize("name", PICTURES)
def test_each_picture_stands_on_the_page_with_its_numbers_and_nothing_inline(vic: Client, name: str) -> None:
    page = get(vic, f"{PAGE}?show={name}")
    assert page.count('<svg class="picture"') == 1
    assert "<summary>Data table</summary>" in page
    assert not FORBIDDEN.findall(page)


@pytest.mark.parametrize("address", [f"{PAGE}?show=claims", f"{PAGE}claims/file/"])
def test_whoever_may_review_knows_the_answers_that_the_picture_of_claims_shows(
    world: World, vic: Client, signed_in: Callable[[User], Client], address: str
) -> None:
    for client in (vic, signed_in(world.olga)):
        get(client, address)
    looks = CheckLook.objects.filter(revealed_at__isnull=False).exclude(person=world.rex)
    assert {each.person for each in looks} == {world.olga}
    assert len(looks) == 6


@pytest.mark.parametrize("name", PICTURES)
def test_each_picture_can_be_taken_away_from_the_addresses_beside_it(vic: Client, name: str) -> None:
    page = get(vic, f"{PAGE}?show={name}")
    addresses = [each.replace("&amp;", "&") for each in re.findall(r'href="([^"]*/file/[^"]*)"', page)]
    kinds = {}
    for address in addresses:
        answer = vic.get(address)
        assert (address, answer.status_code) == (address, 200)
        assert "attachment" in answer["Content-Disposition"]
        kinds[address.rpartition("=")[2]] = answer.content
    assert set(kinds) == {"svg", "png", "csv", "json"}
    assert ElementTree.fromstring(kinds["svg"].decode()).tag.endswith("svg")
    assert kinds["png"].startswith(b"\x89PNG")
    lines = list(csv.DictReader(io.StringIO(kinds["csv"].decode())))
    assert len(lines) == len(json.loads(kinds["json"]))


def test_a_ranking_is_drawn_of_the_score_that_is_asked_for(vic: Client) -> None:
    # The judge says yes to two of three claims of alder and to none of birch, one unit each way: ½·½ + ½·1 = ¾.
    [alder, birch] = json.loads(get(vic, f"{PAGE}ranking/file/?by=coverage_judge&target=20&format=json"))
    assert (alder["system"], alder["mean"]) == ("alder", 0.75)
    assert (birch["system"], birch["mean"]) == ("birch", 0.0)


def test_cells_lead_to_where_the_claim_is_explained(vic: Client) -> None:
    page = get(vic, f"{PAGE}?show=claims")
    links = set(re.findall(r'href="(/p/harbour/scores/summaries/[^"]+)"', page))
    assert len(links) == len(CLAIMS) * 2
    for link in links:
        address, _, anchor = link.partition("#")
        assert f'id="{anchor}"' in get(vic, address)


def test_the_judge_is_drawn_on_its_own_page(vic: Client) -> None:
    page = get(vic, "/p/harbour/scores/judge/")
    assert page.count('<svg class="picture"') == 2
    assert "too few for a curve" in page


def test_a_system_stands_where_people_and_judge_put_it(vic: Client) -> None:
    [alder, birch] = json.loads(get(vic, f"{PAGE}judge/file/?format=json"))
    # Of alder people say yes twice, the judge once; of birch neither says yes.
    assert (alder["checks"], alder["people_yes"], alder["judge_yes"]) == (2, 1.0, 0.5)
    assert (birch["checks"], birch["people_yes"], birch["judge_yes"]) == (1, 0.0, 0.0)


def test_work_is_drawn_by_day_where_progress_is(world: World, signed_in: Callable[[User], Client]) -> None:
    say(sit(world, "ana", "port"), "alder", (40, (1,), 10))
    override(check=world.check("alder", 1), by=world.rex, label="yes")
    mona = signed_in(world.mona)
    page = get(mona, "/p/harbour/progress/?view=days")
    assert "1 of 4 units judged by assessors; 1 of 6 claims answered by reviewers" in page
    [day] = json.loads(get(mona, "/p/harbour/progress/days/file/?format=json"))
    assert (day["judged"], day["answered_so_far"]) == (1, 1)


def test_of_no_work_nothing_is_drawn(world: World, signed_in: Callable[[User], Client]) -> None:
    page = get(signed_in(world.mona), "/p/harbour/progress/?view=days")
    assert "No answers yet" in page


@pytest.mark.parametrize("name", PICTURES)
def test_a_project_without_scores_says_what_is_lacking(
    world: World, signed_in: Callable[[User], Client], name: str
) -> None:
    page = get(signed_in(world.dan), f"/p/quarry/scores/pictures/?show={name}")
    assert "No data to plot yet" in page


@pytest.mark.parametrize(
    ("address", "status"),
    [
        (f"{PAGE}?show=nothing", 422),
        (f"{PAGE}?show=claims&after=nowhere", 422),
        (f"{PAGE}?target=7", 404),
        (f"{PAGE}?show=judge&judge=nobody", 404),
        (f"{PAGE}nothing/file/", 404),
        (f"{PAGE}ranking/file/?format=gif", 422),
    ],
)
def test_what_is_not_there_is_refused(vic: Client, address: str, status: int) -> None:
    assert vic.get(address).status_code == status
