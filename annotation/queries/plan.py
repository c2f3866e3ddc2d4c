"""What is known now, and what answers to more claims would bring: how wide intervals would be, by how they are drawn.

A forecast goes by the latest draw of checks that is answered, else by the judge's own probabilities (see `Basis`).
Sizes count the checks of a whole draw over all systems and target lengths; a system gets its share of them.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from annotation.models import Check, Draw, DrawnCheck, Score, System, Verdict
from annotation.queries.averages import CONFIDENCE, Average, Observation, averages
from annotation.queries.drawn_items import Framed, document_of, framed_items, framed_now
from annotation.queries.estimates import (
    Estimates,
    EstimateTable,
    Progress,
    covariates,
    draws_of_coverage,
    estimates,
)
from annotation.queries.plan_words import (
    Basis,
    Clusters,
    Short,
    basis_in_words,
    complete_in_words,
    documents_in_words,
    hours_in_words,
    reached_in_words,
    wanted_in_words,
)
from evaluation import (
    TOO_FEW_DOCUMENTS,
    Design,
    DrawnItem,
    EvaluationError,
    Forecast,
    forecast_widths,
    forecast_without_pilot,
)

if TYPE_CHECKING:
    from annotation.models import Project

DESIGNS: tuple[Design, ...] = ("people", "uniform", "stratified", "active")
DRAWABLE: tuple[Design, ...] = ("uniform", "stratified", "active")
"""Designs that a draw can have; people alone are drawn uniformly."""
WIDTHS = (0.4, 0.3, 0.2, 0.15, 0.1, 0.08, 0.06, 0.05, 0.04, 0.03, 0.02)
"""Widths of an interval that can be wished for."""
STEPS = (1, 1.5, 2, 3, 5, 7)
LEAST_SIZE = 10
TIMED_AT_MOST = 1000
"""The median time is taken over so many of the newest answers."""

SURE, FAIRLY, DOUBTFUL = "sure", "fairly sure", "doubtful"
DOUBTS = (SURE, FAIRLY, DOUBTFUL)
"""Strata by the judge's probability p of yes: sure within .1 of 0 or 1, doubtful within .25 of a half."""
_SURE_WITHIN, _DOUBTFUL_WITHIN = 0.1, 0.25


def doubt(probability: float | None) -> str:
    """The stratum of a probability of yes; doubtful where the judge gave none."""
    if probability is None or abs(probability - 0.5) <= _DOUBTFUL_WITHIN:
        return DOUBTFUL
    return SURE if min(probability, 1 - probability) <= _SURE_WITHIN else FAIRLY


Place = tuple[int | None, str]
"""A target length and a system."""


@dataclass(frozen=True, slots=True)
class Forecasts:
    """A forecast for each system at each target length that has one, and what all of them go by."""

    basis: Basis
    pilot: Progress | None
    framed: Framed
    of: dict[Place, Forecast]

    @property
    def checks(self) -> int:
        """How many checks the frame holds."""
        return sum(len(items) for of_target in self.framed.items.values() for items in of_target.values())

    def share(self, place: Place, size: int) -> int:
        """How many checks of a draw of this size a system gets: the same share of every system and length."""
        target, system = place
        held = len(self.framed.items[target][system])
        return min(held, round(size * held / self.checks))

    def chances(self, size: int, design: Design) -> Iterator[tuple[Place, str, str, float]]:
        """Of every check that a forecast knows: its place, stratum of doubt, public id and chance to be drawn."""
        for place, forecast in self.of.items():
            target, system = place
            found = forecast.probabilities(self.share(place, size), design)
            ids = self.framed.ids[target][system]
            for public_id, stratum, chance in zip(ids, forecast.strata, found, strict=True):
                yield place, str(stratum), public_id, chance


