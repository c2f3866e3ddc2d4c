"""Macro means and their intervals, by hand."""

import pytest

from annotation.queries.averages import Observation, averages
from evaluation import bootstrap_interval


def observe(system: str, document_set: str, value: float | None, cluster: str | None = None) -> Observation:
    return Observation(system, document_set, cluster or document_set, (value,))


def test_summaries_of_a_set_are_averaged_before_the_sets() -> None:
    seen = [observe("alder", "a", 0.2), observe("alder", "a", 0.4), observe("alder", "b", 0.9)]
    found = averages(seen, ["c"])["alder"]["c"]
    # Set a: (0.2 + 0.4) / 2 = 0.3; set b: 0.9; mean 0.6 (and not 0.5, the mean of the three).
    assert found.mean == pytest.approx(0.6)
    assert (found.n, found.left_out) == (2, 0)


def test_a_group_weighs_as_much_as_it_has_sets() -> None:
    seen = [
        observe("alder", "a", 0.0, "storm"),
        observe("alder", "b", 0.0, "storm"),
        observe("alder", "c", 0.9, "strike"),
    ]
    # Over the sets: 0.9 / 3 = 0.3; the mean of the two groups' means would be 0.45.
    assert averages(seen, ["c"])["alder"]["c"].mean == pytest.approx(0.3)


def test_resampling_groups_draws_whole_groups() -> None:
    seen = [observe("alder", name, 0.0, "storm") for name in "abc"] + [observe("alder", "d", 0.8, "strike")]
    grouped, free = (
        averages(observations, ["c"])["alder"]["c"]
        for observations in (seen, [one._replace(cluster=one.document_set) for one in seen])
    )
    # Two groups give the draws 0, 0.8 / 4 = 0.2 and 0.8 with odds 1:2:1: both ends are reached in a quarter of them.
    # Four free sets reach 0.8 in one draw of 256, more often than the share of about 1 in 8,000 that lies beyond
    # the upper end of four clusters' interval.
    assert (grouped.mean, grouped.low, grouped.high) == (pytest.approx(0.2), 0.0, pytest.approx(0.8))
    assert (free.mean, free.low, free.high) == (pytest.approx(0.2), 0.0, pytest.approx(0.8))


def test_an_interval_is_the_published_bootstrap_where_each_set_stands_alone() -> None:
    # Ascending, as sets and values: the library sorts its values before it draws.
    values = [0.1, 0.25, 0.4, 0.6, 0.95]
    found = averages([observe("alder", f"set {n}", value) for n, value in enumerate(values)], ["c"])
    wanted = bootstrap_interval(values, method="expanded")
    average = found["alder"]["c"]
    assert (average.low, average.high) == (pytest.approx(wanted.low), pytest.approx(wanted.high))
    assert average.mean == pytest.approx(wanted.mean)


def test_all_systems_see_the_same_draws() -> None:
    values = {"a": 0.1, "b": 0.5, "c": 0.7, "d": 0.95}
    seen = [observe(system, name, value) for system in ("alder", "birch") for name, value in values.items()]
    found = averages(seen, ["c"])
    assert found["alder"] == found["birch"]


def test_a_missing_value_is_left_out_and_counted() -> None:
    seen = [observe("alder", "a", 0.2), observe("alder", "b", None), observe("alder", "c", 0.6)]
    found = averages(seen, ["c"])["alder"]["c"]
    assert found.mean == pytest.approx(0.4)
    assert (found.n, found.left_out) == (2, 1)


def test_a_system_that_lacks_sets_is_averaged_over_its_own() -> None:
    seen = [observe("alder", name, 0.5) for name in "abcd"] + [observe("birch", name, 0.2) for name in "ab"]
    birch = averages(seen, ["c"])["birch"]["c"]
    assert birch.mean == pytest.approx(0.2)
    # Draws without a or b say nothing of birch: they do not pull its interval to 0.
    assert (birch.low, birch.high) == (pytest.approx(0.2), pytest.approx(0.2))


def test_one_cluster_gives_a_mean_and_no_interval() -> None:
    seen = [observe("alder", "a", 0.2, "storm"), observe("alder", "b", 0.6, "storm")]
    found = averages(seen, ["c"])["alder"]["c"]
    assert (found.mean, found.low, found.high) == (pytest.approx(0.4), None, None)


def test_no_value_at_all_gives_nothing_and_never_nan() -> None:
    found = averages([observe("alder", "a", None), observe("alder", "b", None)], ["c"])["alder"]["c"]
    assert (found.mean, found.low, found.high, found.n, found.left_out) == (None, None, None, 0, 2)


def test_no_observation_gives_no_system() -> None:
    assert averages([], ["c"]) == {}


def test_many_columns_are_drawn_alike_in_slices() -> None:
    names = [f"c{number}" for number in range(600)]
    seen = [
        Observation("alder", name, name, (value,) * len(names))
        for name, value in (("a", 0.1), ("b", 0.8), ("c", 0.4))
    ]
    assert len(set(averages(seen, names, draws=200)["alder"].values())) == 1
