from __future__ import annotations

import pytest

from annotation.analysis.leaderboard.bars import axis_over, bar, league
from annotation.analysis.leaderboard.leaderboard import Average, leaderboard
from tests.annotation.cast import World


def average(mean: float | None, low: float | None = None, high: float | None = None, n: int = 12) -> Average:
    return Average(mean=mean, low=low, high=high, n=n, left_out=0)


def test_an_axis_holds_every_interval_and_little_more() -> None:
    axis = axis_over([average(0.62, 0.57, 0.67), average(0.60, 0.54, 0.65)])
    # From .54 to .67 in steps of .05, the axis extends from .50 to .70.
    assert (axis.low, round(axis.high, 9)) == (0.5, 0.7)
    assert [tick.text for tick in axis.ticks] == ["50", "55", "60", "65", "70"]


def test_an_axis_never_leaves_0_to_1() -> None:
    axis = axis_over([average(0.0, 0.0, 0.03), average(1.0, 0.96, 1.0)])
    assert (axis.low, axis.high) == (0.0, 1.0)
    scaled = axis_over([average(3.5, 3.1, 3.9)])
    # A scale of 5 has values above 1: from 3.1 to 3.9 in steps of .2.
    assert (round(scaled.low, 9), round(scaled.high, 9)) == (3.0, 4.0)


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_the_ends_of_the_scale_have_an_axis_too(value: float) -> None:
    axis = axis_over([average(value, value, value)] * 2)
    assert 0.0 <= axis.low < axis.high <= 1.0
    drawn = bar(average(value, value, value), axis)
    assert drawn.mean == ("8.0" if value == 0 else "232.0")


def test_no_value_at_all_has_the_whole_axis() -> None:
    axis = axis_over([average(None)])
    assert (axis.low, axis.high) == (0.0, 1.0)


def test_a_bar_lies_on_its_axis() -> None:
    axis = axis_over([average(0.5, 0.0, 1.0)])
    drawn = bar(average(0.5, 0.0, 1.0), axis)
    # The chart is 240 wide with a margin of 8 on both sides.
    assert (drawn.low, drawn.mean, drawn.high) == ("8.0", "120.0", "232.0")
    assert drawn.label == "50%, interval 0% to 100%"


def test_nothing_is_drawn_where_there_is_no_mean() -> None:
    assert bar(average(None), axis_over([])) is None


@pytest.mark.django_db
def test_a_league_may_be_cut(world: World) -> None:
    (table,) = leaderboard(world.project, score="brevity").tables
    drawn = league(table, most=1)
    assert [(line.row.rank, line.row.system) for line in drawn.rows] == [(1, "birch")]
    assert drawn.left_out == 1