def forecasts(project: Project) -> Forecasts:
    """What the plan goes by: the latest draw of checks that is answered, or the judge's own probabilities."""
    pilot = next(
        (draw for draw in draws_of_coverage(project) if draw.item == Draw.Item.CHECK and draw.is_complete),
        None,
    )
    if pilot is not None:
        framed = framed_items(project, Draw.objects.get(project=project, public_id=pilot.draw_id))
        known = covariates(framed)
        try:
            found = {place: _from_pilot(items, known) for place, items in _places(framed)}
        except EvaluationError:
            # Some system has answers in fewer than two document sets: nothing can be learnt of it.
            return _without_pilot(project, pilot, Basis.PILOT_TOO_SMALL)
        return Forecasts(Basis.PILOT, pilot, framed, found)
    return _without_pilot(project, None, Basis.JUDGE)


def _from_pilot(items: Sequence[DrawnItem], known: Mapping[str, Sequence[float]] | None) -> Forecast:
    spreads = [_spread(item.judge) for item in items]
    return forecast_widths(items, spreads, strata=_strata(items), covariates=known, confidence=CONFIDENCE)


def _without_pilot(project: Project, pilot: Progress | None, basis: Basis) -> Forecasts:
    framed = framed_now(project)
    if not framed.has_judge:
        return Forecasts(Basis.NOTHING, pilot, framed, {})
    found = {
        place: forecast_without_pilot(items, strata=_strata(items), confidence=CONFIDENCE)
        for place, items in _places(framed)
        if len({item.document for item in items}) > 1
    }
    return Forecasts(basis if found else Basis.TOO_FEW_SETS, pilot, framed, found)


def _places(framed: Framed) -> Iterator[tuple[Place, Sequence[DrawnItem]]]:
    for target, of_target in framed.items.items():
        for system, items in of_target.items():
            yield (target, system), items


def _strata(items: Sequence[DrawnItem]) -> list[str]:
    return [doubt(item.judge) for item in items]


def _spread(probability: float | None) -> float:
    """The standard deviation of an answer that is yes with this probability; the most where nothing is known."""
    p = 0.5 if probability is None else probability
    return math.sqrt(p * (1 - p))


@dataclass(frozen=True, slots=True)
class Outlook:
    """What a draw of one design would bring at a target length: widths over its systems, None where none is foretold.

    `documents` is the least number of document sets of a system that are expected to hold an answer. `is_few` tells
    that these are too few to lean on the judge: estimates would show people alone, so `mean` and `widest` are None.
    `systems` holds the width of each, and `strata` how many answers each system is expected to give in each stratum.
    """

    mean: float | None
    widest: float | None
    documents: float
    is_few: bool
    systems: dict[str, float | None]
    strata: dict[str, dict[str, float]]


def plan(project: Project, key: str = "") -> dict[str, Any]:
    """The plan page's payload: what is known, and by target length what draws of which sizes would bring."""
    found = forecasts(project)
    known = estimates(project)
    sizes = ladder(found.checks)
    pace, timed = seconds_per_check(project)
    alone = _judge_alone(project)
    ids = dict(System.objects.filter(project=project).values_list("name", "public_id"))
    held = _document_sets(project, found.framed)
    checks, unanswered = checks_by_people(project)
    targets = sorted(found.framed.items, key=lambda target: (target is None, target or 0))
    return {
        "basis": found.basis,
        "basis_in_words": basis_in_words(found.basis, found.pilot),
        "pilot": found.pilot and found.pilot.draw_id,
        "pilot_answered": found.pilot.answered if found.pilot else 0,
        "complete": complete_in_words(checks) if checks and not unanswered else "",
        "checks": found.checks,
        "came_after": found.framed.came_after,
        "drawn_before": answered_before(project),
        "seconds": pace,
        "timed": timed,
        "pace_in_words": hours_in_words(pace, timed),
        "sizes": [{"size": size, "hours": None if pace is None else size * pace / 3600} for size in sizes],
        "targets": [
            _at_target(found, known, target, sizes, alone, ids, held.get(target, 0)) for target in targets
        ],
    }


