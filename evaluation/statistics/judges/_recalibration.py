"""What a judge's probabilities gain by people's answers, measured on documents that taught nothing."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from evaluation.statistics._intervals import DEFAULT_CONFIDENCE
from evaluation.statistics._resampling import STATISTIC_DRAWS, Estimate, Floats, estimates, places_of, sums_by
from evaluation.statistics.judges._calibrators import CalibrationMethod, cross_fitted_calibration
from evaluation.statistics.judges._judge_report import kappa_of_counts


@dataclass(frozen=True, slots=True)
class Recalibration:
    """A judge's probabilities as they are and recalibrated, over the `checks` that people answered.

    Each document's are recalibrated by the answers of others alone. `brier` is the mean squared distance from the
    answer, 0 to 1, lower is better; `gain` is by how much recalibration lowers it. `kappa` is the agreement of
    "more likely yes than not" with people beyond chance. Intervals resample documents.
    """

    checks: int
    documents: int
    brier: Estimate
    brier_after: Estimate
    gain: Estimate
    kappa: Estimate
    kappa_after: Estimate

    @property
    def helps(self) -> bool:
        """Whether the whole interval of the gain lies above 0."""
        return self.gain.low is not None and self.gain.low > 0


def recalibration(
    probabilities: Sequence[float | None],
    answers: Sequence[bool | None],
    documents: Sequence[Hashable],
    *,
    systems: Sequence[Hashable] | None = None,
    method: CalibrationMethod = "beta",
    confidence: float = DEFAULT_CONFIDENCE,
    draws: int = STATISTIC_DRAWS,
    seed: int = 0,
) -> Recalibration:
    """What cross-fitted calibration does to a judge's probabilities of yes (see `cross_fitted_calibration`).

    Items without a probability or an answer are left out. `systems` gives each system an intercept of its own. Answers
    must not have been chosen by what the judge said, else a judge looks off that is not. With answers in fewer than
    two documents nothing is changed and nothing gained.
    Raises LengthMismatch; InvalidPercent for a probability or confidence outside 0 to 1; EvaluationError for fewer than
    one draw.
    Example: a judge that says .9 where people say yes to 6 of 10, in each of 20 documents: Brier .33 before and close
    to .24 after.
    """
    heard = [None if answer is None else float(answer) for answer in answers]
    after = cross_fitted_calibration(probabilities, heard, documents, systems=systems, method=method)
    used = [
        (before, found, answer, document)
        for before, found, answer, document in zip(probabilities, after, heard, documents, strict=True)
        if before is not None and found is not None and answer is not None
    ]
    before, found, said = (np.array([row[place] for row in used], dtype=np.float64) for place in range(3))
    places, width = places_of([row[3] for row in used])
    rows = np.column_stack(
        [np.ones(len(used)), said, *_squares_and_sides(before, said), *_squares_and_sides(found, said)]
    )
    brier, brier_after, gain, kappa, kappa_after = estimates(
        sums_by(places, width, rows), _figures, confidence=confidence, draws=draws, seed=seed
    )
    return Recalibration(len(used), width, brier, brier_after, gain, kappa, kappa_after)


def _squares_and_sides(chances: Floats, said: Floats) -> tuple[Floats, Floats, Floats]:
    """Per item the squared error, whether it is called yes, and whether that differs from the answer."""
    called = (chances > 0.5).astype(np.float64)
    return (chances - said) ** 2, called, np.abs(called - said)


def _figures(sums: Floats) -> Floats:
    checks, people, square, yes, wrong, square_after, yes_after, wrong_after = sums.T
    return np.column_stack(
        [
            square / checks,
            square_after / checks,
            (square - square_after) / checks,
            kappa_of_counts(checks, people, yes, wrong),
            kappa_of_counts(checks, people, yes_after, wrong_after),
        ]
    )
