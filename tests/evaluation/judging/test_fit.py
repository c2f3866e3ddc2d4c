"""Fitting, on samples made here and, where it is there, on people's judgments."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from evaluation.judging._overlap import FEATURES
from evaluation.judging.lexical import COVERED, SUPPORTED, all_of
from tests.bench import _fit_lexical as fitting


def sample(checks: int = 400, documents: int = 20) -> fitting.Sample:
    random = np.random.default_rng(7)
    features = np.zeros((checks, len(FEATURES)))
    features[:, 0] = random.random(checks)
    answers = (random.random(checks) < features[:, 0]).astype(np.float64)
    return of(features, answers, np.arange(checks) % documents, np.arange(checks) % 5)


def of(
    features: fitting.Array, answers: fitting.Array, documents: fitting.Numbers, systems: fitting.Numbers
) -> fitting.Sample:
    """Checks of one sentence each."""
    ones = np.ones(len(answers))
    whole = ones.astype(np.int64)
    return fitting.Sample(features, whole, answers, answers, ones, documents, systems, whole)


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
    answers = np.where(made.documents == 0, 1 - made.answers, made.answers)
    changed = of(made.features, answers, made.documents, made.systems)
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


def test_sentences_of_a_summary_accepted_in_part_share_what_is_known() -> None:
    # One of two is right. Chances .8 and .4: first alone .8 x .6 = .48, second alone .2 x .4 = .08, so the
    # first is right with .48 / .56 = 6 / 7.
    shares = fitting.given_their_number(np.array([0.8, 0.4]), 1.0)
    assert shares == pytest.approx([6 / 7, 1 / 7])
    # Half a sentence cannot be right: people split it elsewhere.
    assert fitting.given_their_number(np.array([0.8, 0.4]), 0.5) == pytest.approx([0.25, 0.25])


def test_a_claim_of_several_sentences_is_predicted_as_the_judge_makes_it() -> None:
    features = np.zeros((3, len(FEATURES)))
    features[0, 0] = 1.0
    numbers = np.array([0, 0])
    made = fitting.Sample(
        features,
        np.array([2, 1]),
        np.array([2.0, 0.0]),
        np.array([1.0, 0.0]),
        np.ones(2),
        numbers,
        numbers,
        numbers,
    )
    coefficients = np.zeros(len(FEATURES) + 1)
    coefficients[0] = np.log(3)
    # The first sentence is right with 3 / 4, the others with 1 / 2.
    assert fitting.predict(made, coefficients) == pytest.approx([all_of([3 / 4, 1 / 2]), 1 / 2])


def test_a_corpus_is_predicted_from_the_others_alone() -> None:
    # In two corpora the feature says yes, in the third no: by the other two the third is wrong throughout.
    made = sample(checks=60, documents=6)
    turned = replace(made, answers=1 - made.answers, right=1 - made.right)
    found = fitting.across_corpora({"one": made, "two": made, "three": turned})
    assert found["three"]["auc"] < 0.5
    own = fitting.predict(turned, fitting.fit(turned))
    assert fitting.figures(own, turned.answers)["auc"] >= 0.5
    # However often a corpus is told, it weighs alike.
    doubled = {
        name: np.concatenate([getattr(made, name)] * 2) for name in fitting.Sample.__dataclass_fields__
    }
    again = fitting.across_corpora({"one": fitting.Sample(**doubled), "two": made, "three": turned})
    assert again["three"] == pytest.approx(found["three"], abs=1e-3)


def test_correlations_of_a_known_table() -> None:
    # Two documents, three systems, one check each. People: yes, yes, no and yes, no, no; said: yes, no, no and
    # the same. Shares of the systems' means: people 1, .5, 0; said 1, 0, 0. In the second document all agree.
    # In the first, of the pairs that both part, one does so alike and none otherwise; the squares of tau-b:
    # 1 / sqrt(2 x 2) = .5; Pearson .5. Means: tau-b 2 / sqrt(3 x 2) = .816497, Pearson .866025.
    answers = np.array([1.0, 1.0, 0.0, 1.0, 0.0, 0.0])
    said = np.array([0.9, 0.2, 0.2, 0.9, 0.2, 0.2])
    made = of(np.zeros((6, len(FEATURES))), answers, np.array([0, 0, 0, 1, 1, 1]), np.array([0, 1, 2] * 2))
    assert fitting.correlations(said, made) == pytest.approx(
        {
            "summary tau": 0.75,
            "summary Pearson": 0.75,
            "system tau": 0.81649658,
            "system Pearson": 0.8660254,
        }
    )


@pytest.mark.parametrize(
    ("side", "files", "constants", "least_kappa", "least_accuracy", "most_brier"),
    [
        ("covered", fitting.COVERED_FILES, COVERED, 0.56, 0.78, 0.158),
        ("supported", fitting.SUPPORTED_FILES, SUPPORTED, 0.53, 0.78, 0.150),
    ],
)
def test_the_constants_are_what_the_data_give(
    judged_data: Path,
    side: str,
    files: tuple[str, ...],
    constants: dict[str, float],
    least_kappa: float,
    least_accuracy: float,
    most_brier: float,
) -> None:
    made = fitting.load([judged_data / name for name in files], side)
    fitted = dict(zip((*FEATURES, "intercept"), fitting.fit(made), strict=True))
    assert fitted == pytest.approx(constants, abs=0.01)
    runs = [fitting.figures(fitting.cross_validated(made, seed), made.answers) for seed in range(20)]
    means = {name: float(np.mean([run[name] for run in runs])) for name in runs[0]}
    assert means["kappa"] >= least_kappa
    assert means["accuracy"] >= least_accuracy
    assert means["brier"] <= most_brier
    assert means["calibration error"] <= 0.05
