"""Fits the lexical judge's coefficients to people's judgments and reports how well they hold.

Run as `python -m evaluation.judging._fit FOLDER`, with the folder that holds `realsumm_dev.jsonl` (claims of
references against summaries: "covered") and `qags_factual_dev.jsonl` and `frank_dev.jsonl` (claims of
summaries against their sources: "supported"). Prints the figures of a 5-fold cross-validation over documents,
then the constants for `lexical.py`, fitted to everything.
"""

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from evaluation.judging._overlap import FEATURES, overlap
from evaluation.judging.protocol import Text

Array = NDArray[np.float64]

COVERED_FILES = ("realsumm_dev.jsonl",)
SUPPORTED_FILES = ("qags_factual_dev.jsonl", "frank_dev.jsonl")
FOLDS = 5
SEEDS = 20
RIDGE = 10.0
"""Penalty on standardised coefficients; results hardly move between 1 and 50."""

_ANY = (None, None)
_HELPS = (0.0, None)
_HARMS = (None, 0.0)
# More of a claim's words found never lowers its probability and more missing never raises it, whatever a
# sample of few documents suggests. Numbers contradicted and negations flipped are too rare in the data for a
# trustworthy fit (summarisers seldom write them), so their least effect is set here.
BOUNDS: dict[str, tuple[float | None, float | None]] = {
    **dict.fromkeys(FEATURES, _HELPS),
    "words_missing": _HARMS,
    "numbers_missing": _HARMS,
    "names_missing": _HARMS,
    "number_contradicted": (None, -1.5),
    "name_contradicted": (None, -0.5),
    "negation_flipped": (-3.5, -3.5),
    "claim_words": _ANY,
    "text_words": _ANY,
}


@dataclass(frozen=True, slots=True)
class Sample:
    """Checks: features (checks x features), people's answers (1 yes, 0 no), numbers of their documents."""

    features: Array
    answers: Array
    documents: NDArray[np.int64]

    def part(self, chosen: NDArray[np.bool_]) -> "Sample":
        """The chosen checks."""
        return Sample(self.features[chosen], self.answers[chosen], self.documents[chosen])


def load(paths: Sequence[Path], side: str) -> Sample:
    """Every check of the files that people answered and that has words to compare."""
    documents: dict[str, int] = {}
    rows: list[tuple[tuple[float, ...], float, int]] = []
    for path in paths:
        for line in path.read_text(encoding="utf-8").splitlines():
            record = json.loads(line)
            number = documents.setdefault(record["doc_id"], len(documents))
            rows.extend((features, answer, number) for features, answer in _checks(record, side))
    return Sample(
        np.array([row[0] for row in rows], dtype=np.float64),
        np.array([row[1] for row in rows], dtype=np.float64),
        np.array([row[2] for row in rows], dtype=np.int64),
    )


def _checks(record: dict[str, Any], side: str) -> Iterator[tuple[tuple[float, ...], float]]:
    source = Text.of(record["source_text"])
    for system in record["systems"]:
        text = Text.of(system["summary_text"]) if side == "covered" else source
        for claim in record["claims"]:
            answer = claim["verdicts"].get(system["system"])
            found = overlap(claim["claim_text"], text) if answer is not None else None
            if found is not None:
                yield found.features, float(answer)


def fit(sample: Sample) -> Array:
    """Coefficients in the order of FEATURES, then the intercept: ridge logistic regression within BOUNDS."""
    mean = sample.features.mean(axis=0)
    spread = sample.features.std(axis=0)
    spread = np.where(spread < 1e-9, 1.0, spread)
    standard = (sample.features - mean) / spread
    answers = sample.answers

    def loss(parameters: Array) -> tuple[float, Array]:
        z = standard @ parameters[:-1] + parameters[-1]
        error = _logistic(z) - answers
        penalty = RIDGE * float(parameters[:-1] @ parameters[:-1]) / 2
        value = float(np.logaddexp(0.0, z).sum() - (answers * z).sum()) + penalty
        return value, np.append(standard.T @ error + RIDGE * parameters[:-1], error.sum())

    bounds = [
        (low if low is None else low * scale, high if high is None else high * scale)
        for (low, high), scale in zip((BOUNDS[name] for name in FEATURES), spread, strict=True)
    ]
    solution = minimize(
        loss, np.zeros(len(FEATURES) + 1), jac=True, method="L-BFGS-B", bounds=[*bounds, _ANY]
    ).x
    weights: Array = solution[:-1] / spread
    return np.append(weights, solution[-1] - float(weights @ mean))