def _at_target(
    found: Forecasts,
    known: Estimates,
    target: int | None,
    sizes: Sequence[int],
    alone: Mapping[Place, Average],
    ids: Mapping[str, str],
    sets: int,
) -> dict[str, Any]:
    systems = {
        system: found.of[target, system]
        for system in found.framed.items[target]
        if (target, system) in found.of
    }
    outlooks = (
        {
            str(size): {design: asdict(_outlook(found, target, systems, size, design)) for design in DESIGNS}
            for size in sizes
        }
        if systems
        else {}
    )
    table = known.at(target)
    documents = len({item.document for items in found.framed.items[target].values() for item in items})
    clusters = Clusters(groups=documents, sets=sets)
    now = widest_now(table, found.framed.items[target])
    wanted = [_wanted(width, outlooks, systems, now, clusters) for width in WIDTHS] if systems else []
    return {
        "target_words": target,
        "checks": sum(len(items) for items in found.framed.items[target].values()),
        "documents": documents,
        "document_sets": sets,
        "cluster": clusters.noun,
        "widest_now": now,
        "known": {"state": table.state, "sentence": table.sentence, "caption": table.caption},
        "warning": documents_in_words(clusters),
        "systems": [
            _now(target, system, table, alone, systems.get(system)) | {"system_id": ids.get(system, "")}
            for system in found.framed.items[target]
        ],
        "outlooks": outlooks,
        "wanted": wanted,
    }


def _document_sets(project: Project, framed: Framed) -> dict[int | None, int]:
    """By target length, how many document sets the checks of the frame lie in."""
    ids = {
        target: {public_id for of_system in of_target.values() for public_id in of_system}
        for target, of_target in framed.ids.items()
    }
    rows = Check.objects.filter(project=project, side=Check.Side.REFERENCE)
    set_of = dict(rows.values_list("public_id", "peer__document_set_id"))
    return {target: len({set_of[public_id] for public_id in of_target}) for target, of_target in ids.items()}


def checks_by_people(project: Project) -> tuple[int, int]:
    """How many checks there are to draw from, and how many of them no person has answered."""
    checks = Check.objects.filter(project=project, side=Check.Side.REFERENCE, is_current=True)
    checks = checks.exclude(final_source=Check.Decider.RULE)
    return checks.count(), checks.filter(human_label__isnull=True).count()


def widest_now(table: EstimateTable, systems: Iterable[str]) -> float | None:
    """The width of the widest interval that is shown of any of the systems; None where one has none."""
    shown = [table.average(system) for system in systems]
    widths = [each.high - each.low for each in shown if each.low is not None and each.high is not None]
    return max(widths, default=None) if len(widths) == len(shown) else None


def _now(
    target: int | None,
    system: str,
    table: EstimateTable,
    alone: Mapping[Place, Average],
    forecast: Forecast | None,
) -> dict[str, Any]:
    """What is known of a system now."""
    estimated = (table.systems or {}).get(system)
    judge = alone.get((target, system))
    return {
        "system": system,
        "estimate": asdict(estimated.shown) if estimated else None,
        "people": asdict(estimated.people) if estimated else None,
        "judge": asdict(judge) if judge else None,
        "least": forecast.least if forecast else None,
    }


def _outlook(
    found: Forecasts, target: int | None, systems: Mapping[str, Forecast], size: int, design: Design
) -> Outlook:
    shares = {system: found.share((target, system), size) for system in systems}
    answered = min(each.answered_documents(shares[system], design) for system, each in systems.items())
    is_few = design != "people" and answered < TOO_FEW_DOCUMENTS
    widths = {
        system: None if is_few else each.width(shares[system], design) for system, each in systems.items()
    }
    known = [width for width in widths.values() if width is not None]
    is_known = len(known) == len(widths)
    return Outlook(
        mean=math.fsum(known) / len(known) if is_known else None,
        widest=max(known) if is_known else None,
        documents=answered,
        is_few=is_few,
        systems=widths,
        strata={
            system: _by_stratum(each, each.probabilities(shares[system], design))
            for system, each in systems.items()
        },
    )


def _by_stratum(forecast: Forecast, chances: Sequence[float]) -> dict[str, float]:
    sums = dict.fromkeys(DOUBTS, 0.0)
    for stratum, chance in zip(forecast.strata, chances, strict=True):
        sums[str(stratum)] += chance
    return {stratum: round(total, 1) for stratum, total in sums.items()}


