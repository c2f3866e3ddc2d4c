"""Scales of round numbers, labels that keep apart, and texts cut to what they are given."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from annotation.analysis.pictures.charts.layout import (
    Box,
    apart,
    clipped,
    clipped_within,
    fitted,
    labelled,
    text_width,
    wrapped,
)

places = st.floats(0, 500, allow_nan=False)
points = st.lists(
    st.tuples(st.floats(40, 600), st.floats(40, 440), st.text("abcdefgh", min_size=3, max_size=12)),
    max_size=25,
)


@pytest.mark.parametrize(
    ("values", "ticks", "texts"),
    [
        # A range of .13 in at most six steps: the next round step above .0217 is .025, from .525 to .675.
        ([0.54, 0.67], (0.525, 0.55, 0.575, 0.6, 0.625, 0.65, 0.675), ("0.525", "0.675")),
        ([0, 147], (0, 25, 50, 75, 100, 125, 150), ("0", "150")),
        ([0, 12_000], (0, 2000, 4000, 6000, 8000, 10000, 12000), ("0", "12,000")),
    ],
)
def test_a_scale_has_round_steps_and_holds_its_values(
    values: list[float], ticks: tuple[float, ...], texts: tuple[str, str]
) -> None:
    scale = fitted(values, 0, 100)
    assert scale.ticks == pytest.approx(ticks)
    assert (scale.text(scale.ticks[0]), scale.text(scale.ticks[-1])) == texts


@given(st.lists(st.floats(0, 1), max_size=6))
@settings(suppress_health_check=[HealthCheck.too_slow])  # A busy machine is no fault of the scale.
def test_a_scale_of_shares_never_leaves_0_to_1(values: list[float]) -> None:
    scale = fitted(values, 0, 100, floor=0.0, ceiling=1.0)
    assert -1e-9 <= scale.low < scale.high <= 1 + 1e-9
    assert all(scale.low - 1e-9 <= value <= scale.high + 1e-9 for value in values)


@given(st.lists(places, min_size=1, max_size=25))
def test_labels_in_a_column_stand_a_gap_apart_in_the_order_of_what_they_name(wanted: list[float]) -> None:
    found = apart(wanted, 14, 0, 500)
    order = sorted(range(len(wanted)), key=lambda place: wanted[place])
    placed = [found[place] for place in order]
    assert all(after - before >= 14 - 1e-6 for before, after in pairwise(placed))
    assert placed[0] >= 0 - 1e-6
    assert placed[-1] <= 500 + 1e-6


def test_a_text_is_parted_at_its_blanks() -> None:
    # At size 10 small letters are 6.4 wide and a blank 3.4: "ab cd" is 29, "ab cd ek" 45.2.
    assert wrapped("ab cd ek", 30, 10) == ["ab cd", "ek"]
    assert wrapped("ab cd ek", 46, 10) == ["ab cd ek"]
    assert wrapped("  ", 30, 10) == []


def test_a_word_wider_than_the_line_is_parted_within() -> None:
    assert wrapped("a bcdekh", 20, 10) == ["a", "bcd", "ekh"]
    # Full-width characters of 10.5 each: one a line, though none has room for it.
    assert wrapped("漢字", 5, 10) == ["漢", "字"]


@given(st.text("abc iW漢", max_size=60), st.floats(12, 200))
def test_lines_keep_to_their_width_and_every_character(text: str, width: float) -> None:
    lines = wrapped(text, width, 10)
    assert all(text_width(line, 10) <= width for line in lines)
    assert "".join(lines).replace(" ", "") == "".join(text.split())


def test_labels_with_room_stay_where_they_want_to_be() -> None:
    assert apart([10, 200, 90], 14, 0, 500) == [10, 200, 90]


def test_more_labels_than_there_is_room_for_stand_closer() -> None:
    assert apart([0, 0, 0], 14, 0, 10) == pytest.approx([0, 5, 10])


@given(points)
def test_labels_cover_neither_points_nor_each_other(found: list[tuple[float, float, str]]) -> None:
    shapes = [shape for shape in labelled(found, Box(0, 0, 700, 500)) if shape.tag == "text"]
    boxes = [_box(shape.text, float(shape.at["x"]), float(shape.at["y"])) for shape in shapes]
    dots = [Box(x - 5, y - 5, x + 5, y + 5) for x, y, _ in found]
    assert not any(box.meets(dot) for box in boxes for dot in dots)
    assert not any(one.meets(other) for place, one in enumerate(boxes) for other in boxes[:place])


def test_a_text_is_cut_where_it_is_too_wide() -> None:
    assert clipped("short", 100, 12) == "short"
    cut = clipped("a rather long name of a system", 60, 12)
    assert cut.endswith("…")
    assert text_width(cut, 12) <= 60


def _box(text: str, x: float, y: float) -> Box:
    """A little less than the label was given, since places are rounded."""
    return Box(x + 0.1, y - 9, x + text_width(text, 11) - 0.1, y + 2)


def test_a_name_is_cut_in_its_middle() -> None:
    assert clipped_within("short", 100, 12) == "short"
    cut = clipped_within("summariser of 2026, large", 100, 12)
    assert text_width(cut, 12) <= 100
    head, tail = cut.split("…")
    assert "summariser of 2026, large".startswith(head)
    assert "summariser of 2026, large".endswith(tail)
    assert min(len(head), len(tail)) >= 3


def test_a_cut_name_with_no_room_is_an_ellipsis() -> None:
    assert clipped_within("summariser", 0, 12) == "…"
