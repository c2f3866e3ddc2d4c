"""The calibrator that a project has in force for the probabilities of its deciding judge, as a column keeps it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from evaluation.statistics import Calibrator

if TYPE_CHECKING:
    from annotation.models import Judge, Project

DIGITS = 6


def calibrator_of(project: Project) -> Calibrator | None:
    """The calibrator in force; None where there is none, or another judge has come to decide since."""
    kept = project.recalibration
    if kept is None or kept["judge"] != project.deciding_judge_id:
        return None
    return read_calibrator(kept)


def read_calibrator(kept: Mapping[str, Any]) -> Calibrator:
    """The calibrator that `kept_calibrator` wrote down."""
    return Calibrator(
        curve=tuple((place, height) for place, height in kept["curve"]),
        rate=kept["rate"],
        pooled=kept["pooled"],
        slope=kept["slope"],
        intercepts=kept["intercepts"],
    )


def kept_calibrator(calibrator: Calibrator, judge: Judge) -> dict[str, object]:
    """What the column says of a calibrator of this judge's probabilities; its systems are names."""
    return {
        "judge": judge.pk,
        "curve": [[round(place, DIGITS), round(height, DIGITS)] for place, height in calibrator.curve],
        "rate": calibrator.rate,
        "pooled": calibrator.pooled,
        "slope": calibrator.slope,
        "intercepts": dict(calibrator.intercepts),
    }
