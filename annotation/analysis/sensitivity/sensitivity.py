"""How far the order of the systems hangs on choices: what length counts, how people and judge are blended, which judge
decides, and who answered.

Here are the means, ranks and crossings; `what_if` finds what summaries would score under other choices.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from annotation.analysis.leaderboard.averages import Observation, set_means
from annotation.analysis.leaderboard.people_changed import ranks
from annotation.models import Project, Score
from annotation.models.document import cluster_of
from evaluation.statistics import Crossing, Lead, crossings, kendall_tau, leads, means_between

Coverages = Mapping[int, float | None]
"""Coverage by the key of a summary; None where it would have none."""

LENGTH_WEIGHTS = (0.0, 0.25, 0.5, 2 / 3, 0.75, 1.0)
BLEND_WEIGHTS = (0.0, 0.25, 0.5, 0.75, 1.0)
SAME = 1e-12


class Scored(NamedTuple):
    """A peer summary with its present scores."""

    summary: int
    target_words: int | None
    system: str
    document_set: str
    group: str
    coverage: float | None
    coverage_judge: float | None
    brevity: float | None
    human_share: float | None = None


@dataclass(frozen=True, slots=True)
class Variant:
    """Another choice by its name, and what the summaries that it touches would score under it."""

    name: str
    coverage: Coverages
    is_alone: bool = False


@dataclass(frozen=True, slots=True)
class OtherJudge:
    """What summaries would score with another deciding judge: with people's answers kept, and without people."""

    name: str
    coverage: Coverages
    alone: Coverages


@dataclass(frozen=True, slots=True)
class WhatIf:
    """What summaries would score under other choices.

    `blend` holds the coverages with the judge alone and with people alone in units that have both, of the summaries
    that have such units. `incomplete` names judges that have not answered every check, and how many they did.
    """

    blend: tuple[Coverages, Coverages]
    judges: Sequence[OtherJudge]
    people: Sequence[Variant]
    incomplete: Sequence[tuple[str, int]]
    checks: int


@dataclass(frozen=True, slots=True)
class SystemOrder:
    """The systems' means and ranks under a choice, compared with the present ones.

    `name` is that of the judge or the person whom the choice is about, `is_alone` tells that people's answers are left
    out. `tau` is Kendall's tau-b between both orders, None where either has no order; `ahead` are the systems with the
    highest mean, `moved` those that have another rank than now.
    """

    name: str
    means: dict[str, float]
    ranks: dict[str, int]
    tau: float | None
    ahead: tuple[str, ...]
    moved: tuple[str, ...]
    is_alone: bool = False


@dataclass(frozen=True, slots=True)
class Turning:
    """The orders as a weight goes from 0 to 1, on which means depend in straight lines.

    `own` is the project's weight, `orders` are those at the `weights`. `left_out` counts summaries without one of both
    ends.
    """

    own: float
    at_zero: dict[str, float]
    at_one: dict[str, float]
    orders: tuple[SystemOrder, ...]
    weights: tuple[float, ...]
    crossings: tuple[Crossing, ...]
    leads: tuple[Lead, ...]
    pairs: int
    left_out: int


def scored_summaries(project: Project) -> list[Scored]:
    """Every peer summary that has a system and scores."""
    rows = Score.objects.filter(project=project, summary__is_peer=True, summary__system__isnull=False)
    columns = (
        "summary_id",
        "summary__target_words",
        "summary__system__name",
        "summary__document_set__external_id",
        "summary__document_set__group",
        "coverage",
        "coverage_judge",
        "brevity",
        "human_share",
    )
    return [Scored(*row) for row in rows.order_by("summary_id").values_list(*columns)]


def sensitivity(project: Project, rows: Sequence[Scored], found: WhatIf) -> dict[str, Any]:
    """By target length, how the order of the systems by coverage would change, as values that JSON holds."""
    by_target: dict[int | None, list[Scored]] = defaultdict(list)
    for row in rows:
        by_target[row.target_words].append(row)
    return {
        "checks": found.checks,
        "incomplete": [{"judge": name, "answered": answered} for name, answered in found.incomplete],
        "judge": project.deciding_judge.name if project.deciding_judge else "",
        "other_judges": len(found.judges),
        "is_human_first": project.blend == Project.Blend.HUMAN_FIRST,
        "targets": [
            _at_target(project, target, by_target[target], found)
            for target in sorted(by_target, key=lambda target: (target is None, target or 0))
            if any(row.coverage is not None for row in by_target[target])
        ],
    }


def _at_target(
    project: Project, target_words: int | None, rows: Sequence[Scored], found: WhatIf
) -> dict[str, Any]:
    present = _order("", _means(rows, {}), {})
    by_judge = [
        _order(each.name, _means(rows, each.coverage), present.means, is_alone=each.is_alone)
        for each in _by_judges(project, rows, found.judges)
    ]
    here = {row.summary for row in rows}
    of_people = [
        _order(each.name, _means(rows, each.coverage), present.means)
        for each in found.people
        if here & each.coverage.keys()
    ]
    length, blend = _by_length(project, rows, present), _by_blend(project, rows, found, present)
    return {
        "target_words": target_words,
        "present": asdict(present),
        "length": length and asdict(length),
        "blend": blend and asdict(blend),
        "judges": [asdict(order) for order in by_judge],
        "people": [asdict(order) for order in of_people],
        "has_judged": any(row.coverage_judge is not None for row in rows),
        "is_all_by_people": _is_all_by_people(rows),
    }


