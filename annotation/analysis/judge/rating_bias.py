"""The deciding judge's ratings by own criteria compared with people's, by system."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import TYPE_CHECKING

from annotation.analysis.agreement.ratings import judge_ratings, whole_ratings
from annotation.analysis.intervals import shown
from annotation.core.criteria import asked_of_people
from annotation.models import Summary
from evaluation.statistics import FEWEST_IN_SLICE, Estimate, bootstrap_interval

if TYPE_CHECKING:
    from annotation.analysis.slices.split import Split
    from annotation.models import Project

EVERY_SYSTEM = ""
DRAWS, SEED = 2000, 0


@dataclass(frozen=True, slots=True)
class RatingBias:
    """The difference between the judge's and people's ratings on one criterion, for one system or for all ("").

    With a `slice`, only its document sets count. `people` and `judge` are means over the `summaries` that both rated,
    in [0, 1], 1 for the best answer. `error` is the mean absolute difference, and `bias` the mean of the judge's value
    minus people's, with an interval. Summaries are averaged within clusters first, and the interval resamples clusters:
    groups, or document sets without a group.
    """

    criterion: str
    system: str
    summaries: int
    people: float
    judge: float
    error: float
    bias: Estimate
    slice: str = ""


def rating_bias(project: Project, split: Split | None = None) -> tuple[RatingBias, ...]:
    """Compare blind ratings of people with the deciding judge's, by criterion and system; with `split`, by criterion
    and slice.

    People's ratings of a summary are averaged first. Summaries that only one side rated do not count, and slices with
    fewer than `FEWEST_IN_SLICE` clusters are left out.
    """
    criteria = list(asked_of_people(project))
    people, judged = whole_ratings(project, criteria), judge_ratings(project, criteria)
    summaries = Summary.objects.filter(document_set__project=project, is_summary=True)
    columns = ("public_id", "system__name", "document_set__external_id")
    places = {item: (system, name) for item, system, name in summaries.values_list(*columns)}
    found: list[RatingBias] = []
    for criterion in criteria:
        fact, said = criterion.fact, judged.get(criterion.pk, {})
        values: dict[str, list[float]] = defaultdict(list)
        clusters: dict[str, str] = {}
        for rated in people.get(criterion.pk, ()):
            if rated.item in said:
                values[rated.item].append(fact.share(float(rated.value)))
                clusters[rated.item] = rated.cluster
        parts: dict[str, list[tuple[float, float, str]]] = defaultdict(list)
        for item, shares in values.items():
            system, name = places[item]
            cluster = split.clusters.get(name, name) if split else clusters[item]
            for part in (split.slices[name],) if split else (EVERY_SYSTEM, system):
                parts[part].append((fmean(shares), fact.share(float(said[item])), cluster))
        found += [_compared(fact.name, part, pairs) for part, pairs in sorted(parts.items())]
    if split is None:
        return tuple(found)
    large = [row for row in found if row.bias.clusters >= FEWEST_IN_SLICE]
    return tuple(replace(row, system=EVERY_SYSTEM, slice=row.system) for row in large)


def _compared(criterion: str, system: str, pairs: list[tuple[float, float, str]]) -> RatingBias:
    people, judge, clusters = zip(*pairs, strict=True)
    errors = [said - human for human, said, _ in pairs]
    found = bootstrap_interval(errors, clusters, draws=DRAWS, seed=SEED, method="expanded")
    bias = Estimate(found.mean, found.low, found.high, found.clusters, DRAWS, SEED)
    return RatingBias(
        criterion,
        system,
        len(pairs),
        _mean(people, clusters),
        _mean(judge, clusters),
        _mean([abs(error) for error in errors], clusters),
        shown(bias),
    )


def _mean(values: Sequence[float], clusters: Sequence[str]) -> float:
    # Average within clusters first, as the interval does.
    of_cluster: dict[str, list[float]] = defaultdict(list)
    for value, cluster in zip(values, clusters, strict=True):
        of_cluster[cluster].append(value)
    return fmean(map(fmean, of_cluster.values()))
