"""How wide intervals would be with answers to more claims, and which chance each claim would have in such a draw.

A forecast goes by the sampled answers that estimates of checks show, else by the judge's probabilities (see
`ForecastBasis`).
Sizes count the checks of a whole draw over all systems and target lengths; a system gets its share of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from annotation.analysis.estimates.estimates import covariates
from annotation.analysis.estimates.samples import Sample, finished_sample, samples
from annotation.analysis.leaderboard.averages import CONFIDENCE
from annotation.models import Check, Draw
from annotation.sampling.queries import check_samples
from annotation.sampling.queries.sampled_items import SampleFrame, framed_items, framed_now
from evaluation.errors import EvaluationError
from evaluation.statistics import (
    Design,
    DrawnItem,
    Forecast,
    forecast_widths,
    forecast_without_pilot,
    with_pooled_variance,
)

if TYPE_CHECKING:
    from annotation.models import Project

DESIGNS: tuple[Design, ...] = ("people", "uniform", "stratified", "active")
DRAWABLE: tuple[Design, ...] = ("uniform", "stratified", "active")
"""Designs that a draw can have; people alone are drawn uniformly."""

SURE, FAIRLY, DOUBTFUL = "sure", "fairly sure", "doubtful"
DOUBTS = (SURE, FAIRLY, DOUBTFUL)
"""Strata by the judge's probability p of yes: sure within .1 of 0 or 1, doubtful within .25 of a half."""
_SURE_WITHIN, _DOUBTFUL_WITHIN = 0.1, 0.25


def doubt(probability: float | None) -> str:
    """The stratum of a probability of yes; doubtful where the judge gave none."""
    if probability is None or abs(probability - 0.5) <= _DOUBTFUL_WITHIN:
        return DOUBTFUL
    return SURE if min(probability, 1 - probability) <= _SURE_WITHIN else FAIRLY


class ForecastBasis(StrEnum):
    """What a forecast goes by."""

    PILOT = "pilot"
    PILOT_TOO_SMALL = "pilot_too_small"
    JUDGE = "judge"
    TOO_FEW_SETS = "too_few_sets"
    NOTHING = "nothing"


TargetSystem = tuple[int | None, str]
"""A target length and a system."""


@dataclass(frozen=True, slots=True)
class Forecasts:
    """A forecast for each system at each target length that has one, and what all of them go by.

    `drawable` names the checks that a sample made now could take, in their order.
    """

    basis: ForecastBasis
    pilot: Sample | None
    framed: SampleFrame
    of: dict[TargetSystem, Forecast]
    drawable: tuple[str, ...]

    @property
    def checks(self) -> int:
        """How many checks can be drawn."""
        return len(self.drawable)

    def share(self, place: TargetSystem, size: int) -> int:
        """How many checks of a draw of this size a system gets: the same share of every system and length."""
        held = len(self.of[place].open_places)
        return min(held, round(size * held / self.checks)) if held else 0

    def chances(self, size: int, design: Design) -> Iterator[tuple[TargetSystem, str, str, float]]:
        """Of every check that a forecast knows and that can be drawn: its place, stratum of doubt, id and chance."""
        for place, forecast in self.of.items():
            target, system = place
            found = forecast.probabilities(self.share(place, size), design)
            ids = self.framed.ids[target][system]
            for item in forecast.open_places:
                yield place, str(forecast.strata[item]), ids[item], found[item]


def forecasts(project: Project, side: Check.Side = Check.Side.REFERENCE) -> Forecasts:
    """Forecasts from the answers to a finished sample of checks, or from the judge's probabilities."""
    drawable = drawable_checks(project, side)
    pilot = finished_sample([each for each in samples(project, side) if each.draw.item == Draw.Item.CHECK])
    if pilot is not None:
        framed = framed_items(project, pilot.draw, side=side)
        known = covariates(framed)
        places = _places(framed, drawable)
        try:
            found = {place: _from_pilot(items, settled, known) for place, items, settled in places}
        except EvaluationError:
            # Some system has answers in fewer than two document sets: nothing can be learnt of it.
            return _without_pilot(project, side, pilot, ForecastBasis.PILOT_TOO_SMALL, drawable)
        return Forecasts(ForecastBasis.PILOT, pilot, framed, _pooled(found), drawable)
    return _without_pilot(project, side, None, ForecastBasis.JUDGE, drawable)