def predict(sample: Sample, coefficients: Array) -> Array:
    """The probability of yes of each check."""
    return _logistic(sample.features @ coefficients[:-1] + coefficients[-1])


def cross_validated(sample: Sample, seed: int) -> Array:
    """The probability of yes of each check from coefficients fitted without its document."""
    count = int(sample.documents.max()) + 1
    fold_of = np.random.default_rng(seed).permutation(count) % FOLDS
    folds = fold_of[sample.documents]
    probabilities = np.zeros(len(sample.answers))
    for fold in range(FOLDS):
        held_out = folds == fold
        probabilities[held_out] = predict(sample.part(held_out), fit(sample.part(~held_out)))
    return probabilities


def figures(probabilities: Array, answers: Array) -> dict[str, float]:
    """Kappa and accuracy of yes from .5 on, Brier score, calibration error, area under the curve."""
    said = probabilities >= 0.5
    accuracy = float((said == answers).mean())
    chance = float(said.mean() * answers.mean() + (1 - said.mean()) * (1 - answers.mean()))
    return {
        "kappa": (accuracy - chance) / (1 - chance),
        "accuracy": accuracy,
        "brier": float(((probabilities - answers) ** 2).mean()),
        "calibration error": _calibration_error(probabilities, answers),
        "auc": _area(probabilities, answers),
    }


def _logistic(z: Array) -> Array:
    shares: Array = 1.0 / (1.0 + np.exp(-z))
    return shares


def _calibration_error(probabilities: Array, answers: Array) -> float:
    bins = np.minimum((probabilities * 10).astype(int), 9)
    gaps = [
        abs(float(probabilities[bins == b].mean() - answers[bins == b].mean())) * float((bins == b).mean())
        for b in np.unique(bins)
    ]
    return sum(gaps)


def _area(probabilities: Array, answers: Array) -> float:
    yes, no = probabilities[answers == 1], probabilities[answers == 0]
    above = (yes[:, None] > no[None, :]).mean()
    equal = (yes[:, None] == no[None, :]).mean()
    return float(above + equal / 2)


def _report(title: str, files: Sequence[str], sample: Sample) -> None:
    runs = [figures(cross_validated(sample, seed), sample.answers) for seed in range(SEEDS)]
    documents = len(np.unique(sample.documents))
    _out(f"# {title}: {', '.join(files)}; {len(sample.answers)} checks of {documents} documents")
    _out("# " + ", ".join(f"{name} {np.mean([run[name] for run in runs]):.4f}" for name in runs[0]))
    coefficients = fit(sample)
    _out(f"{title.upper()}: Mapping[str, float] = {{")
    for name, value in zip((*FEATURES, "intercept"), coefficients, strict=True):
        _out(f'    "{name}": {round(float(value), 4) + 0.0},')
    _out("}")


def _out(line: str) -> None:
    sys.stdout.write(f"{line}\n")


def main(arguments: Sequence[str]) -> int:
    """Fit both sides and print figures and constants."""
    if len(arguments) != 1:
        sys.stderr.write("usage: python -m evaluation.judging._fit FOLDER\n")
        return 2
    folder = Path(arguments[0])
    for title, files in (("covered", COVERED_FILES), ("supported", SUPPORTED_FILES)):
        paths = [folder / name for name in files]
        if missing := [str(path) for path in paths if not path.is_file()]:
            sys.stderr.write(f"Not found: {', '.join(missing)}. Give the folder that holds them.\n")
            return 1
        _report(title, files, load(paths, title))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
