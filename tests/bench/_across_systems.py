"""What answers to the same claim on other systems' summaries add to an estimate and to the judge's verdicts.

Studies of 70 documents, drawn with replacement from those of the file, each copy with claims of its own; of each
of 25 systems so many claims are drawn. Errors and intervals are compared with the means of the file's documents, widths
against people alone in a simple random sample of as many.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from evaluation.statistics.estimates._draw_estimates import (
    DrawEstimate,
    DrawnItem,
    estimate_systems_from_draw,
)
from tests.bench import Row
from tests.bench import _fit_lexical as fitting

DOCUMENTS = 70
STUDIES = 100
ANSWERS = (30, 60, 120)
NARROWER = {60: 3.0, 120: 4.0}
"""How many per cent narrower intervals must be, by answers to each system."""
FEW = (2, 3)
GROUPS = 3
"""Groups of a few systems that are looked at in each study."""
WIDER_OF_FEW = 1.0
LEAST_HELD, MOST_HELD = 94.0, 96.5

Array = NDArray[np.float64]
Frames = dict[str, list[DrawnItem]]
Corpus = list[tuple[Array, Array]]
"""Of each document people's answers and the judge's probabilities, shape (systems, claims)."""


@dataclass(frozen=True)
class Study:
    """The drawn items, and what people say of all of them, drawn or not, in the same order."""

    frames: Frames
    truth: dict[str, Array]


@dataclass(frozen=True)
class Ends:
    """Estimates with their bounds and standard errors, shape (studies, systems).

    `simple` is the standard error of people alone in a simple random sample of as many answers.
    """

    estimate: Array
    low: Array
    high: Array
    error: Array
    simple: Array

    @property
    def width(self) -> Array:
        return self.high - self.low

    def held(self, truth: Array) -> float:
        """Per cent of intervals that hold the truth of their system."""
        return 100 * float(((self.low <= truth) & (truth <= self.high)).mean())

    def errors(self, truth: Array) -> Array:
        """Root mean square error of each system."""
        errors: Array = np.sqrt(((self.estimate - truth) ** 2).mean(axis=0))
        return errors


def rows(sample: fitting.Sample, said: Array) -> Iterator[Row]:
    corpus = _corpus(sample, said)
    truth = np.mean([answers.mean(axis=1) for answers, _ in corpus], axis=0)
    for answers in ANSWERS:
        studies = [_study(corpus, answers, np.random.default_rng([23, answers, n])) for n in range(STUDIES)]
        yield from _of_all(studies, truth, answers)
        yield from (_of_few(studies, few, answers) for few in FEW)


def _of_all(studies: list[Study], truth: Array, answers: int) -> Iterator[Row]:
    across = [estimate_systems_from_draw(study.frames) for study in studies]
    judged = [estimate_systems_from_draw(_by_itself(study.frames)) for study in studies]
    sharp, plain, people = _ends(across), _ends(judged), _ends_of_people(judged)
    yield Row(
        f"{answers} answers a system, other systems' used: narrower than without",
        100 * float(1 - (sharp.width.mean(axis=0) / plain.width.mean(axis=0)).mean()),
        "%",
        at_least=NARROWER.get(answers),
        note=f"width {_ratio(sharp):.3f} of people's, without {_ratio(plain):.3f}; true error "
        f"{_error_ratio(sharp, people, truth):.3f}, without {_error_ratio(plain, people, truth):.3f}",
    )
    yield Row(
        f"{answers} answers a system, other systems' used: holds",
        sharp.held(truth),
        "%",
        at_least=LEAST_HELD,
        at_most=MOST_HELD,
        note=f"without {plain.held(truth):.1f} %, people alone {people.held(truth):.1f} %",
    )


def _of_few(studies: list[Study], few: int, answers: int) -> Row:
    groups = [
        dict(list(study.frames.items())[start * few : (start + 1) * few])
        for study in studies
        for start in range(GROUPS)
    ]
    sharp = _ends([estimate_systems_from_draw(group) for group in groups])
    plain = _ends([estimate_systems_from_draw(_by_itself(group)) for group in groups])
    return Row(
        f"{answers} answers a system, {few} systems: wider than without the other's",
        100 * float(sharp.width.mean() / plain.width.mean() - 1),
        "%",
        at_most=WIDER_OF_FEW,
    )


def _by_itself(frames: Frames) -> Frames:
    return {name: [replace(item, claim=None) for item in items] for name, items in frames.items()}


def _ends(found: list[dict[str, DrawEstimate]]) -> Ends:
    figures = [
        [(one.estimate, one.low, one.high, one.error, one.simple_error) for one in of.values()]
        for of in found
    ]
    return Ends(*np.array(figures, dtype=np.float64).transpose(2, 0, 1))


def _ends_of_people(found: list[dict[str, DrawEstimate]]) -> Ends:
    figures = [
        [
            (
                one.classical_estimate,
                one.classical_low,
                one.classical_high,
                one.simple_error,
                one.simple_error,
            )
            for one in of.values()
        ]
        for of in found
    ]
    return Ends(*np.array(figures, dtype=np.float64).transpose(2, 0, 1))


def _ratio(ours: Ends) -> float:
    return float((ours.error.mean(axis=0) / ours.simple.mean(axis=0)).mean())


def _error_ratio(ours: Ends, theirs: Ends, truth: Array) -> float:
    return float((ours.errors(truth) / theirs.errors(truth)).mean())


def _study(corpus: Corpus, answers: int, random: np.random.Generator) -> Study:
    chosen = [corpus[place] for place in random.integers(0, len(corpus), DOCUMENTS)]
    places = [(copy, claim) for copy, (said, _) in enumerate(chosen) for claim in range(said.shape[1])]
    frames: Frames = {}
    truth: dict[str, Array] = {}
    for system in range(len(corpus[0][0])):
        drawn = set(random.choice(len(places), answers, replace=False).tolist())
        name = f"{system:02}"
        truth[name] = np.array([chosen[copy][0][system, claim] for copy, claim in places])
        frames[name] = [
            DrawnItem(
                document=copy,
                share=1 / chosen[copy][0].shape[1],
                judge=float(chosen[copy][1][system, claim]),
                probability=answers / len(places),
                is_drawn=place in drawn,
                answer=float(truth[name][place]) if place in drawn else None,
                claim=(copy, claim),
            )
            for place, (copy, claim) in enumerate(places)
        ]
    return Study(frames, truth)


def _corpus(sample: fitting.Sample, said: Array) -> Corpus:
    """All documents have answers to all claims for all systems; those of a system stand in the order of the claims."""
    shape = (int(sample.systems.max()) + 1, -1)
    order = np.lexsort((sample.systems, sample.documents))
    ends = np.flatnonzero(np.diff(sample.documents[order])) + 1
    return [(sample.answers[own].reshape(shape), said[own].reshape(shape)) for own in np.split(order, ends)]
