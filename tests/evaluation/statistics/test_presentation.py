"""The order in which summaries are judged, and repeats."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.errors import InvalidPercent
from evaluation.statistics import Presented, drawn_repeats, presentation_order, repeat_count


def peers_in(order: list[tuple[int, bool]], comparisons: list[Presented]) -> list[int]:
    of = {row.comparison: row.peer for row in comparisons}
    return [of[comparison] for comparison, _ in order]


def one_each(targets: dict[int, int | None]) -> list[Presented]:
    """One comparison of each peer, with the peer's number."""
    return [Presented(peer, peer, target) for peer, target in targets.items()]


def test_targets_fall_and_those_without_one_come_last() -> None:
    rows = one_each({1: 10, 2: None, 3: 100, 4: 50})
    assert peers_in(presentation_order(rows, seed=1), rows) == [3, 4, 1, 2]


def test_within_a_target_every_order_comes_about() -> None:
    rows = one_each({1: 100, 2: 100, 3: 100})
    orders = Counter(tuple(peers_in(presentation_order(rows, seed=seed), rows)) for seed in range(600))
    # Six orders of 100 each expected; the standard deviation is sqrt(600 * 1/6 * 5/6) = 9.1.
    assert len(orders) == 6
    assert all(abs(count - 100) < 5 * 9.1 for count in orders.values())


def test_the_comparisons_of_a_peer_follow_each_other() -> None:
    rows = [Presented(10 * peer + model, peer, 100) for peer in (1, 2, 3) for model in (1, 2)]
    order = peers_in(presentation_order(rows, seed=4), rows)
    assert [order[place] for place in (0, 2, 4)] == [order[place] for place in (1, 3, 5)]


def test_a_repeat_comes_behind_all_of_its_length() -> None:
    rows = one_each({1: 100, 2: 100, 3: 100, 4: 10, 5: 10, 6: 10})
    order = presentation_order(rows, seed=2, repeated={2})
    # Four of 100 words, the repeated one first and last of them; then three of 10.
    assert order[0].comparison == order[3].comparison == 2
    assert [showing.is_repeat for showing in order] == [False, False, False, True, False, False, False]


def test_where_a_length_has_one_or_two_peers_its_repeat_comes_at_the_very_end() -> None:
    rows = one_each({1: 100, 2: 50, 3: 10})
    order = presentation_order(rows, seed=2, repeated={1})
    assert order == [(1, False), (2, False), (3, False), (1, True)]


def test_all_comparisons_of_a_repeated_peer_come_again() -> None:
    rows = [Presented(10 * peer + model, peer, 100) for peer in (1, 2, 3) for model in (1, 2)]
    order = presentation_order(rows, seed=4, repeated={3})
    assert sorted(comparison for comparison, is_repeat in order if is_repeat) == [31, 32]


def test_the_order_does_not_depend_on_that_of_the_input() -> None:
    rows = one_each(dict.fromkeys(range(8), 100))
    assert presentation_order(rows, seed=9) == presentation_order(rows[::-1], seed=9)


@pytest.mark.parametrize(
    ("peers", "share", "count"),
    [(10, 0, 0), (2, 1, 0), (3, 0.01, 1), (10, 0.25, 3), (10, 0.24, 2), (3, 1, 3), (0, 0.5, 0)],
)
def test_how_many_come_twice(peers: int, share: float, count: int) -> None:
    assert repeat_count(peers, share) == count


def test_a_share_of_repeats_beyond_all_is_refused() -> None:
    with pytest.raises(InvalidPercent):
        repeat_count(5, 1.5)


def test_repeats_are_drawn_from_all_peers_alike() -> None:
    counts = Counter(peer for seed in range(900) for peer in drawn_repeats({1, 2, 3}, count=1, seed=seed))
    # 300 each expected, standard deviation sqrt(900 * 1/3 * 2/3) = 14.1.
    assert all(abs(counts[peer] - 300) < 5 * 14.1 for peer in (1, 2, 3))


@given(
    st.dictionaries(st.integers(0, 20), st.sampled_from([None, 10, 50, 100]), min_size=1),
    st.integers(1, 3),
    st.floats(0, 1),
    st.integers(0, 2**32),
)
def test_everything_comes_once_and_repeats_after_their_first(
    targets: dict[int, int | None], models: int, share: float, seed: int
) -> None:
    rows = [
        Presented(10 * peer + model, peer, target)
        for peer, target in targets.items()
        for model in range(models)
    ]
    repeated = drawn_repeats(targets.keys(), count=repeat_count(len(targets), share), seed=seed)
    order = presentation_order(rows, seed=seed, repeated=repeated)
    firsts = [comparison for comparison, is_repeat in order if not is_repeat]
    assert sorted(firsts) == sorted(row.comparison for row in rows)
    again = {comparison: place for place, (comparison, is_repeat) in enumerate(order) if is_repeat}
    assert {comparison // 10 for comparison in again} == repeated
    assert len(again) == len(repeated) * models
    assert all(order.index((comparison, False)) < place for comparison, place in again.items())
    # A first time never follows a shorter target.
    shown = [targets[comparison // 10] or 0 for comparison in firsts]
    assert shown == sorted(shown, reverse=True)
