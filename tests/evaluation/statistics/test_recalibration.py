"""Recalibration: its gain by hand, and that there is none where the judge's probabilities are right."""

import numpy as np
import pytest

from evaluation.statistics import recalibration


def test_an_overconfident_judge_gains_by_hand() -> None:
    # It says .9, people say yes to 6 of 10, in each of 20 documents alike: .6 * .01 + .4 * .81 = .33 before. After, .6
    # is said of everything, .6 * .16 + .4 * .36 = .24.
    answers = [place % 10 < 6 for place in range(200)]
    found = recalibration([0.9] * 200, answers, [place // 10 for place in range(200)])
    assert (found.checks, found.documents) == (200, 20)
    assert found.brier.value == pytest.approx(0.33)
    assert found.brier_after.value == pytest.approx(0.24, abs=0.001)
    assert found.gain.value == pytest.approx(0.09, abs=0.001)
    assert found.helps
    # It calls everything yes, before and after: beyond chance it agrees in nothing.
    assert (found.kappa.value, found.kappa_after.value) == (0.0, 0.0)


def test_a_system_that_it_flatters_is_put_right() -> None:
    random = np.random.default_rng(1)
    systems = ["flattered", "fair"] * 300
    chances = random.uniform(0.1, 0.9, 600)
    odds = np.log(chances / (1 - chances)) - 2.0 * (np.arange(600) % 2 == 0)
    answers = (random.random(600) < 1 / (1 + np.exp(-odds))).tolist()
    documents = [place // 20 for place in range(600)]
    plain = recalibration(chances.tolist(), answers, documents)
    by_system = recalibration(chances.tolist(), answers, documents, systems=systems)
    assert plain.gain.value is not None
    assert by_system.gain.value is not None
    assert by_system.gain.value > plain.gain.value > 0
    assert by_system.kappa_after.value is not None
    assert by_system.kappa.value is not None
    assert by_system.kappa_after.value > by_system.kappa.value


def test_what_lacks_a_side_is_left_out() -> None:
    found = recalibration([0.9, None, 0.2, 0.4], [True, True, None, False], ["a", "a", "b", "b"])
    # Squares of .1 and .4.
    assert (found.checks, found.brier.value) == (2, pytest.approx(0.085))


def test_one_document_teaches_nothing() -> None:
    found = recalibration([0.9, 0.9], [False, False], ["a", "a"])
    assert (found.gain.value, found.helps) == (0.0, False)


def test_without_answers_nothing_is_said() -> None:
    found = recalibration([0.9], [None], ["a"])
    assert (found.checks, found.gain.value, found.helps) == (0, None, False)


def test_probabilities_that_are_right_gain_nothing() -> None:
    # 100 studies of 30 documents with 8 answers each to 4 systems, drawn with the judge's own probabilities.
    random = np.random.default_rng(7)
    false_gains = 0
    for _ in range(100):
        chances = random.beta(0.7, 0.7, 240)
        found = recalibration(
            chances.tolist(),
            (random.random(240) < chances).tolist(),
            [place // 8 for place in range(240)],
            systems=[place % 4 for place in range(240)],
            draws=500,
        )
        false_gains += found.helps
    assert false_gains <= 5