def _wanted(
    width: float,
    outlooks: Mapping[str, Mapping[Design, Any]],
    systems: Mapping[str, Forecast],
    now: float | None,
    clusters: Clusters,
) -> dict[str, Any]:
    """The smallest size that gives every system an interval at most so wide, by design; else who lacks documents.

    `is_reached` tells that the widest interval of `now` is no wider already.
    """
    reached = {design: _first(outlooks, design, width) for design in DESIGNS}
    short = [
        Short(system, held=each.document_count, needed=each.documents_for(width))
        for system, each in systems.items()
        if all(size is None for size in reached.values()) and each.least > width
    ]
    is_reached = now is not None and now <= width
    steps = [int(size) for size in outlooks]
    return {
        "width": width,
        "sizes": reached,
        "short": [each._asdict() for each in short],
        "is_reached": is_reached,
        "sentence": (
            reached_in_words(width, now, len(systems))
            if now is not None and is_reached
            else wanted_in_words(width, reached, short, len(systems), ladder=steps, clusters=clusters)
        ),
    }


def _first(outlooks: Mapping[str, Mapping[Design, Any]], design: Design, width: float) -> int | None:
    for size, by_design in outlooks.items():
        widest = by_design[design]["widest"]
        if widest is not None and widest <= width:
            return int(size)
    return None


def ladder(checks: int) -> list[int]:
    """Round sizes of a draw from 10 up to all checks, which come last."""
    sizes: list[int] = []
    unit = LEAST_SIZE
    while unit < checks:
        sizes += [round(unit * step) for step in STEPS if unit * step < checks]
        unit *= 10
    return [*sizes, checks] if checks else []


def seconds_per_check(project: Project) -> tuple[float | None, int]:
    """The median time of an answer to a check, and over how many of the newest; None where nobody's is known."""
    times = Verdict.objects.filter(
        check_row__project=project, source=Verdict.Source.REVIEWER, active_ms__gt=0, batch__isnull=True
    )
    newest = list(times.order_by("-pk").values_list("active_ms", flat=True)[:TIMED_AT_MOST])
    return (statistics.median(newest) / 1000 if newest else None), len(newest)


def answered_before(project: Project) -> int:
    """Checks that are answered in an earlier draw: drawn again, they keep their answer."""
    drawn = DrawnCheck.objects.filter(
        draw__project=project, verdict__isnull=False, check_row__is_current=True, check_row__side="reference"
    )
    return drawn.order_by().values("check_row").distinct().count()


def planned_chances(project: Project, *, size: int, design: Design) -> dict[str, tuple[float, str]]:
    """By public id the chance of every check in such a draw, and the stratum that it is drawn in, as forecast.

    What came after the answered draw that the forecast goes by has the chance that it would have by lot.
    """
    found = forecasts(project)
    now = framed_now(project) if found.basis == Basis.PILOT else found.framed
    chances = {
        public_id: (chance, f"{place[0]} {place[1]} {stratum}")
        for place, stratum, public_id, chance in found.chances(size, design)
    }
    names = [name for of_target in now.ids.values() for ids in of_target.values() for name in ids]
    by_lot = (min(1.0, size / max(1, len(names))), "came after")
    return {name: chances.get(name, by_lot) for name in names}


def _judge_alone(project: Project) -> dict[Place, Average]:
    """Mean coverage by the deciding judge alone with its interval, by target length and system."""
    rows = Score.objects.filter(project=project, summary__is_peer=True, summary__system__isnull=False)
    columns = (
        "summary__target_words",
        "summary__system__name",
        "summary__document_set__external_id",
        "summary__document_set__group",
        "coverage_judge",
    )
    seen: dict[int | None, list[Observation]] = {}
    for target, system, document_set, group, coverage in rows.order_by("summary_id").values_list(*columns):
        cluster = document_of(document_set, group)
        seen.setdefault(target, []).append(Observation(system, document_set, cluster, (coverage,)))
    return {
        (target, system): scores["coverage_judge"]
        for target, observations in seen.items()
        for system, scores in averages(observations, ("coverage_judge",)).items()
    }
