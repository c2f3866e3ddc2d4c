"""Agreement compared with other libraries, which serve here alone: 200 random tables with gaps each."""

import random
import warnings
from typing import get_args

import krippendorff
import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import aggregate_raters, fleiss_kappa

from evaluation import cohen_kappa, krippendorff_alpha
from evaluation.statistics import observed_agreement
from evaluation.statistics.agreement._alpha import Level
from evaluation.statistics.agreement._kappa import KappaWeights

TABLES = 200
LEVELS: tuple[Level, ...] = get_args(Level)


def tables(*, raters: tuple[int, int], share_missing: float) -> list[list[list[int | None]]]:
    """Random tables of raters x items with percent-like steps; what is missing is None."""
    chance = random.Random(20_231)
    made = []
    for _ in range(TABLES):
        items, width = chance.randint(4, 40), chance.randint(2, 6)
        truth = [chance.randint(1, 1 + width) for _ in range(items)]
        made.append(
            [
                [
                    None
                    if chance.random() < share_missing
                    else (value if chance.random() < 0.6 else chance.randint(1, 1 + width))
                    for value in truth
                ]
                for _ in range(chance.randint(*raters))
            ]
        )
    return made


@pytest.mark.parametrize("level", LEVELS)
def test_alpha_equals_the_library_named_after_it(level: Level) -> None:
    said = 0
    for table in tables(raters=(2, 5), share_missing=0.25):
        ours = krippendorff_alpha(table, level)
        if ours is None:
            continue
        said += 1
        with_gaps = np.array([[np.nan if one is None else one for one in row] for row in table], dtype=float)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            theirs = krippendorff.alpha(reliability_data=with_gaps, level_of_measurement=level)
        assert ours == pytest.approx(theirs, abs=1e-9)
    assert said > TABLES * 0.95


@pytest.mark.parametrize("weights", [None, "linear", "quadratic"])
def test_kappa_equals_that_of_a_machine_learning_library(weights: KappaWeights | None) -> None:
    said = 0
    for first, second in tables(raters=(2, 2), share_missing=0.2):
        both = [(a, b) for a, b in zip(first, second, strict=True) if a is not None and b is not None]
        scale = list(range(1, 10))
        ours = cohen_kappa(first, second, weights=weights, categories=scale)
        if ours is None:
            continue
        said += 1
        theirs = cohen_kappa_score(*zip(*both, strict=True), weights=weights, labels=scale)
        assert ours == pytest.approx(theirs, abs=1e-9)
        mine, yours = zip(*both, strict=True)
        of_what_occurs = cohen_kappa_score(mine, yours, weights=weights)
        assert cohen_kappa(mine, yours, weights=weights) == pytest.approx(of_what_occurs, abs=1e-9)
    assert said > TABLES * 0.95


def test_two_raters_observed_agreement_is_what_fleiss_starts_from() -> None:
    # Fleiss' kappa with two raters is Scott's pi: (observed - expected) / (1 - expected).
    for first, second in tables(raters=(2, 2), share_missing=0.0):
        counts, _ = aggregate_raters(np.array([first, second]).T)
        shares = counts.sum(axis=0) / counts.sum()
        expected = float((shares**2).sum())
        observed = observed_agreement([first, second])
        assert observed is not None
        assert (observed - expected) / (1 - expected) == pytest.approx(fleiss_kappa(counts), abs=1e-9)
