"""Fitting, on samples made here and, where it is there, on people's judgments."""

import os
from pathlib import Path

import numpy as np
import pytest

from evaluation.judging import _fit as fitting
from evaluation.judging._overlap import FEATURES
from evaluation.judging.lexical import COVERED, SUPPORTED


def data_folder() -> Path:
    folder = os.environ.get("COVERDICT_DATA")
    if not folder:
        pytest.skip("COVERDICT_DATA does not name the folder of judged data")
    return Path(folder)


def sample(checks: int = 400, documents: int = 20) -> fitting.Sample:
    random = np.random.default_rng(7)
    features = np.zeros((checks, len(FEATURES)))
    features[:, 0] = random.random(checks)
    answers = (random.random(checks) < features[:, 0]).astype(np.float64)
    return fitting.Sample(features, answers, np.arange(checks) % documents)


def test_a_feature_that_decides_gets_weight_and_the_bounds_hold() -> None:
    coefficients = dict(zip((*FEATURES, "intercept"), fitting.fit(sample()), strict=True))
    assert coefficients["recall"] > 2
    assert coefficients["intercept"] < -1
    for name, (low, high) in fitting.BOUNDS.items():
        assert low is None or coefficients[name] >= low - 1e-9
        assert high is None or coefficients[name] <= high + 1e-9


def test_a_check_is_never_predicted_from_its_own_document() -> None:
    # Turning all answers of one document around must leave the predictions about that document as they were.
    made = sample()
    first = fitting.cross_validated(made, seed=1)
    changed = fitting.Sample(made.features, made.answers.copy(), made.documents)
    changed.answers[made.documents == 0] = 1 - changed.answers[made.documents == 0]
    second = fitting.cross_validated(changed, seed=1)
    assert np.allclose(first[made.documents == 0], second[made.documents == 0])


def test_figures_of_a_known_table() -> None:
    # Said yes, yes, no, no; right yes, no, no, no. Accuracy 3/4; chance .5 x .25 + .5 x .75 = .5; kappa .5.
    # Brier (.1^2 + .6^2 + .2^2 + .2^2) / 4 = .1125. Bins: .9 -> 1 (gap .1), .6 -> 0 (gap .6), two of .2 -> 0
    # (gap .2): .25 x .1 + .25 x .6 + .5 x .2 = .275. The yes stands above all three no: area 1.
    figures = fitting.figures(np.array([0.9, 0.6, 0.2, 0.2]), np.array([1.0, 0.0, 0.0, 0.0]))
    assert figures == pytest.approx(
        {"kappa": 0.5, "accuracy": 0.75, "brier": 0.1125, "calibration error": 0.275, "auc": 1.0}
    )


def test_a_missing_file_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert fitting.main([str(tmp_path)]) == 1
    assert "realsumm_dev.jsonl" in capsys.readouterr().err
    assert fitting.main([]) == 2


@pytest.mark.parametrize(
    ("side", "files", "constants", "least_kappa", "most_brier"),
    [
        ("covered", fitting.COVERED_FILES, COVERED, 0.53, 0.170),
        ("supported", fitting.SUPPORTED_FILES, SUPPORTED, 0.53, 0.165),
    ],
)
def test_the_constants_are_what_the_data_give(
    side: str, files: tuple[str, ...], constants: dict[str, float], least_kappa: float, most_brier: float
) -> None:
    made = fitting.load([data_folder() / name for name in files], side)
    fitted = dict(zip((*FEATURES, "intercept"), fitting.fit(made), strict=True))
    assert fitted == pytest.approx(constants, abs=0.01)
    figures = fitting.figures(fitting.cross_validated(made, seed=0), made.answers)
    assert figures["kappa"] >= least_kappa
    assert figures["brier"] <= most_brier
