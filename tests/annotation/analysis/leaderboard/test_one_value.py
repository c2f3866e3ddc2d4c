"""One value of each score, the same on page, in the API and by the command."""

from __future__ import annotations

import re
from collections.abc import Callable
from io import StringIO
from typing import TYPE_CHECKING

import pytest
from django.core.management import call_command

from annotation.models import Check
from annotation.reviewing.services.review import override
from annotation.sampling.services.sample_checks import sample_checks
from tests.annotation.analysis.leaderboard.test_web import rows_of
from tests.annotation.judging.doing import judge_to_end
from tests.annotation.planning import answer_sample, lay_sets

if TYPE_CHECKING:
    from annotation.models import Draw
    from tests.annotation.cast import World
    from tests.annotation.conftest import ApiDoor, SignIn

pytestmark = pytest.mark.django_db
PAGE = "/p/harbour/scores/"


@pytest.fixture
def laid(world: World) -> World:
    lay_sets(world, 9)
    return world


def sample(world: World, share: float, seed: int) -> Draw:
    return sample_checks(project=world.project, by=world.mona, method="uniform", share=share, seed=seed)


def half_answered(world: World, seed: int) -> None:
    taken = sample(world, 0.6, seed)
    for row in taken.sampled_checks.select_related("check_row")[: taken.sampled_checks.count() // 2]:
        override(check=row.check_row, by=world.rex, label="yes")


def finished(world: World, seed: int) -> None:
    answer_sample(world, sample(world, 0.6, seed))


def finished_and_begun(world: World, seed: int) -> None:
    finished(world, seed)
    half_answered(world, seed + 1)


def census(world: World, seed: int) -> None:
    finished(world, seed)
    for check in Check.objects.filter(project=world.project, side="reference", human_label=None):
        override(check=check, by=world.rex, label="no" if check.pk % 2 else "yes")


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("answer", "score"),
    [
        (None, "coverage"),
        (half_answered, "coverage"),
        (finished, "coverage_estimate"),
        (finished_and_begun, "coverage_estimate"),
        (census, "coverage"),
    ],
)
def test_every_road_shows_the_same_value_and_no_other(
    laid: World,
    signed_in: SignIn,
    client_of: ApiDoor,
    answer: Callable[[World, int], None] | None,
    score: str,
    seed: int,
) -> None:
    if answer is not None:
        answer(laid, seed)
    told = client_of("vic").get("/api/v1/projects/harbour/leaderboard/").json()
    assert told["score"] == score
    table = next(each for each in told["tables"] if each["target_words"] == 20)
    page = signed_in(laid.vic).get(f"{PAGE}?target=20").content.decode()
    shown = {row["system"]: row["scores"][score] for row in table["rows"]}
    by_page = re.findall(r'class="num plotted" data-name="([^"]+)">\s*(?:<[^>]+>\s*)*([\d.]+)', page)
    assert {name for name, _ in by_page} == {
        "estimated coverage" if score.endswith("estimate") else "coverage"
    }
    assert sorted(value for _, value in by_page) == sorted(f"{each['mean']:.3f}" for each in shown.values())
    others = set(re.findall(r'<td class="num" data-name="([^"]+)"', page))
    assert not others & {"coverage", "judge", "people", "estimated coverage"}
    out = StringIO()
    call_command("leaderboard", "harbour", stdout=out)
    assert all(f"{each['mean']:.3f}" in out.getvalue() for each in shown.values())
    sentence = " ".join(re.sub("<[^>]+>", "", page).split())
    if answer is half_answered:
        assert "answered. Estimates use it once all are answered." in sentence
    assert ("According to the estimate" in sentence) == score.endswith("estimate")


def test_every_value_stands_under_its_head(laid: World, signed_in: SignIn, client_of: ApiDoor) -> None:
    judge_to_end(laid.project, laid.judge, ["coverage", "alignment"])
    finished(laid, 0)
    answer_sample(
        laid,
        sample_checks(
            project=laid.project, by=laid.mona, method="uniform", share=1.0, seed=1, side=Check.Side.PEER
        ),
    )
    told = client_of("vic").get("/api/v1/projects/harbour/leaderboard/").json()
    table = next(each for each in told["tables"] if each["target_words"] == 20)
    page = signed_in(laid.vic).get(f"{PAGE}?target=20").content.decode()
    heads, *rows = rows_of(page[page.index('class="league') :])
    columns = {"Brevity": "brevity", "Composite (⅔ coverage)": "composite_2_3"}
    columns["Estimated alignment"] = "alignment_estimate"
    assert columns.keys() <= set(heads)
    systems = {row["system"]: row["scores"] for row in table["rows"]}
    for row in rows[: len(systems)]:
        scores = systems[row[heads.index("System")].split()[0]]
        for words, name in columns.items():
            assert row[heads.index(words)].split()[0] == f"{scores[name]['mean']:.3f}"
