"""What people made of the judge's answers, by hand."""

from collections.abc import Mapping

import pytest

from annotation.analysis.leaderboard.averages import Observation, averages_of, set_means
from annotation.analysis.leaderboard.people_changed import PeopleChanged, people_changed
from annotation.analysis.leaderboard.words import changed_in_words

COLUMNS = ("coverage", "coverage_judge", "human_share")


def changed(
    systems: Mapping[str, list[tuple[float | None, float | None, float | None]]],
) -> PeopleChanged:
    """Of systems with (blend, judge, share) in sets 0, 1, 2 and so on."""
    seen = [
        Observation(system, f"set {number}", f"set {number}", values)
        for system, rows in systems.items()
        for number, values in enumerate(rows)
    ]
    found = set_means(seen, COLUMNS)
    return people_changed(found, averages_of(found, draws=100))


def test_a_new_leader_is_named() -> None:
    found = changed(
        {"alder": [(0.6, 0.6, 0.0), (0.6, 0.6, 0.0)], "birch": [(0.9, 0.5, 0.5), (0.7, 0.5, 0.3)]}
    )
    # Birch moves from .5 to .8; the share is the mean of 0 and .4.
    assert found.systems["birch"].by == pytest.approx(0.3)
    assert (found.systems["alder"].rank_by_judge, found.systems["alder"].rank_by_blend) == (1, 2)
    assert changed_in_words(found) == (
        "People decided 20 % of coverage (mean over systems). This changed the mean of 1 of 2 systems, "
        "birch, from 0.500 (judge alone) to 0.800. The judge alone would rank alder first instead of birch."
    )


def test_of_several_means_the_one_that_moved_most_is_named() -> None:
    # Alder moves by .1, birch by .3.
    found = changed({"alder": [(0.9, 0.8, 0.4)], "birch": [(0.5, 0.2, 0.4)]})
    assert (
        "This changed the means of 2 of 2 systems; the largest change is birch, from 0.200"
        in changed_in_words(found)
    )


def test_a_system_by_itself_is_compared_to_no_other() -> None:
    found = changed({"alder": [(0.9, 0.8, 0.4)]})
    assert changed_in_words(found) == (
        "People decided 40 % of coverage. This changed the mean of alder from 0.800 (judge alone) to 0.900."
    )


def test_the_same_order_is_said_to_be() -> None:
    found = changed({"alder": [(0.9, 0.8, 1.0)], "birch": [(0.2, 0.2, 0.0)]})
    assert changed_in_words(found).endswith("The ranking is unchanged.")


def test_systems_are_compared_on_the_sets_that_have_both() -> None:
    # The judge has said nothing of the second set, where people gave .1.
    found = changed({"alder": [(0.9, 0.7, 1.0), (0.1, None, 1.0)]})
    assert found.systems["alder"].blend == pytest.approx(0.9)
    assert found.systems["alder"].n == 1


def test_nothing_decided_by_people() -> None:
    found = changed({"alder": [(0.5, 0.5, 0.0)]})
    assert (
        changed_in_words(found) == "People have not decided anything yet, so the blend is the judge's score."
    )


def test_answers_that_moved_nothing() -> None:
    assert changed_in_words(changed({"alder": [(0.5, 0.5, 1.0)]})) == (
        "People decided 100 % of coverage; no mean changed."
    )


def test_of_several_systems_too() -> None:
    found = changed({"alder": [(0.9, 0.8, 1.0)], "birch": [(0.2, 0.2, 0.0)]})
    assert changed_in_words(found).startswith(
        "People decided 50 % of coverage (mean over systems). This changed the mean of 1 of 2 systems, alder,"
    )


def test_a_small_share_is_not_rounded_to_none() -> None:
    assert "less than 1 %" in changed_in_words(changed({"alder": [(0.6, 0.5, 0.001)]}))


def test_without_a_judge_there_is_nothing_to_say() -> None:
    found = changed({"alder": [(0.5, None, 1.0)]})
    assert (found.systems, changed_in_words(found)) == ({}, "")
