import pytest

from annotation.analysis.leaderboard.averages import Observation, averages
from evaluation.statistics import bootstrap_interval


def observe(system: str, document_set: str, value: float | None, cluster: str | None = None) -> Observation:
    return Observation(system, document_set, cluster or document_set, (value,))


def test_summaries_of_a_set_are_averaged_before_the_sets() -> None:
    seen = [observe("alder", "a", 0.2), observe("alder", "a", 0.4), observe("alder", "b", 0.9)]
    found = averages(seen, ["c"])["alder"]["c"]
    # Set a has (0.2 + 0.4) / 2 = 0.3 and set b 0.9, so the mean is 0.6. The mean of the three values would be 0.5.
    assert found.mean == pytest.approx(0.6)
    assert (found.n, found.left_out) == (2, 0)


def test_a_group_weighs_as_much_as_it_has_sets() -> None:
    seen = [
        observe("alder", "a", 0.0, "storm"),
        observe("alder", "b", 0.0, "storm"),
        observe("alder", "c", 0.9, "strike"),
    ]
    # The mean over sets is 0.9 / 3 = 0.3; the mean of the two groups' means would be 0.45.
    assert averages(seen, ["c"])["alder"]["c"].mean == pytest.approx(0.3)


def test_resampling_groups_draws_whole_groups() -> None:
    # Five groups have two equal sets each, so a resample of groups is a resample of five values, with the same
    # interval.
    values = [0.0, 0.1, 0.3, 0.4, 0.8]
    seen = [
        observe("alder", f"{group}{number}", value, f"group {group}")
        for group, value in enumerate(values)
        for number in "ab"
    ]
    grouped = averages(seen, ["c"])["alder"]["c"]
    wanted = bootstrap_interval(values, method="expanded")
    assert (grouped.low, grouped.high) == (pytest.approx(wanted.low), pytest.approx(wanted.high))
    free = averages([one._replace(cluster=one.document_set) for one in seen], ["c"])["alder"]["c"]
    assert grouped.mean == free.mean == pytest.approx(0.32)
    assert grouped.low < free.low


@pytest.mark.parametrize(("sets", "has_interval"), [(4, False), (5, True)])
def test_too_few_sets_give_no_interval(sets: int, has_interval: bool) -> None:
    found = averages([observe("alder", f"set {n}", n / 10) for n in range(sets)], ["c"])["alder"]["c"]
    assert (found.low is not None, found.high is not None) == (has_interval, has_interval)


def test_an_interval_is_the_published_bootstrap_where_each_set_stands_alone() -> None:
    # The values ascend in the order of the sets, because the library sorts values before it resamples.
    values = [0.1, 0.25, 0.4, 0.6, 0.95]
    found = averages([observe("alder", f"set {n}", value) for n, value in enumerate(values)], ["c"])
    wanted = bootstrap_interval(values, method="expanded")
    average = found["alder"]["c"]
    assert (average.low, average.high) == (pytest.approx(wanted.low), pytest.approx(wanted.high))
    assert average.mean == pytest.approx(wanted.mean)


def test_all_systems_see_the_same_draws() -> None:
    values = {"a": 0.1, "b": 0.5, "c": 0.7, "d": 0.95, "e": 0.3}
    seen = [observe(system, name, value) for system in ("alder", "birch") for name, value in values.items()]
    found = averages(seen, ["c"])
    assert found["alder"] == found["birch"]


def test_a_missing_value_is_left_out_and_counted() -> None:
    seen = [observe("alder", "a", 0.2), observe("alder", "b", None), observe("alder", "c", 0.6)]
    found = averages(seen, ["c"])["alder"]["c"]
    assert found.mean == pytest.approx(0.4)
    assert (found.n, found.left_out) == (2, 1)


def test_a_system_that_lacks_sets_is_averaged_over_its_own() -> None:
    seen = [observe("alder", name, 0.5) for name in "abcdefgh"]
    seen += [
        observe("birch", name, value) for name, value in zip("abcde", (0.1, 0.3, 0.2, 0.2, 0.2), strict=True)
    ]
    birch = averages(seen, ["c"])["birch"]["c"]
    assert birch.mean == pytest.approx(0.2)
    # Resamples without any of the sets a to e have no value for birch; they must not pull its interval to 0.
    assert 0.1 <= birch.low < birch.high <= 0.3


def test_where_all_sets_have_the_same_there_is_no_interval() -> None:
    # .1 + .2 equals .3 except for rounding.
    seen = [observe("alder", name, 0.3 if name < "d" else 0.1 + 0.2) for name in "abcdefgh"]
    alder = averages(seen, ["c"])["alder"]["c"]
    assert (alder.mean, alder.low, alder.high) == (pytest.approx(0.3), None, None)


def test_where_all_groups_have_the_same_there_is_none_whatever_their_sets_have() -> None:
    # Five groups have two sets each, at .2 and .4, so every resample of groups has the mean .3.
    seen = [
        Observation("alder", f"{group}{place}", group, (value,))
        for group in "abcde"
        for place, value in enumerate((0.2, 0.4))
    ]
    alder = averages(seen, ["c"])["alder"]["c"]
    assert (alder.mean, alder.low, alder.high) == (pytest.approx(0.3), None, None)


def test_no_value_at_all_gives_nothing_and_never_nan() -> None:
    found = averages([observe("alder", "a", None), observe("alder", "b", None)], ["c"])["alder"]["c"]
    assert (found.mean, found.low, found.high, found.n, found.left_out) == (None, None, None, 0, 2)


def test_many_columns_are_drawn_alike_in_slices() -> None:
    names = [f"c{number}" for number in range(600)]
    seen = [
        Observation("alder", name, name, (value,) * len(names))
        for name, value in (("a", 0.1), ("b", 0.8), ("c", 0.4), ("d", 0.2), ("e", 0.6))
    ]
    assert len(set(averages(seen, names, draws=200)["alder"].values())) == 1
