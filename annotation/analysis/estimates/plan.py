"""The plan page's payload: what is known now, and what draws of so many checks would bring, by how they are drawn."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from django.db.models import Avg, Case, When

from annotation.analysis.estimates.estimates import Estimates, EstimateTable, estimates, is_all_answered
from annotation.analysis.estimates.forecasts import DESIGNS, DOUBTS, Forecasts, TargetSystem, forecasts
from annotation.analysis.estimates.raters import spread_of_raters
from annotation.analysis.intervals import has_interval
from annotation.analysis.leaderboard.averages import Average, Observation, averages
from annotation.analysis.leaderboard.leaderboard import means_at
from annotation.models import SCORE_SIDES, Check, Label, Score, System
from annotation.models.document import cluster_of
from annotation.sampling.queries.check_samples import blind_answers
from annotation.sampling.queries.pace import seconds_per_check
from annotation.sampling.queries.sampled_items import READ_AT_ONCE, SampleFrame
from evaluation.statistics import (
    FEWEST_FOR_INTERVAL,
    TOO_FEW_DOCUMENTS,
    Design,
    DrawnItem,
    Forecast,
    documents_for_all,
    estimate_systems_from_draw,
    median_fewest,
    median_widest,
)

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from annotation.models import Project

WIDTHS = (0.4, 0.3, 0.2, 0.15, 0.1, 0.08, 0.06, 0.05, 0.04, 0.03, 0.02)
"""Widths of an interval that can be wished for."""
SIZE_STEPS = (1, 1.5, 2, 3, 5, 7)
LEAST_SIZE = 10
ALL_BY_PEOPLE = 1 - 1e-9
"""The share decided by people from which on it is everything, but for rounding."""


@dataclass(frozen=True, slots=True)
class PilotSamples:
    """The finished sample that forecasts go by, and its number of answers."""

    draw_id: str
    day: str
    answers: int


class ShortSystem(NamedTuple):
    """A system that needs more document sets for a width than the `held` ones."""

    system: str
    held: int
    needed: int


@dataclass(frozen=True, slots=True)
class Outlook:
    """What a draw of one design would bring at a target length: widths over its systems, None where none is foretold.

    `mean` is that of the widths that are expected of the systems, which `systems` holds. `widest` is what none of them
    exceeds in half of such samples: more than the largest that is expected, for widths scatter. `documents`
    is the number
    of document sets with an answer that no system falls short of in half of such samples. `is_few` tells that these are
    too few to use the judge: estimates would show people alone, so `mean` and `widest` are None.
    `strata` is how many answers each system is expected to give in each stratum.
    """

    mean: float | None
    widest: float | None
    documents: float
    is_few: bool
    systems: dict[str, float | None]
    strata: dict[str, dict[str, float]]


def plan_key(score: str) -> str:
    """The key under which a score's plan is stored."""
    return "" if score == "coverage" else score


def plan(project: Project, key: str = "") -> dict[str, Any]:
    """The plan page's payload, of a score by its key: what is known, and by target length what draws of which sizes
    would bring.

    Where people have answered every check nothing is foretold: the least widths are those that their answers give.
    """
    score = key or "coverage"
    side = SCORE_SIDES[score]
    found = forecasts(project, side)
    known = estimates(project, side)
    sizes = ladder(found.checks)
    pace, timed = seconds_per_check(project)
    alone = _judge_alone(project, side)
    ids = dict(System.objects.filter(project=project).values_list("name", "public_id"))
    held = _document_sets(project, side, found.framed)
    is_complete = is_all_answered(project, side)
    noise = spread_of_raters(project, side).noise
    targets = sorted(found.framed.items, key=lambda target: (target is None, target or 0))
    return {
        "score": score,
        "basis": found.basis,
        "pilot": found.pilot
        and asdict(
            PilotSamples(
                found.pilot.progress.draw_id,
                found.pilot.progress.day,
                found.pilot.progress.answered,
            )
        ),
        "is_complete": is_complete,
        "checks": found.checks,
        "came_after": found.framed.came_after,
        "drawn_before": answered_before(project, side),
        "seconds": pace,
        "timed": timed,
        "sizes": [{"size": size, "hours": None if pace is None else size * pace / 3600} for size in sizes],
        "targets": [
            _at_target(
                found,
                known,
                target,
                sizes,
                alone,
                ids,
                held.get(target, 0),
                noise=noise,
                answered=people_widths(project, target, side) if is_complete else None,
            )
            for target in targets
        ],
    }


