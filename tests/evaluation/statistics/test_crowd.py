"""Dawid and Skene's consensus: a slow second form, a planted truth, ties, and what nobody said."""

import math
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.errors import EvaluationError
from evaluation.statistics.agreement._crowd import dawid_skene

Votes = list[list[str | None]]


def planted(seed: int, items: int, skills: list[float], gaps: float = 0.0) -> tuple[list[str], Votes]:
    """True answers, and votes of raters who are right with the probability of their skill."""
    chance = random.Random(seed)
    truth = [chance.choice("yn") for _ in range(items)]
    wrong = {"y": "n", "n": "y"}
    return truth, [
        [
            None if chance.random() < gaps else answer if chance.random() < skill else wrong[answer]
            for answer in truth
        ]
        for skill in skills
    ]


def slow_posteriors(votes: Votes, categories: list[str], rounds: int) -> list[dict[str, float]]:
    """The paper's equations 2.3 to 2.5 one by one, in products instead of logarithms."""
    items = range(len(votes[0]))
    said = [[row[item] for row in votes if row[item] is not None] for item in items]
    belief = [{c: answers.count(c) / len(answers) for c in categories} for answers in said]
    for _ in range(rounds):
        prior = {c: sum(belief[item][c] for item in items) / len(said) for c in categories}
        confusion: list[dict[tuple[str, str], float]] = []
        for row in votes:
            matrix = {}
            for c in categories:
                met = sum(belief[item][c] for item in items if row[item] is not None)
                for v in categories:
                    voted = sum(belief[item][c] for item in items if row[item] == v)
                    matrix[c, v] = voted / met if met else 0.0
            confusion.append(matrix)
        for item in items:
            likely = {}
            for c in categories:
                cast = [(matrix, row[item]) for matrix, row in zip(confusion, votes, strict=True)]
                likely[c] = prior[c] * math.prod(matrix[c, v] for matrix, v in cast if v is not None)
            belief[item] = {c: share / sum(likely.values()) for c, share in likely.items()}
    return belief


def test_it_equals_the_papers_equations_step_by_step() -> None:
    _, votes = planted(1, 40, [0.9, 0.8, 0.7, 0.6], gaps=0.2)
    votes[0] = [vote or "y" for vote in votes[0]]
    for rounds in (1, 5, 20):
        found = dawid_skene(votes, categories=["y", "n"], most_rounds=rounds, tolerance=0)
        assert found.rounds == rounds
        slow = slow_posteriors(votes, ["y", "n"], rounds)
        for row, belief in zip(found.posteriors, slow, strict=True):
            assert row is not None
            assert dict(zip("yn", row, strict=True)) == pytest.approx(belief, abs=1e-9)


def test_good_raters_outvote_many_poor_ones() -> None:
    # Two of five raters know the answer; three guess nearly at random. The majority is right far less often.
    truth, votes = planted(2, 2_000, [0.97, 0.97, 0.55, 0.55, 0.55])
    found = dawid_skene(votes)
    consensus = sum(a == b for a, b in zip(found.labels, truth, strict=True)) / len(truth)
    majority = sum(sum(row[item] == answer for row in votes) >= 3 for item, answer in enumerate(truth)) / len(
        truth
    )
    assert found.converged
    assert consensus > 0.95 > majority


def test_confusions_are_recovered() -> None:
    # Planted skills .9, .8 and .7: the share of right votes in either row, within three standard errors of .005.
    _, votes = planted(3, 20_000, [0.9, 0.8, 0.7])
    found = dawid_skene(votes, categories=["y", "n"])
    for matrix, skill in zip(found.confusions, [0.9, 0.8, 0.7], strict=True):
        assert matrix[0] is not None
        assert matrix[1] is not None
        assert matrix[0][0] == pytest.approx(skill, abs=0.03)
        assert matrix[1][1] == pytest.approx(skill, abs=0.03)


def test_a_single_rater_is_believed() -> None:
    found = dawid_skene([["a", "b", "a", None]])
    assert found.labels == ("a", "b", "a", None)
    assert found.posteriors == ((1, 0), (0, 1), (1, 0), None)
    assert found.priors == pytest.approx((2 / 3, 1 / 3))
    assert found.converged


def test_a_tie_that_nothing_settles_stays_one() -> None:
    found = dawid_skene([["a", "b"], ["b", "a"]])
    assert found.posteriors == ((0.5, 0.5), (0.5, 0.5))
    assert found.labels == (None, None)


def test_a_tie_is_settled_by_who_erred_elsewhere() -> None:
    # Raters 0, 1 and 2 are of one mind on six items, rater 3 on half of them; the last has only raters 0 and 3.
    rows = ["ababab" + "a", "ababab" + ".", "ababab" + ".", "bbbaab" + "b"]
    votes: Votes = [[None if vote == "." else vote for vote in row] for row in rows]
    assert dawid_skene(votes).labels[-1] == "a"


@pytest.mark.parametrize("ratings", [[], [[]], [[None, None], [None, None]]])
def test_where_nobody_voted_nothing_is_said(ratings: Any) -> None:
    found = dawid_skene(ratings, categories=["a", "b"])
    items = len(ratings[0]) if ratings else 0
    assert found.posteriors == found.labels == (None,) * items
    assert found.priors == (0.5, 0.5)
    assert (found.rounds, found.converged) == (0, True)


def test_a_category_that_a_rater_never_met_has_no_confusion() -> None:
    found = dawid_skene([["a", "b"], ["a", None], ["a", None]])
    assert found.confusions[1] == ((1, 0), None)


def test_one_category_is_certain() -> None:
    found = dawid_skene([["a", "a"], ["a", None]])
    assert found.labels == ("a", "a")
    assert found.log_likelihood == 0


@given(
    st.lists(st.lists(st.sampled_from(["x", "y", "z", None]), min_size=4, max_size=4), min_size=1, max_size=5)
)
def test_probabilities_add_up_and_the_order_of_raters_does_not_matter(votes: Votes) -> None:
    scale = ["x", "y", "z"]
    found = dawid_skene(votes, categories=scale, most_rounds=50)
    turned = dawid_skene(votes[::-1], categories=scale, most_rounds=50)
    for row, other in zip(found.posteriors, turned.posteriors, strict=True):
        assert (row is None) == (other is None)
        if row is not None:
            assert sum(row) == pytest.approx(1)
            assert row == pytest.approx(other, abs=1e-6)
    assert found.log_likelihood <= 1e-12


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(EvaluationError, match="'c' is not one of"):
        dawid_skene([["c"]], categories=["a", "b"])
    with pytest.raises(EvaluationError, match="At least one round"):
        dawid_skene([["a"]], most_rounds=0)
