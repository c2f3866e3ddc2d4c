from collections.abc import Mapping, Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from annotation.analysis.leaderboard.averages import Observation, averages_of, set_means
from annotation.analysis.leaderboard.ranking import Ranking, ranking_of
from annotation.analysis.leaderboard.values import WITHOUT_JUDGE, Basis


def ranked(values: Mapping[str, Sequence[float]]) -> Ranking:
    seen = [
        Observation(system, f"set {number}", f"set {number}", (value,))
        for system, column in values.items()
        for number, value in enumerate(column)
    ]
    found = set_means(seen, ["c"])
    means = {system: scores["c"] for system, scores in averages_of(found, draws=500).items()}
    order = sorted(means, key=lambda system: (-(means[system].mean or 0), system))
    return ranking_of(found, means, order, "c")


EVEN = [0.41, 0.39] * 4
"""Scores of eight sets, alternately above and below .4, with the mean .4."""


def test_a_leader_whose_differences_hold_leads() -> None:
    # Alder is ahead in all of 8 sets: 2 of 256 flips differ by as much, so p is .0078, and after Holm over three pairs
    # .0234 and .0156. Birch and cedar have nearly equal means, so p is 1.
    found = ranked({"alder": [0.8] * 8, "birch": [0.4] * 7 + [0.39], "cedar": EVEN})
    assert found.sentence() == "alder is best (80 %, next 40 %): every other system is significantly worse."
    assert (len(found.compared), found.holding) == (3, 2)
    assert found.groups == (("alder",), ("cedar", "birch"))
    assert {name: place.letters for name, place in found.places.items()} == {
        "alder": "a",
        "birch": "b",
        "cedar": "b",
    }
    assert found.places["birch"].group_marks == (False, True)


def test_whom_the_tests_cannot_tell_from_the_leader_is_named() -> None:
    found = ranked({"alder": [0.42, 0.39] * 4, "birch": EVEN, "cedar": [0.1] * 8})
    assert found.sentence() == "alder is ahead (40.5 %, next 40.0 %), but birch could be as good."
    assert found.groups == (("alder", "birch"), ("cedar",))


def test_many_near_the_leader_are_counted_and_the_few_that_are_ruled_out_named() -> None:
    # Means fall from .405 by .001 per system, in reverse alphabetical order. Each system varies by .01 in its own
    # order, so two systems differ by about .02 in half of the sets. Only cedar is far away.
    turns = {"z": (2,), "y": (1,), "x": (3,), "w": (6,), "v": (1, 2), "u": (1, 6)}
    near = {
        name: [0.405 - place / 1000 + 0.01 * (-1) ** sum(n // turn for turn in own) for n in range(12)]
        for place, (name, own) in enumerate(turns.items())
    }
    found = ranked({**near, "cedar": [0.01] * 12})
    assert found.sentence().endswith("but 6 of 7 systems could be best; cedar could not.")
    assert found.front.ruled_out == ("cedar",)


def test_nothing_is_told_apart_where_no_difference_holds() -> None:
    found = ranked({"alder": [0.43, 0.39] * 4, "birch": EVEN[1:] + EVEN[:1], "cedar": [0.39] * 8})
    assert found.sentence().endswith("but any other system could be as good.")
    assert found.holding == 0


def test_fewer_sets_still_say_nothing_of_how_surely() -> None:
    said = "alder is ahead (80 %, next 40 %). There are too few document sets to test it."
    assert ranked({"alder": [0.8] * 3, "birch": [0.4] * 3}).sentence() == said
    tied = ranked({"alder": [0.8] * 3, "birch": [0.8] * 3, "cedar": [0.1] * 3}).sentence()
    assert tied == "alder and birch are tied for first. There are too few document sets to test it."


def test_an_unchecked_judge_makes_nobody_the_best() -> None:
    clear = ranked({"alder": [1.0] * 8, "birch": [0.8, 0.9] * 4})
    by = "an unchecked judge"
    assert clear.sentence(by) == "alder is ahead (100 %, next 85 %), judged by an unchecked judge."
    checked = Basis("coverage", "judge + corrections", WITHOUT_JUDGE, right=6, answered=20)
    said = "alder is ahead (100 %, next 85 %), judged by a judge that was right on 6 of 20 sampled claims."
    assert clear.sentence(checked.judged_by) == said
    near = ranked({"alder": [0.42, 0.39] * 4, "birch": EVEN, "cedar": [0.1] * 8})
    said = "alder is ahead (40.5 %, next 40.0 %), judged by an unchecked judge, but birch could be as good."
    assert near.sentence(by) == said
    tied = ranked({"alder": [0.5] * 8, "birch": [0.5] * 8, "cedar": [0.1] * 8})
    assert tied.sentence(by) == "alder and birch are tied for first, judged by an unchecked judge."


def test_one_system_alone_and_none_at_all() -> None:
    assert ranked({"alder": [0.5] * 8}).sentence() == "alder is the only system with this score."
    assert ranked({}).sentence() == "No system has this score yet."


def test_a_leader_that_is_beaten_on_common_sets_does_not_lead() -> None:
    # Alder has .9 in sets that birch lacks. In the eight common sets birch is ahead by .2.
    seen = [Observation("alder", f"set {n}", f"set {n}", (0.2 if n < 8 else 0.9,)) for n in range(30)]
    seen += [Observation("birch", f"set {n}", f"set {n}", (0.4,)) for n in range(8)]
    found = set_means(seen, ["c"])
    means = {system: scores["c"] for system, scores in averages_of(found, draws=500).items()}
    ranking = ranking_of(found, means, ["alder", "birch"], "c")
    assert ranking.sentence() == "alder is ahead (71 %, next 40 %), but any other system could be as good."
    # A pair whose test contradicts the order of the means is not called different.
    assert [(pair.first, pair.difference, pair.holds) for pair in ranking.compared] == [
        ("alder", None, False)
    ]


@settings(max_examples=60, deadline=None)
@given(
    st.dictionaries(
        st.sampled_from(["alder", "birch", "cedar", "elm"]),
        st.lists(st.integers(0, 10).map(lambda n: n / 10), min_size=5, max_size=9),
        min_size=2,
    )
)
def test_headline_and_letters_never_contradict_one_another(values: dict[str, list[float]]) -> None:
    found = ranked(values)
    front = found.front
    first = front.level[0]
    said = found.sentence()
    with_first = {
        name for name, place in found.places.items() if set(place.letters) & set(found.places[first].letters)
    }
    best = set(front.may_be_best)
    assert first in best
    # Without missing sets, a system that may be best shares a letter with the first.
    if len({len(column) for column in values.values()}) == 1:
        assert best <= with_first
    assert (" is best (" in said) <= (best == {first})
    assert ("any other system" in said) <= (best == found.places.keys())
    if len(values) == 2 and len(front.level) == 1:
        assert (best == {first}) == (found.holding == 1)