def _at_target(
    found: Forecasts,
    known: Estimates,
    target: int | None,
    sizes: Sequence[int],
    alone: Mapping[TargetSystem, Average],
    ids: Mapping[str, str],
    sets: int,
    *,
    noise: float | None,
    answered: Mapping[str, float] | None,
) -> dict[str, Any]:
    """`noise` is the variance of several people's answers to one check, None where no check has several; `answered` are
    the widths that people's answers to everything give, None where some are missing.
    """
    foretold = {
        system: found.of[target, system]
        for system in found.framed.items[target]
        if (target, system) in found.of
    }
    systems = foretold if answered is None else {}
    least = _least(foretold) if answered is None else answered
    outlooks = (
        {
            str(size): {design: asdict(_outlook(found, target, systems, size, design)) for design in DESIGNS}
            for size in sizes
        }
        if systems
        else {}
    )
    table = known.at(target)
    can_be_drawn = frozenset(found.drawable)
    ids_held = [name for of in found.framed.ids[target].values() for name in of if name in can_be_drawn]
    now = widest_now(table, found.framed.items[target])
    return {
        "target_words": target,
        "checks": len(ids_held),
        "documents": len({item.document for items in found.framed.items[target].values() for item in items}),
        "document_sets": sets,
        "widest_now": now,
        "known": asdict(replace(table, systems=None, compared=())),
        "foretold": len(systems),
        # For want of knowing how far document sets differ.
        "is_unknown": bool(systems) and not any(each.knows_documents for each in systems.values()),
        "least_widest": None if answered is not None else _least_widest(foretold, least),
        "second_rating": None
        if noise is None
        else worth_of_second(noise, found.framed.items[target], systems),
        "systems": [
            _now(target, system, table, alone, least.get(system)) | {"system_id": ids.get(system, "")}
            for system in found.framed.items[target]
        ],
        "outlooks": outlooks,
        "wanted": [_wanted(width, outlooks, systems, now) for width in WIDTHS] if systems else [],
    }


def worth_of_second(
    noise: float, items: Mapping[str, Sequence[DrawnItem]], foretold: Mapping[str, Forecast]
) -> float | None:
    """How much a second rating of a check narrows intervals, as a share of what a new check does; at most a half.

    None without a forecast. With e the expected squared error of a check, n of them leave an error of e/n: one more
    takes e/n² from it, a second rating halves the `noise` of one check and takes noise/2/n².
    """
    errors = math.fsum(float(each.errors.sum()) for each in foretold.values())
    shares = math.fsum(item.share**2 for system in foretold for item in items[system])
    return min(0.5, noise / 2 * shares / errors) if errors > 0 else None


def _document_sets(project: Project, side: Check.Side, framed: SampleFrame) -> dict[int | None, int]:
    """By target length, how many document sets the checks of the frame lie in."""
    ids = {
        target: {public_id for of_system in of_target.values() for public_id in of_system}
        for target, of_target in framed.ids.items()
    }
    rows = Check.objects.filter(project=project, side=side)
    set_of = dict(rows.values_list("public_id", "peer__document_set_id"))
    return {target: len({set_of[public_id] for public_id in of_target}) for target, of_target in ids.items()}


