from __future__ import annotations

from annotation.analysis.leaderboard.ranking import Place
from annotation.templatetags.numbers import between, p_value
from annotation.templatetags.places import alike, alike_heads

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


def test_p_values_are_never_written_as_zero() -> None:
    said = {None: "–", 0.0: "< 0.001", 0.00099: "< 0.001", 0.05: "0.050", 1.0: "1.000"}
    assert {value: p_value(value) for value in said} == said


def test_the_bounds_of_a_difference_are_points_with_a_minus_below_zero() -> None:
    assert between(0.32, 0.661, "points") == "32 to 66 points"
    assert between(-0.25, -0.0004, "points") == "−25 to 0 points"
    assert between(0.461, 0.854) == "46–85 %"
    assert between(0.9, 7.25) == "0.90–7.25"
