"""Agreement compared with other libraries, which serve here alone: 200 random tables with gaps each."""

import csv
import random
import warnings
from pathlib import Path
from typing import get_args

import krippendorff
import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import cohen_kappa_score
from statsmodels.formula.api import ols
from statsmodels.stats.anova import anova_lm
from statsmodels.stats.inter_rater import aggregate_raters, fleiss_kappa

from evaluation import cohen_kappa, krippendorff_alpha
from evaluation.statistics import gwet_ac1, intraclass_correlation, observed_agreement
from evaluation.statistics.agreement._alpha import Level
from evaluation.statistics.agreement._kappa import KappaWeights

TABLES = 200
ANSWERS_OF_IRRCAC = Path(__file__).with_name("ac1_of_irrcac.csv")
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


def test_ac1_differs_from_fleiss_by_its_chance_alone() -> None:
    # Gwet 2008: chance is the sum of p(1 - p) / (q - 1) over the q categories, in the place of the sum of p².
    for first, second in tables(raters=(2, 2), share_missing=0.0):
        counts, categories = aggregate_raters(np.array([first, second]).T)
        shares = counts.sum(axis=0) / counts.sum()
        pi, fleiss_chance = fleiss_kappa(counts), float((shares**2).sum())
        observed = pi * (1 - fleiss_chance) + fleiss_chance
        chance = float((shares * (1 - shares)).sum()) / (len(categories) - 1)
        ours = gwet_ac1([first, second])
        assert ours == pytest.approx((observed - chance) / (1 - chance), abs=1e-9)


def test_ac1_with_gaps_equals_irrcac() -> None:
    # irrCAC 0.4.4 wants a SciPy of 2024, which the lock does not hold, so its answers were written down: those of
    # `CAC(table, categories=..., digits=12).gwet()` on the very tables that are made here, told what categories occur.
    with ANSWERS_OF_IRRCAC.open() as lines:
        theirs = [float(row["ac1"]) for row in csv.DictReader(lines)]
    ours = [gwet_ac1(table) for table in tables(raters=(2, 5), share_missing=0.25)]
    assert len(theirs) == TABLES
    assert ours == pytest.approx(theirs, abs=1e-11)


def test_intraclass_correlations_equal_those_of_a_fitted_two_way_model() -> None:
    # The library fits rating ~ item + rater by least squares. Of its mean squares R (items), C (raters), E (rest), for
    # n items and k raters: A,1 = (R - E) / (R + (k - 1) E + k (C - E) / n); A,k = (R - E) / (R + (C - E) / n);
    # C,1 = (R - E) / (R + (k - 1) E); C,k = (R - E) / R (McGraw and Wong 1996, table 4).
    said = 0
    for table in tables(raters=(2, 5), share_missing=0.05):
        complete = [column for column in zip(*table, strict=True) if None not in column]
        ours = intraclass_correlation(table, "A,1")
        if ours is None or len(complete) < 3:
            continue
        said += 1
        n, k = len(complete), len(table)
        frame = pd.DataFrame(
            {
                "item": np.repeat(np.arange(n), k),
                "rater": np.tile(np.arange(k), n),
                "rating": np.array(complete, dtype=np.float64).reshape(-1),
            }
        )
        squares = anova_lm(ols("rating ~ C(item) + C(rater)", frame).fit(), typ=2)
        r, c, e = (squares["sum_sq"] / squares["df"])[["C(item)", "C(rater)", "Residual"]]
        theirs = {
            "A,1": (r - e) / (r + (k - 1) * e + k * (c - e) / n),
            "A,k": (r - e) / (r + (c - e) / n),
            "C,1": (r - e) / (r + (k - 1) * e),
            "C,k": (r - e) / r,
        }
        assert ours == pytest.approx(theirs["A,1"], abs=1e-9)
        assert intraclass_correlation(table, "A,k") == pytest.approx(theirs["A,k"], abs=1e-9)
        assert intraclass_correlation(table, "C,1") == pytest.approx(theirs["C,1"], abs=1e-9)
        assert intraclass_correlation(table, "C,k") == pytest.approx(theirs["C,k"], abs=1e-9)
    assert said > TABLES * 0.9
