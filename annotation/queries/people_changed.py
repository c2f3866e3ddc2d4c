"""What people's answers made of the judge's: which means moved, and whether the order did."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from annotation.queries.taken_over import TakenOver

if TYPE_CHECKING:
    from annotation.queries.averages import Average, SetMeans

BLEND, JUDGE, SHARE = "coverage", "coverage_judge", "human_share"
SMALLEST = 0.0005
"""A mean that moves by less is the same in three decimals."""
NONE_TAKEN = TakenOver()


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

    @classmethod
    def read(cls, stored: dict[str, Any]) -> Moved:
        return cls(**stored)


@dataclass(frozen=True, slots=True)
class PeopleChanged:
    """What people changed, by system and in words. `share` is the mean share that people decided, None unknown.

    Of the `answers` of reviewers that stand, so many are the judge's own, taken over `in_lists`; both 0 where none is.
    """

    systems: dict[str, Moved]
    share: float | None
    sentence: str
    answers: int = 0
    in_lists: int = 0

    @classmethod
    def read(cls, stored: dict[str, Any]) -> PeopleChanged:
        moved = {name: Moved.read(of_system) for name, of_system in stored["systems"].items()}
        return cls(**stored | {"systems": moved})


def people_changed(
    found: SetMeans, averages: Mapping[str, Mapping[str, Average]], taken: TakenOver = NONE_TAKEN
) -> PeopleChanged:
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
    shares = [share for scores in averages.values() if (share := scores[SHARE].mean) is not None]
    share = _mean(shares) if shares else None
    told = sentence(moved, share, taken)
    return PeopleChanged(
        systems=moved, share=share, sentence=told, answers=taken.answers, in_lists=taken.in_lists
    )


def sentence(moved: Mapping[str, Moved], share: float | None, taken: TakenOver = NONE_TAKEN) -> str:
    """What people changed, in words; nothing where there is nobody to compare."""
    if not moved:
        return ""
    if not share:
        return "People have decided nothing here yet: the blend is the judge's."
    decided = f"People decided {_percent(share)} of what coverage rests on"
    asides = ["mean over systems"] if len(moved) > 1 else []
    if taken.in_lists:
        asides.append(taken.in_words)
    if asides:
        decided += f" ({'; '.join(asides)})"
    changed = {system: of_system for system, of_system in moved.items() if abs(of_system.by) >= SMALLEST}
    if not changed:
        return f"{decided}; no mean moved by it."
    most = max(changed, key=lambda system: (abs(changed[system].by), system))
    said = changed[most]
    whose = f"the mean of {most}"
    if len(changed) > 1:
        whose = f"the mean of {len(changed)} of {len(moved)} systems, most that of {most}:"
    elif len(moved) > 1:
        whose = f"the mean of 1 of {len(moved)} systems, {most}:"
    return (
        f"{decided}, which moved {whose} from {said.judge:.3f} by the judge alone to {said.blend:.3f}. {_order(moved)}"
    ).rstrip()


def _order(moved: Mapping[str, Moved]) -> str:
    if len(moved) < 2:
        return ""
    first_by_judge = [system for system, each in moved.items() if each.rank_by_judge == 1]
    first_by_blend = [system for system, each in moved.items() if each.rank_by_blend == 1]
    if len(first_by_judge) == len(first_by_blend) == 1 and first_by_judge != first_by_blend:
        return f"By the judge alone {first_by_judge[0]} would be first, not {first_by_blend[0]}."
    others = sum(each.rank_by_judge != each.rank_by_blend for each in moved.values())
    if not others:
        return "The order of the systems is the same."
    return f"{others} of {len(moved)} systems have another rank."


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


def _percent(share: float) -> str:
    rounded = round(100 * share)
    if rounded in (0, 100) and 0 < share < 1:
        return "less than 1 %" if rounded == 0 else "more than 99 %"
    return f"{rounded} %"
