"""Fits the lexical judge's coefficients to people's judgments and reports how well they hold.

Run as `python -m tests.bench._fit_lexical FOLDER`, with the folder that holds `realsumm_dev.jsonl` (claims of
references against summaries: "covered") and `qags_factual_dev.jsonl` and `frank_dev.jsonl` (sentences and
whole summaries against their sources: "supported"). Prints the figures of 5-fold cross-validations over
documents, then the constants for `lexical.py`, fitted to everything, and at the end how well coefficients fitted to two
of the three corpora hold on the third.

What is fitted is the probability of one sentence; `lexical.all_of` makes that of a claim of several of them. So a whole
summary that people accept teaches that each of its
sentences is right; of one that they accept in part, FRANK says how many sentences are right but not which,
and the fit takes each to be right with the probability that it has itself, given their number.
"""

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.stats import kendalltau

from evaluation.judging._overlap import FEATURES, overlap, parts, prepared
from evaluation.judging.protocol import Text

Array = NDArray[np.float64]
Numbers = NDArray[np.int64]

COVERED_FILES = ("realsumm_dev.jsonl",)
SUPPORTED_FILES = ("qags_factual_dev.jsonl", "frank_dev.jsonl")
CORPUS_WEIGHT = 1000.0
"""Sentences that a corpus counts for where several are fitted together, however large it is."""
FOLDS = 5
SEEDS = 20
RIDGE = 30.0
"""Penalty on standardised coefficients; results hardly move between 10 and 100."""
ROUNDS = 4
"""How often the sentences of summaries accepted in part are weighed anew."""

# A sentence judged alone is what the judge will be asked; there are few of them. FRANK's summaries of BBC
# news are nearly all of systems that invented what they could not find, which says little of others.
WEIGHTS = {"alone": 4.0, "bbc": 0.5}

_ANY = (None, None)
_HELPS = (0.0, None)
_HARMS = (None, 0.0)
# More of a claim's words found never lowers its probability and more missing never raises it, whatever a
# sample of few documents suggests. Numbers contradicted, opposites and negations flipped are too rare in the
# data for a trustworthy fit (summarisers seldom write them), so their least effect is set here.
BOUNDS: dict[str, tuple[float | None, float | None]] = {
    **dict.fromkeys(FEATURES, _HELPS),
    "words_missing": _HARMS,
    "names_missing": _HARMS,
    "number_contradicted": (None, -2.5),
    "name_contradicted": (None, -0.5),
    "word_opposed": (None, -1.0),
    "negation_flipped": (-3.5, -3.5),
    "claim_words": _ANY,
    "text_words": _ANY,
}


@dataclass(frozen=True, slots=True)
class Sample:
    """Checks that people answered.

    features: one row per sentence of a claim, the sentences of a check together. sentences: their number per
    check. right: how many of them people accept. answers: 1 if they accept the claim, else 0. weights: what a
    sentence of the check counts in the fit. documents, systems, files: numbers, for folds and reports.
    """

    features: Array
    sentences: Numbers
    right: Array
    answers: Array
    weights: Array
    documents: Numbers
    systems: Numbers
    files: Numbers

    def part(self, chosen: NDArray[np.bool_]) -> "Sample":
        """The chosen checks."""
        return Sample(
            self.features[np.repeat(chosen, self.sentences)],
            self.sentences[chosen],
            self.right[chosen],
            self.answers[chosen],
            self.weights[chosen],
            self.documents[chosen],
            self.systems[chosen],
            self.files[chosen],
        )

    @property
    def firsts(self) -> Numbers:
        """The row of each check's first sentence."""
        firsts: Numbers = np.cumsum(self.sentences) - self.sentences
        return firsts


@dataclass(frozen=True, slots=True)
class _Check:
    rows: tuple[tuple[float, ...], ...]
    right: float
    answer: float
    weight: float
    system: str


def load(paths: Sequence[Path], side: str) -> Sample:
    """Every check of the files that people answered and that has words to compare."""
    numbers: dict[str, int] = {}
    systems: dict[str, int] = {}
    checks: list[_Check] = []
    documents: list[int] = []
    files: list[int] = []
    for file, path in enumerate(paths):
        for line in path.read_text(encoding="utf-8").splitlines():
            record = json.loads(line)
            number = numbers.setdefault(record["doc_id"], len(numbers))
            found = list(_checks(record, side))
            checks.extend(found)
            documents.extend([number] * len(found))
            files.extend([file] * len(found))
    return Sample(
        np.array([row for check in checks for row in check.rows], dtype=np.float64),
        np.array([len(check.rows) for check in checks], dtype=np.int64),
        np.array([check.right for check in checks]),
        np.array([check.answer for check in checks]),
        np.array([check.weight for check in checks]),
        np.array(documents, dtype=np.int64),
        np.array([systems.setdefault(check.system, len(systems)) for check in checks], dtype=np.int64),
        np.array(files, dtype=np.int64),
    )


