"""What a judge adds to people's answers, on real judgments: 10 of 30 documents answered, 200 random splits.

The judge is the lexical one with its coefficients fitted to other documents than those that it scores. Both
intervals have 9 degrees of freedom and aim at the population of documents; widths are compared by standard errors,
with people alone in a simple random sample of the same size, whatever the draw; errors are compared with people's
answers to all 30. COVERDICT_DATA names the folder with `realsumm_dev.jsonl`. What answers on other systems'
summaries add is measured in `_across_systems`.
"""

import json
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from evaluation.statistics import fixed_size_draw
from evaluation.statistics.estimates._draw_estimates import (
    DrawEstimate,
    DrawnItem,
    estimate_systems_from_draw,
)
from tests.bench import Row, _across_systems
from tests.bench import _fit_lexical as fitting

NAME = "prediction_powered"
FILE = "realsumm_dev.jsonl"
SPLITS = 200
LABELLED = 10
JUDGE_SEEDS = 3

Array = NDArray[np.float64]
Draw = Callable[[int], dict[int, float]]


@dataclass(frozen=True)
class Study:
    """Coverage by people and by the judge, shape (documents, systems), and each document's number of claims."""

    systems: list[str]
    people: Array
    judge: Array
    claims: Array


@dataclass(frozen=True)
class Outcome:
    """Of each split and system, shape (splits, systems): standard errors, that of people alone in a simple random
    sample too, errors made, labels saved.
    """

    told: Array
    simple: Array
    error: Array
    people_error: Array
    saved: Array

    @property
    def widths(self) -> Array:
        """Mean width over that of people alone, of each system."""
        ratios: Array = self.told.mean(axis=0) / self.simple.mean(axis=0)
        return ratios


def run() -> list[Row]:
    folder = os.environ.get("COVERDICT_DATA")
    if not folder or not (Path(folder) / FILE).is_file():
        return [Row("splits", 0, "", note=f"skipped: COVERDICT_DATA names no folder with {FILE}")]
    sample = fitting.load([Path(folder) / FILE], "covered")
    said = np.mean([fitting.cross_validated(sample, seed) for seed in range(JUDGE_SEEDS)], axis=0)
    study = _study(Path(folder) / FILE, sample, said)
    documents = range(len(study.claims))
    chances = dict.fromkeys(documents, LABELLED / len(study.claims))
    uniform: Draw = lambda seed: fixed_size_draw(chances, seed=seed)  # noqa: E731
    main = _outcome(study, uniform, with_claims=True)
    return [
        *_bars(main),
        _variant("without the number of claims", _outcome(study, uniform, with_claims=False)),
        *_of_systems(study, main),
        *_across_systems.rows(sample, said),
    ]


def _bars(outcome: Outcome) -> list[Row]:
    widths = outcome.widths
    bias = abs(_score(outcome.error.mean(axis=1)))
    worst_bias = max(abs(_score(column)) for column in outcome.error.T)
    saved = float(np.median(outcome.saved, axis=0).mean())
    return [
        Row("interval narrower than people's, mean", 100 * float(1 - widths.mean()), "%", at_least=13),
        Row("the worst system's wider than people's", 100 * float(widths.max() - 1), "%", at_most=2),
        Row("mean error over systems, in standard errors", bias, "", at_most=2),
        Row("the worst system's mean error, in standard errors", worst_bias, "", at_most=3.5),
        Row("true error against people's, mean", 100 * float(_errors(outcome).mean()), "%"),
        Row(f"documents saved beside {LABELLED}, mean of medians", saved, ""),
    ]


def _variant(what: str, outcome: Outcome) -> Row:
    note = (
        f"worst system {100 * (outcome.widths.max() - 1):+.1f} % wide, "
        f"true error {100 * _errors(outcome).mean():.0f} % of people's"
    )
    return Row(f"narrower {what}", 100 * float(1 - outcome.widths.mean()), "%", note=note)


def _of_systems(study: Study, outcome: Outcome) -> Iterable[Row]:
    for place, name in enumerate(study.systems):
        yield Row(
            f"  {name}",
            100 * float(1 - outcome.widths[place]),
            "% narrower",
            note=(
                f"true error {100 * _errors(outcome)[place]:.0f} % of people's, "
                f"{np.median(outcome.saved[:, place]):.1f} documents saved"
            ),
        )


def _errors(outcome: Outcome) -> Array:
    """Root mean square error over that of people alone, of each system."""
    ours, theirs = ((errors**2).mean(axis=0) for errors in (outcome.error, outcome.people_error))
    ratios: Array = np.sqrt(ours / theirs)
    return ratios


def _score(values: Array) -> float:
    return float(values.mean() / (values.std(ddof=1) / np.sqrt(len(values))))


def _outcome(study: Study, draw: Draw, *, with_claims: bool) -> Outcome:
    covariates = {place: (float(np.log(count)),) for place, count in enumerate(study.claims)}
    truth = study.people.mean(axis=0)
    found = []
    for seed in range(SPLITS):
        systems = _frames(study, draw(seed))
        estimates = estimate_systems_from_draw(systems, covariates=covariates if with_claims else None)
        found.append([_figures(estimates[name], truth[place]) for place, name in enumerate(study.systems)])
    return Outcome(*np.array(found).transpose(2, 0, 1))


def _frames(study: Study, probabilities: dict[int, float]) -> dict[str, list[DrawnItem]]:
    return {
        name: [
            DrawnItem(
                document=document,
                share=1.0,
                judge=float(study.judge[document, place]),
                probability=probabilities.get(document, LABELLED / len(study.claims)),
                is_drawn=document in probabilities,
                answer=float(study.people[document, place]) if document in probabilities else None,
            )
            for document in range(len(study.claims))
        ]
        for place, name in enumerate(study.systems)
    }


def _figures(found: DrawEstimate, truth: float) -> tuple[float, ...]:
    assert found.estimate is not None
    assert found.error is not None
    assert found.classical_estimate is not None
    assert found.simple_error is not None
    return (
        found.error,
        found.simple_error,
        found.estimate - truth,
        found.classical_estimate - truth,
        found.labels_saved or 0.0,
    )


def _study(path: Path, sample: fitting.Sample, said: Array) -> Study:
    records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    shape = (len(records), int(sample.systems.max()) + 1)
    cells = sample.documents * shape[1] + sample.systems
    counts = np.bincount(cells, minlength=shape[0] * shape[1])
    people, judge = (
        (np.bincount(cells, weights=values, minlength=len(counts)) / counts).reshape(shape)
        for values in (sample.answers, said)
    )
    names = [system["system"] for system in records[0]["systems"]]
    return Study(
        names, people, judge, np.array([len(record["claims"]) for record in records], dtype=np.float64)
    )
