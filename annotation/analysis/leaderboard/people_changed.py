"""What people's answers made of the judge's: which means moved, and whether the order did."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from annotation.analysis.leaderboard.averages import Average, SetMeans

BLEND, JUDGE, SHARE = "coverage", "coverage_judge", "human_share"


@dataclass(frozen=True, slots=True)
class Moved:
    """A system's coverage by the judge alone and with people's answers, over the `n` sets that have both."""

    judge: float
    blend: float
    n: int
    rank_by_judge: int
    rank_by_blend: int

    @property
    def by(self) -> float:
        return self.blend - self.judge


@dataclass(frozen=True, slots=True)
class PeopleChanged:
    """What people changed, by system. `share` is the mean share that people decided, None unknown."""

    systems: dict[str, Moved]
    share: float | None


def people_changed(found: SetMeans, averages: Mapping[str, Mapping[str, Average]]) -> PeopleChanged:
    """The judge alone against the blend, each system on the document sets that have both."""
    blend, judge = found.of(BLEND), found.of(JUDGE)
    both = {
        system: (
            _mean([judge[system][name] for name in common]),
            _mean([blend[system][name] for name in common]),
        )
        for system in found.systems
        if (common := [name for name in found.sets if name in blend[system] and name in judge[system]])
    }
    counts = {system: len(blend[system].keys() & judge[system].keys()) for system in both}
    by_judge = ranks({system: of_judge for system, (of_judge, _) in both.items()})
    by_blend = ranks({system: of_blend for system, (_, of_blend) in both.items()})
    moved = {
        system: Moved(of_judge, of_blend, counts[system], by_judge[system], by_blend[system])
        for system, (of_judge, of_blend) in both.items()
    }
    return PeopleChanged(systems=moved, share=share_decided(averages))


def share_decided(averages: Mapping[str, Mapping[str, Average]]) -> float | None:
    """The mean share over systems that people decided, None where no system has one."""
    shares = [share for scores in averages.values() if (share := scores[SHARE].mean) is not None]
    return _mean(shares) if shares else None


def ranks(means: Mapping[str, float]) -> dict[str, int]:
    """Rank of each system, the best first; means that differ in the last digit alone share one."""
    made: dict[str, int] = {}
    rank, last = 0, math.inf
    for place, system in enumerate(sorted(means, key=lambda name: (-means[name], name)), start=1):
        if not math.isclose(means[system], last, abs_tol=1e-12):
            rank, last = place, means[system]
        made[system] = rank
    return made


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)