def _checks(record: dict[str, Any], side: str) -> Iterator[_Check]:
    source = Text.of(record["source_text"])
    weight = WEIGHTS.get(record.get("dataset", ""), 1.0)
    for system in record["systems"]:
        name = system["system"]
        theirs = prepared(Text.of(system["summary_text"]) if side == "covered" else source)
        for claim in record["claims"]:
            if (answer := claim["verdicts"].get(name)) is None:
                continue
            found = [overlap(sentence, part, theirs) for sentence, part in parts(claim["claim_text"], "en")]
            if not found:
                continue
            is_whole = claim.get("scope") == "whole_summary"
            share = claim["human_fraction"][name] if is_whole else float(answer)
            yield _Check(
                tuple(one.features for one in found),
                share * len(found),
                float(answer),
                weight if is_whole or side == "covered" else WEIGHTS["alone"],
                name,
            )


def fit(sample: Sample) -> Array:
    """Coefficients in the order of FEATURES, then the intercept: ridge logistic regression within BOUNDS."""
    share = np.repeat(sample.right / sample.sentences, sample.sentences)
    weights = np.repeat(sample.weights, sample.sentences)
    coefficients = _fit_rows(sample.features, share, weights)
    mixed = np.flatnonzero((sample.right > 0) & (sample.right < sample.sentences))
    for _ in range(ROUNDS if len(mixed) else 0):
        probabilities = _rows(sample, coefficients)
        for check in mixed:
            first = sample.firsts[check]
            rows = slice(first, first + sample.sentences[check])
            share[rows] = given_their_number(probabilities[rows], float(sample.right[check]))
        coefficients = _fit_rows(sample.features, share, weights)
    return coefficients


def given_their_number(probabilities: Array, right: float) -> Array:
    """The probability of each sentence to be right, given how many of them are.

    Where the number is not whole (people split the summary elsewhere), each gets the same share.
    """
    count = round(right)
    if abs(right - count) > 0.05:
        return np.full(len(probabilities), right / len(probabilities))
    known = np.clip(probabilities, 1e-6, 1 - 1e-6)
    whole = _chances(known)[count]
    others = [_chances(np.delete(known, place)) for place in range(len(known))]
    return np.array([p * rest[count - 1] / whole for p, rest in zip(known, others, strict=True)])


def _chances(probabilities: Array) -> Array:
    """How probable it is that 0, 1, 2, ... of independent events happen."""
    chances = np.ones(1)
    for probability in probabilities:
        chances = np.convolve(chances, [1 - probability, probability])
    return chances


def _fit_rows(features: Array, answers: Array, weights: Array) -> Array:
    mean = features.mean(axis=0)
    spread = features.std(axis=0)
    spread = np.where(spread < 1e-9, 1.0, spread)
    standard = (features - mean) / spread

    def loss(parameters: Array) -> tuple[float, Array]:
        z = standard @ parameters[:-1] + parameters[-1]
        error = weights * (_logistic(z) - answers)
        penalty = RIDGE * float(parameters[:-1] @ parameters[:-1]) / 2
        value = float((weights * (np.logaddexp(0.0, z) - answers * z)).sum()) + penalty
        return value, np.append(standard.T @ error + RIDGE * parameters[:-1], error.sum())

    bounds = [
        (low if low is None else low * scale, high if high is None else high * scale)
        for (low, high), scale in zip((BOUNDS[name] for name in FEATURES), spread, strict=True)
    ]
    solution = minimize(
        loss, np.zeros(len(FEATURES) + 1), jac=True, method="L-BFGS-B", bounds=[*bounds, _ANY]
    ).x
    fitted: Array = solution[:-1] / spread
    return np.append(fitted, solution[-1] - float(fitted @ mean))


def predict(sample: Sample, coefficients: Array) -> Array:
    """The probability of yes of each check, as the judge makes it of those of its sentences."""
    rows = _rows(sample, coefficients)
    products, least = np.multiply.reduceat(rows, sample.firsts), np.minimum.reduceat(rows, sample.firsts)
    together: Array = np.sqrt(products * least)
    return together


def _rows(sample: Sample, coefficients: Array) -> Array:
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


def across_corpora(corpora: Mapping[str, Sample]) -> dict[str, dict[str, float]]:
    """The figures of each corpus by coefficients fitted to the others, each of which weighs alike."""
    return {
        name: figures(
            predict(held_out, fit(_merged([corpora[other] for other in corpora if other != name]))),
            held_out.answers,
        )
        for name, held_out in corpora.items()
    }


