"""Letters, p-values and differences as the leaderboard writes them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from annotation.analysis.leaderboard.ranking import Place
from annotation.templatetags.numbers import p_value
from annotation.templatetags.places import (
    alike,
    alike_heads,
    signed,
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


def test_the_letters_of_all_groups_stand_above_their_columns() -> None:
    assert alike_heads(PLACES) == '<span class="groups"><i>a</i><i>b</i><i>c1</i></span>'


@pytest.mark.parametrize(
    ("write", "said"),
    [
        (p_value, {None: "–", 0.0: "< 0.001", 0.00099: "< 0.001", 0.05: "0.050", 1.0: "1.000"}),
        (signed, {None: "–", 0.1: "+0.100", -0.25: "−0.250", -0.0004: "+0.000"}),
    ],
)
def test_numbers_are_written_as_their_place_asks(
    write: Callable[[float | None], str], said: dict[float | None, str]
) -> None:
    assert {value: write(value) for value in said} == said