def widest_now(table: EstimateTable, systems: Iterable[str]) -> float | None:
    """The width of the widest interval that is shown of any of the systems; None where one has none."""
    shown = [table.average(system) for system in systems]
    widths = [each.high - each.low for each in shown if each.low is not None and each.high is not None]
    return max(widths, default=None) if len(widths) == len(shown) else None


def _now(
    target: int | None,
    system: str,
    table: EstimateTable,
    alone: Mapping[TargetSystem, Average],
    least: float | None,
) -> dict[str, Any]:
    """What is known of a system now, and the `least` width that it could have."""
    estimated = (table.systems or {}).get(system)
    judge = alone.get((target, system))
    return {
        "system": system,
        "estimate": asdict(estimated.shown) if estimated else None,
        "people": asdict(estimated.people) if estimated else None,
        "judge": asdict(judge) if judge else None,
        "least": least,
    }


def _least(systems: Mapping[str, Forecast]) -> dict[str, float]:
    """The widths that are foretold of answers to everything, where any is."""
    return {
        system: each.least
        for system, each in systems.items()
        if each.least is not None and has_interval(each.document_count)
    }


def _least_widest(foretold: Mapping[str, Forecast], least: Mapping[str, float]) -> float | None:
    """What none of the least widths is expected to exceed in half of cases; None where there is none."""
    documents = [foretold[system].document_count for system in least]
    return median_widest(list(least.values()), documents) if least else None


def people_widths(
    project: Project, target: int | None, side: Check.Side = Check.Side.REFERENCE
) -> dict[str, float]:
    """By system, the width of the interval of people alone, of coverage over the document sets that they decided, of
    alignment over all.

    Systems without an interval are left out. The document sets of a group count together as one, as in estimates.
    """
    found = means_at(project, target)
    if side == Check.Side.PEER:
        by_people = found.of("alignment")
    else:
        decided = found.of("human_share")
        by_people = {
            system: {
                name: coverage
                for name, coverage in of_sets.items()
                if decided[system].get(name, 0.0) >= ALL_BY_PEOPLE
            }
            for system, of_sets in found.of("coverage").items()
        }
    cluster_of = found.clusters_by_set()
    answered = {system: _as_answered(of_sets, cluster_of) for system, of_sets in by_people.items() if of_sets}
    widths: dict[str, float] = {}
    for system, result in (estimate_systems_from_draw(answered) if answered else {}).items():
        low, high = result.classical_low, result.classical_high
        if has_interval(result.documents) and low is not None and high is not None and high > low:
            widths[system] = high - low
    return widths


def _as_answered(of_sets: Mapping[str, float], cluster_of: Mapping[str, str]) -> list[DrawnItem]:
    """A system's document sets as a draw of all of them."""
    sizes = Counter(cluster_of[name] for name in of_sets)
    return [
        DrawnItem(
            document=cluster_of[name],
            share=1 / sizes[cluster_of[name]],
            judge=None,
            probability=1.0,
            is_drawn=True,
            answer=coverage,
        )
        for name, coverage in of_sets.items()
    ]


