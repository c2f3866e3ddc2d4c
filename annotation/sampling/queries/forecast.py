"""Forecasts of the widths of intervals from a new random sample of checks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from annotation.models import Check, Sample
from annotation.sampling.queries.check_samples import check_samples
from annotation.sampling.queries.sampled_items import framed_items, framed_now
from evaluation.statistics import Design, Forecast, forecast_intervals

if TYPE_CHECKING:
    from annotation.models import Project


def forecast(project: Project, side: Check.Side, design: Design) -> Forecast:
    """Forecast a new sample's intervals for all systems and target lengths.

    The forecast uses the newest finished sample; if there is none, it uses the judge's answers.
    """
    finished = next(
        (sample for sample in check_samples(project, side=side, of_watches=False) if sample.is_finished), None
    )
    if finished is None:
        framed = framed_now(project, side)
    else:
        framed = framed_items(project, Sample.objects.get(public_id=finished.sample_id), side=side)
    frames = {
        f"{target} {system}": items
        for target, of_target in framed.items.items()
        for system, items in of_target.items()
    }
    return forecast_intervals(frames, design=design, covariates=framed.covariates)