def corpora_of(folder: Path) -> dict[str, Sample]:
    """The judged data of a folder, by corpus; whatever its side, what is measured is the same."""
    sides = (
        *((name, "covered") for name in COVERED_FILES),
        *((name, "supported") for name in SUPPORTED_FILES),
    )
    return {name.partition("_")[0]: load([folder / name], side) for name, side in sides}


def _merged(samples: Sequence[Sample]) -> Sample:
    """The samples as one; documents and systems keep their numbers, which a fit does not look at."""
    alike = [
        replace(sample, weights=sample.weights / float(sample.weights @ sample.sentences) * CORPUS_WEIGHT)
        for sample in samples
    ]
    names = Sample.__dataclass_fields__
    return Sample(**{name: np.concatenate([getattr(sample, name) for sample in alike]) for name in names})


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


def correlations(probabilities: Array, sample: Sample) -> dict[str, float]:
    """Agreement of shares of yes with people's, within documents (summary level) and of systems' means.

    Documents in which either side gives every system the same share are left out.
    """
    said = (probabilities >= 0.5).astype(np.float64)
    cells = [(d, s) for d in np.unique(sample.documents) for s in np.unique(sample.systems)]
    ours, theirs = {}, {}
    for document, system in cells:
        chosen = (sample.documents == document) & (sample.systems == system)
        if chosen.any():
            ours[document, system] = float(said[chosen].mean())
            theirs[document, system] = float(sample.answers[chosen].mean())
    within = [
        _both(ours, theirs, [cell for cell in ours if cell[0] == d]) for d in np.unique(sample.documents)
    ]
    taus, pearsons = zip(*(pair for pair in within if not np.isnan(pair).any()), strict=True)
    systems = np.unique(sample.systems)
    means = [
        {s: float(np.mean([v for cell, v in side.items() if cell[1] == s])) for s in systems}
        for side in (ours, theirs)
    ]
    tau, pearson = _both(means[0], means[1], list(systems))
    return {
        "summary tau": float(np.mean(taus)),
        "summary Pearson": float(np.mean(pearsons)),
        "system tau": tau,
        "system Pearson": pearson,
    }


def _both(ours: dict[Any, float], theirs: dict[Any, float], cells: Sequence[Any]) -> tuple[float, float]:
    one, other = np.array([ours[cell] for cell in cells]), np.array([theirs[cell] for cell in cells])
    if np.ptp(one) == 0 or np.ptp(other) == 0:
        return float("nan"), float("nan")
    return float(kendalltau(one, other).statistic), float(np.corrcoef(one, other)[0, 1])


def _report(title: str, paths: Sequence[Path]) -> None:
    sample = load(paths, title)
    runs = [cross_validated(sample, seed) for seed in range(SEEDS)]
    for file, path in enumerate(paths):
        chosen = sample.files == file
        documents = len(np.unique(sample.documents[chosen]))
        _out(f"# {title}, {path.name}: {int(chosen.sum())} checks of {documents} documents")
        _out("# " + _means([figures(run[chosen], sample.answers[chosen]) for run in runs]))
    if len(paths) > 1:
        _out(f"# {title}, together: " + _means([figures(run, sample.answers) for run in runs]))
    else:
        _out("# " + _means([correlations(run, sample) for run in runs]))
    _out(f"{title.upper()}: Mapping[str, float] = {{")
    for name, value in zip((*FEATURES, "intercept"), fit(sample), strict=True):
        _out(f'    "{name}": {round(float(value), 4) + 0.0},')
    _out("}")


def _means(runs: Sequence[dict[str, float]]) -> str:
    return ", ".join(f"{name} {np.mean([run[name] for run in runs]):.4f}" for name in runs[0])


def _out(line: str) -> None:
    sys.stdout.write(f"{line}\n")


def main(arguments: Sequence[str]) -> int:
    """Fit both sides and print figures and constants."""
    if len(arguments) != 1:
        sys.stderr.write("usage: python -m tests.bench._fit_lexical FOLDER\n")
        return 2
    folder = Path(arguments[0])
    for title, files in (("covered", COVERED_FILES), ("supported", SUPPORTED_FILES)):
        paths = [folder / name for name in files]
        if missing := [str(path) for path in paths if not path.is_file()]:
            sys.stderr.write(f"Not found: {', '.join(missing)}. Give the folder that holds them.\n")
            return 1
        _report(title, paths)
    for name, found in across_corpora(corpora_of(folder)).items():
        _out(f"# {name}, fitted to the other corpora: {_means([found])}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