def _outlook(
    found: Forecasts, target: int | None, systems: Mapping[str, Forecast], size: int, design: Design
) -> Outlook:
    shares = {system: found.share((target, system), size) for system in systems}
    held = {system: each.answered_documents(shares[system], design) for system, each in systems.items()}
    answered = median_fewest(
        [each.expected for each in held.values()], [each.spread for each in held.values()]
    )
    is_few = design != "people" and answered < TOO_FEW_DOCUMENTS
    widths = {
        system: each.width(shares[system], design)
        if has_interval(held[system].expected) and not is_few
        else None
        for system, each in systems.items()
    }
    known = [width for width in widths.values() if width is not None]
    is_known = len(known) == len(widths)
    return Outlook(
        mean=math.fsum(known) / len(known) if is_known else None,
        widest=median_widest(known, [each.expected for each in held.values()]) if is_known else None,
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
    for place in forecast.open_places:
        sums[str(forecast.strata[place])] += chances[place]
    return {stratum: round(total, 1) for stratum, total in sums.items()}


def _wanted(
    width: float,
    outlooks: Mapping[str, Mapping[Design, Any]],
    systems: Mapping[str, Forecast],
    now: float | None,
) -> dict[str, Any]:
    """The smallest size at which no system's interval is wider in half of draws, by design; else who lacks documents.

    `is_reached` tells that the widest interval of `now` is no wider already, `enough` how many document sets would do
    where no size does.
    """
    reached = {design: _first(outlooks, design, width) for design in DESIGNS}
    is_out_of_reach = all(size is None for size in reached.values())
    short = [_short(system, each, width) for system, each in systems.items() if is_out_of_reach]
    return {
        "width": width,
        "sizes": reached,
        "short": [each._asdict() for each in short if each is not None],
        "is_reached": now is not None and now <= width,
        "enough": _enough(systems, width) if is_out_of_reach else None,
    }


def _enough(systems: Mapping[str, Forecast], width: float) -> int | None:
    """How many document sets would do for every one of several systems in half of cases; None where nobody can say."""
    needed = documents_for_all(list(systems.values()), width) if len(systems) > 1 else None
    return None if needed is None else max(FEWEST_FOR_INTERVAL, needed)


def _short(system: str, forecast: Forecast, width: float) -> ShortSystem | None:
    """That a system needs more documents for a width; None where it does not, or nobody can say."""
    held, needed, least = forecast.document_count, forecast.documents_for(width), forecast.least
    if needed is None or least is None or (least <= width and has_interval(held)):
        return None
    return ShortSystem(system, held=held, needed=max(FEWEST_FOR_INTERVAL, needed))


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
        sizes += [round(unit * step) for step in SIZE_STEPS if unit * step < checks]
        unit *= 10
    return [*sizes, checks] if checks else []


def answered_before(project: Project, side: Check.Side = Check.Side.REFERENCE) -> int:
    """How many checks somebody answered who knew nothing of what others said: drawn, they keep that answer."""
    given = blind_answers(project).filter(check_row__is_current=True, check_row__side=side)
    return given.order_by().values("check_row").distinct().count()


def _judge_alone(project: Project, side: Check.Side) -> dict[TargetSystem, Average]:
    """The mean by the deciding judge alone with its interval, by target length and system."""
    seen: dict[int | None, list[Observation]] = {}
    for target, system, document_set, group, value in _judged(project, side):
        cluster = cluster_of(document_set, group)
        seen.setdefault(target, []).append(Observation(system, document_set, cluster, (value,)))
    return {
        (target, system): scores["judge"]
        for target, observations in seen.items()
        for system, scores in averages(observations, ("judge",)).items()
    }


def _judged(project: Project, side: Check.Side) -> Iterator[tuple[int | None, str, str, str, float | None]]:
    """Of every peer summary its place and what it has by the judge alone; alignment is stored of no one alone."""
    places = ("target_words", "system__name", "document_set__external_id", "document_set__group")
    rows: QuerySet[Any, Any]
    if side == Check.Side.REFERENCE:
        scores = Score.objects.filter(project=project, summary__is_peer=True, summary__system__isnull=False)
        rows = scores.order_by("summary").values_list(
            *(f"summary__{place}" for place in places), "coverage_judge"
        )
    else:
        checks = Check.objects.filter(
            project=project, side=side, is_current=True, judge_label__isnull=False, peer__system__isnull=False
        )
        is_yes = Case(When(judge_label=Label.YES, then=1.0), default=0.0)
        rows = (
            checks.order_by("peer")
            .values_list(*(f"peer__{place}" for place in places), "peer")
            .annotate(share=Avg(is_yes))
            .values_list(*(f"peer__{place}" for place in places), "share")
        )
    yield from rows.iterator(chunk_size=READ_AT_ONCE)
