from __future__ import annotations

from typing import TYPE_CHECKING

from annotation.models import Score
from annotation.models.score import new_revision

if TYPE_CHECKING:
    from collections.abc import Callable

    from rest_framework.test import APIClient

    from tests.annotation.cast import World

    Client = Callable[[str], APIClient]

HERE = "/api/v1/projects/harbour/"


def judge_the_bridge(world: World) -> None:
    for system, coverage in (("alder", 0.25), ("birch", 0.5)):
        Score.objects.filter(summary=world.summaries["bridge", system]).update(
            coverage=coverage, coverage_judge=coverage, revision=new_revision()
        )


def test_the_leaderboard_says_how_sure_its_order_is(world: World, client_of: Client) -> None:
    judge_the_bridge(world)
    board = client_of("vic").get(f"{HERE}leaderboard/").json()
    (table,) = board["tables"]
    assert (board["is_stale"], board["made_at"] is not None) == (False, True)
    # Alder has .75 and .25, birch 0 and .5. Two sets have four flips of signs, and two of the flips give the largest
    # difference, so no p can be below .5.
    ranking = table["ranking"]
    front = {"level": ["alder"], "others": 1, "sets": 2, "may_be_best": ["alder", "birch"]}
    front |= {"ruled_out": [], "mean": 0.5, "next_mean": 0.25}
    assert (ranking["front"], ranking["level"]) == (front, 0.05)
    assert (ranking["groups"], ranking["places"]["alder"]["letters"]) == ([["alder", "birch"]], "a")
    assert table["headline"] == (
        "alder is ahead (50 %, next 25 %), judged by an unchecked judge. There are too few document sets to test it."
    )
    assert table["bases"]["coverage"] == {
        "column": "coverage",
        "name": "judge only, unchecked",
        "caption": "The intervals leave out the judge's mistakes, so they are too narrow.",
        "is_unchecked": True,
        "right": 0,
        "answered": 0,
    }
    (pair,) = ranking["compared"]
    # The differences are .75 and -.25 and their mean is .25. Without regard to sign, two of the four flips of signs
    # give .25 and two give .5, so all reach .25 and p is 1.
    assert (pair["first"], pair["second"], pair["sets"], pair["difference"]) == ("alder", "birch", 2, 0.25)
    assert (pair["p"], pair["adjusted_p"], pair["holds"]) == (1.0, 1.0, False)