def _pooled(found: Mapping[TargetSystem, Forecast]) -> dict[TargetSystem, Forecast]:
    """By target length, all systems with the one variance of document sets that they show together."""
    pooled: dict[TargetSystem, Forecast] = {}
    for target in dict.fromkeys(target for target, _ in found):
        pooled |= with_pooled_variance({place: each for place, each in found.items() if place[0] == target})
    return pooled


def drawable_checks(project: Project, side: Check.Side) -> tuple[str, ...]:
    """The public ids of the checks that a draw could take: of the side, in force, and not decided by a rule."""
    checks = check_samples.drawable(project, side)
    return tuple(checks.order_by("pk").values_list("public_id", flat=True))


def _from_pilot(
    items: Sequence[DrawnItem],
    settled: Sequence[bool],
    known: Mapping[str, Sequence[float]] | None,
) -> Forecast:
    return forecast_widths(
        items,
        [_spread(item.judge) for item in items],
        strata=_strata(items),
        settled=settled,
        covariates=known,
        confidence=CONFIDENCE,
    )


def _without_pilot(
    project: Project,
    side: Check.Side,
    pilot: Sample | None,
    basis: ForecastBasis,
    drawable: tuple[str, ...],
) -> Forecasts:
    framed = framed_now(project, side)
    if not framed.has_judge:
        return Forecasts(ForecastBasis.NOTHING, pilot, framed, {}, drawable)
    found = {
        place: forecast_without_pilot(items, strata=_strata(items), settled=settled, confidence=CONFIDENCE)
        for place, items, settled in _places(framed, drawable)
        if len({item.document for item in items}) > 1
    }
    return Forecasts(basis if found else ForecastBasis.TOO_FEW_SETS, pilot, framed, found, drawable)


def _places(
    framed: SampleFrame, drawable: Sequence[str]
) -> Iterator[tuple[TargetSystem, Sequence[DrawnItem], Sequence[bool]]]:
    """Each system at each target length: its items, and which of them no draw made now would ask of anybody."""
    can_be_drawn = frozenset(drawable)
    for target, of_target in framed.items.items():
        for system, items in of_target.items():
            settled = [public_id not in can_be_drawn for public_id in framed.ids[target][system]]
            yield (target, system), items, settled


def _strata(items: Sequence[DrawnItem]) -> list[str]:
    return [doubt(item.judge) for item in items]


def _spread(probability: float | None) -> float:
    """The standard deviation of an answer that is yes with this probability; the most where nothing is known."""
    p = 0.5 if probability is None else probability
    return math.sqrt(p * (1 - p))


def planned_chances(
    project: Project, side: Check.Side = Check.Side.REFERENCE, *, size: int, design: Design
) -> dict[str, tuple[float, str]]:
    """By public id the chance of every check in such a draw, and the stratum that it is drawn in, as forecast.

    Strata are systems at a target length, in a stratified draw by doubt: of each a fixed number is drawn. What came
    after the answered draw that the forecast goes by has the chance that it would have by lot.
    """
    found = forecasts(project, side)
    is_by_doubt = design == "stratified"
    chances = {
        public_id: (chance, " ".join(map(str, (*place, stratum) if is_by_doubt else place)))
        for place, stratum, public_id, chance in found.chances(size, design)
    }
    by_lot = (min(1.0, size / max(1, found.checks)), "came after")
    return {name: chances.get(name, by_lot) for name in found.drawable}