def _by_judges(project: Project, rows: Sequence[Scored], others: Sequence[OtherJudge]) -> list[Variant]:
    """The deciding judge alone where people changed anything, then every other one: with people's answers, and alone.

    With people's answers it is not shown where people decide everything: it would be the order of now.
    """
    deciding = project.deciding_judge.name if project.deciding_judge else ""
    own = Variant(deciding, {row.summary: row.coverage_judge for row in rows}, is_alone=True)
    variants = [own] if _differs(own, rows) else []
    is_all_by_people = _is_all_by_people(rows)
    for other in others:
        if not is_all_by_people:
            variants.append(Variant(other.name, other.coverage))
        if is_all_by_people or any(
            is_apart(other.coverage.get(row.summary), other.alone.get(row.summary)) for row in rows
        ):
            variants.append(Variant(other.name, other.alone, is_alone=True))
    return variants


def _is_all_by_people(rows: Iterable[Scored]) -> bool:
    """Whether people decide all of every coverage that there is."""
    shares = [row.human_share for row in rows if row.coverage is not None]
    return bool(shares) and all(share is not None and share >= 1 - SAME for share in shares)


def _differs(alone: Variant, rows: Iterable[Scored]) -> bool:
    """Whether people changed anything of what the judge said, and the judge can stand alone."""
    return any(is_apart(row.coverage, alone.coverage.get(row.summary)) for row in rows)


def _by_length(project: Project, rows: Sequence[Scored], present: SystemOrder) -> Turning | None:
    """X = a c + (1 - a) b over the summaries that have both; None where none has a brevity."""
    both = [row for row in rows if row.coverage is not None and row.brevity is not None]
    if not both:
        return None
    known = sum(row.coverage is not None for row in rows)
    return _turning(
        _means(both, {row.summary: row.brevity for row in both}),
        _means(both, {}),
        own=project.composite_weight,
        weights=LENGTH_WEIGHTS,
        present=present,
        left_out=known - len(both),
    )


def _by_blend(
    project: Project, rows: Sequence[Scored], found: WhatIf, present: SystemOrder
) -> Turning | None:
    """Coverage by the weight of people in units that have both; None where there is no such unit."""
    by_judge, by_people = found.blend
    if not any(
        is_apart(by_judge[row.summary], by_people[row.summary]) for row in rows if row.summary in by_judge
    ):
        return None
    return _turning(
        _means(rows, by_judge),
        _means(rows, by_people),
        own=1.0 if project.blend == Project.Blend.HUMAN_FIRST else project.blend_human_weight,
        weights=BLEND_WEIGHTS,
        present=present,
        left_out=0,
    )


def is_apart(one: float | None, other: float | None) -> bool:
    """Whether two scores differ by more than rounding; where either is missing nothing can be said."""
    return one is not None and other is not None and abs(one - other) > SAME


def _turning(
    at_zero: dict[str, float],
    at_one: dict[str, float],
    *,
    own: float,
    weights: Iterable[float],
    present: SystemOrder,
    left_out: int,
) -> Turning:
    shown = tuple(sorted({*weights, own}))
    orders = [
        _order(
            "",
            means_between(at_zero, at_one, weight),
            present.means,
        )
        for weight in shown
    ]
    return Turning(
        own=own,
        at_zero=at_zero,
        at_one=at_one,
        orders=tuple(orders),
        weights=shown,
        crossings=crossings(at_zero, at_one),
        leads=leads(at_zero, at_one),
        pairs=math.comb(len(at_zero), 2),
        left_out=left_out,
    )


def _means(rows: Sequence[Scored], other: Coverages) -> dict[str, float]:
    """Macro means of the systems with the coverages that another choice gives where it gives any."""
    seen = [
        Observation(
            row.system,
            row.document_set,
            cluster_of(row.document_set, row.group),
            (other.get(row.summary, row.coverage),),
        )
        for row in rows
    ]
    found = set_means(seen, ("coverage",)).of("coverage")
    return {system: math.fsum(sets.values()) / len(sets) for system, sets in found.items() if sets}


def _order(
    name: str, means: dict[str, float], present: Mapping[str, float], *, is_alone: bool = False
) -> SystemOrder:
    placed = ranks(means)
    common = [system for system in present if system in means]
    before = ranks({system: present[system] for system in common})
    after = ranks({system: means[system] for system in common})
    best = max(means.values(), default=0.0)
    return SystemOrder(
        name=name,
        means=dict(sorted(means.items(), key=lambda each: (-each[1], each[0]))),
        ranks=placed,
        tau=kendall_tau([present[system] for system in common], [means[system] for system in common]),
        ahead=tuple(sorted(system for system, mean in means.items() if mean >= best - SAME)),
        moved=tuple(system for system in common if before[system] != after[system]),
        is_alone=is_alone,
    )
