"""Letters, p-values and differences as the leaderboard writes them."""

from __future__ import annotations

import pytest

from annotation.analysis.leaderboard.ranking import Place
from annotation.templatetags.numbers import p_value
from annotation.templatetags.places import (
    alike,
    alike_heads,
    level,
    p_short,
    signed,
    signed_short,
)

PLACES = {
    "alder": Place(letters="a", group_marks=(True, False, False)),
    "birch": Place(letters="bc", group_marks=(False, True, True)),
    "cedar": Place(letters="ac1", group_marks=(True, False, True)),
}


def test_each_group_has_its_column() -> None:
    assert alike(PLACES, "alder") == '<span class="groups"><i>a</i><i></i><i></i></span>'
    assert alike(PLACES, "birch") == '<span class="groups"><i></i><i>b</i><i>c</i></span>'


def test_a_letter_with_a_number_is_one() -> None:
    assert alike(PLACES, "cedar") == '<span class="groups"><i>a</i><i></i><i>c1</i></span>'


def test_a_system_without_a_mean_has_no_place() -> None:
    assert "–" in alike(PLACES, "fir")


@pytest.mark.parametrize(
    ("value", "said"), [(None, "–"), (0.0, "< 0.001"), (0.00099, "< 0.001"), (0.05, "0.050"), (1.0, "1.000")]
)
def test_p_values_are_never_nought(value: float | None, said: str) -> None:
    assert p_value(value) == said


@pytest.mark.parametrize(
    ("value", "said"), [(None, "–"), (0.1, "+0.100"), (-0.25, "−0.250"), (-0.0004, "+0.000")]
)
def test_differences_carry_their_sign(value: float | None, said: str) -> None:
    assert signed(value) == said


@pytest.mark.parametrize(("value", "said"), [(0.05, "5 %"), (0.0427, "4.3 %"), (0.0052, "0.52 %")])
def test_a_level_is_a_percent(value: float, said: str) -> None:
    assert level(value) == said


def test_the_letters_of_all_groups_stand_above_their_columns() -> None:
    assert alike_heads(PLACES) == '<span class="groups"><i>a</i><i>b</i><i>c1</i></span>'


@pytest.mark.parametrize(
    ("value", "said"),
    [(None, "–"), (0.0, ".00"), (-0.004, ".00"), (0.123, "+.12"), (-0.125, "−.12"), (1.0, "+1.00")],
)
def test_a_difference_in_a_narrow_cell(value: float | None, said: str) -> None:
    assert signed_short(value) == said


@pytest.mark.parametrize(
    ("value", "said"),
    [(None, "–"), (0.009, "<.01"), (0.048, ".048"), (0.0524, ".052"), (0.5, ".50"), (1.0, "1.00")],
)
def test_a_p_value_in_a_narrow_cell(value: float | None, said: str) -> None:
    assert p_short(value) == said
