"""Suggest verdicts on checks that nobody has answered, from the judge and people's answers on other systems' summaries.

What is learned from are the answers of the random sample that estimates come from. The probabilities order the review
queue and stand beside the judge's verdict; they score nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from annotation.analysis.estimates.pooling import samples_and_pools, shown_pool
from annotation.models import Draw
from annotation.sampling.queries.sampled_items import framed_items
from annotation.scoring.suggested import store_suggested
from evaluation.statistics import suggested_verdicts

if TYPE_CHECKING:
    from annotation.models import Project


@dataclass(frozen=True, slots=True)
class Suggested:
    """What was suggested: on how many `checks`, by the answers up to which sample, and how well.

    `brier` and `brier_judge` are the mean squared errors of the suggested and the judge's probabilities on the
    `answered` checks, each foretold without its own document's answers on the system; None where nothing was learned.
    """

    checks: int = 0
    draw_id: str = ""
    answered: int = 0
    brier: float | None = None
    brier_judge: float | None = None


def suggest_verdicts(*, project: Project) -> Suggested:
    """Store what people would probably say of each check of the sample's frame.

    Nothing is suggested where nothing can be learned: without a sample of checks that has reached its first look, with
    one system alone, or where no two summaries are asked about one claim.
    """
    _, pools = samples_and_pools(project)
    pool = shown_pool(pools)
    found: dict[str, float] = {}
    pairs: list[tuple[float, float, float]] = []
    if pool is not None and pool.latest.item == Draw.Item.CHECK:
        framed = framed_items(project, *pool.draws, names_claims=True)
        for target, systems in framed.items.items():
            for name, chances in suggested_verdicts(systems).items():
                for check, item, chance in zip(framed.ids[target][name], systems[name], chances, strict=True):
                    # What a rule decides is known.
                    if chance is None or item.is_settled:
                        continue
                    found[check] = chance
                    if item.answer is not None and item.judge is not None:
                        pairs.append((item.answer, chance, item.judge))
        if all(chance == judge for _, chance, judge in pairs):
            found, pairs = {}, []
    store_suggested(project=project, suggested=found)
    if not found or pool is None:
        return Suggested()
    return Suggested(
        checks=len(found),
        draw_id=pool.latest.draw_id,
        answered=len(pairs),
        brier=_mean([(chance - answer) ** 2 for answer, chance, _ in pairs]),
        brier_judge=_mean([(judge - answer) ** 2 for answer, _, judge in pairs]),
    )


def payload(project: Project, key: str) -> dict[str, Any]:
    """`suggest_verdicts`, as statistics are stored."""
    return asdict(suggest_verdicts(project=project))


def _mean(errors: Sequence[float]) -> float:
    return sum(errors) / len(errors)
