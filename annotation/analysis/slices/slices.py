"""Slices: averages by a metadata key or by groups of document sets, and the slices in which a system is worse."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

from annotation.analysis.estimates.samples import samples
from annotation.analysis.leaderboard.leaderboard import TargetTable, means_at
from annotation.core.criteria import criteria_in_force
from annotation.core.refusals import Invalid
from annotation.models import SCORE_SIDES, DocumentSet, Sample
from annotation.models.document import cluster_of
from annotation.sampling.queries.rating_samples import framed_ratings, rating_samples
from annotation.sampling.queries.sampled_items import framed_items
from evaluation.statistics import (
    FEWEST_IN_SLICE,
    SliceDifference,
    SliceMean,
    estimate_systems_from_sample,
    slice_differences,
    slice_mean,
    weighted_mean,
)

if TYPE_CHECKING:
    from annotation.analysis.leaderboard.averages import SetMeans
    from annotation.analysis.slices.split import Split
    from annotation.models import Project
    from annotation.sampling.queries.sampled_items import SampleFrame


@dataclass(frozen=True, slots=True)
class SliceCell:
    """A system in a slice. `mean` is None if the slice has fewer than 10 document sets of the system.

    `difference` is the system's lead over the other systems in the slice, minus its lead elsewhere. If `mean` is None,
    `few` is the mean over the system's document sets, which is too uncertain to compare. `few` is None without such
    sets, or if the other cells show estimates.
    """

    slice: str
    mean: SliceMean | None
    difference: float | None = None
    is_worse: bool = False
    few: float | None = None


@dataclass(frozen=True, slots=True)
class SlicedSystem:
    """A system with a cell per slice.

    `weighted` is its mean over slices by the given weights; None without weights, or if a weighted slice has no mean.
    """

    system: str
    cells: tuple[SliceCell, ...]
    weighted: SliceMean | None


@dataclass(frozen=True, slots=True)
class Slice:
    """A slice, with its number of document sets that have the score, and its weight in the weighted mean."""

    value: str
    document_sets: int
    weight: float


@dataclass(frozen=True, slots=True)
class Slices:
    """The systems by the values of a key, the best of the leaderboard first.

    `basis` names the averaged value. If the leaderboard shows estimates and some cell with a mean has none within its
    slice, `basis` is the judge's value with corrections. Differences always use the scores of summaries. `moved` names
    the systems whose place changes with the given weights.
    """

    key: str
    score: str
    target_words: int | None
    basis: str
    slices: tuple[Slice, ...]
    systems: tuple[SlicedSystem, ...]
    moved: tuple[str, ...]

    @property
    def is_tested(self) -> bool:
        """True if any system is compared in any slice."""
        return any(cell.difference is not None for row in self.systems for cell in row.cells)

    @property
    def worse(self) -> list[tuple[str, str]]:
        """Return the system and slice of every cell in which the system's lead is significantly smaller."""
        return [(row.system, cell.slice) for row in self.systems for cell in row.cells if cell.is_worse]


def slices(
    project: Project,
    split: Split,
    table: TargetTable,
    *,
    score: str,
    means: SetMeans | None = None,
    weights: Mapping[str, float] | None = None,
    count_by: str = "",
) -> Slices:
    """Average a score by system and slice, with the systems in the order of a table of the leaderboard.

    `means` has the averages of each document set at the table's target length; without it, they are loaded.
    `weights` has a weight by slice. `count_by` names a numeric metadata key instead, whose sum over document sets is
    the weight of a slice. Without either, no weighted mean is made. Raises Invalid for weights that are negative,
    infinite or all 0, and for a `count_by` that is not a count in some document set.
    """
    means = means or means_at(project, table.target_words)
    values = {system: of_system for system, of_system in means.of(score).items() if of_system}
    used = {name for of_system in values.values() for name in of_system if name in split.slices}
    sizes = Counter(split.slices[name] for name in used)
    names = [name for name in split.names if name in sizes]
    basis = table.bases[score]
    estimated = _estimates(project, score, table.target_words, split, names) if basis.is_estimate else {}
    held = {(system, name): _values(of, split, name) for system, of in values.items() for name in names}
    plain = {
        cell: slice_mean(here, split.clusters) for cell, here in held.items() if len(here) >= FEWEST_IN_SLICE
    }
    is_estimated = bool(estimated) and all(cell in estimated for cell in plain)
    shown = {cell: estimated[cell] if is_estimated else mean for cell, mean in plain.items()}
    few = {} if is_estimated else {cell: fmean(here.values()) for cell, here in held.items() if here}
    given = _counts(project, split, count_by) if count_by else dict(weights or {})
    if not all(0 <= weight < math.inf for weight in given.values()) or (given and not any(given.values())):
        raise Invalid("Weights must not be negative, and one of them must be positive.", field="weights")
    differences = {
        (each.system, each.slice): each for each in slice_differences(values, split.slices, split.clusters)
    }
    systems = tuple(
        SlicedSystem(
            system,
            tuple(
                SliceCell(name, None, few=few.get((system, name)))
                if shown.get((system, name)) is None
                else _cell(name, shown[system, name], differences.get((system, name)))
                for name in names
            ),
            _weighted({name: shown.get((system, name)) for name in names}, given),
        )
        for system in (row.system for row in table.rows)
        if system in values
    )
    return Slices(
        key=split.key,
        score=score,
        target_words=table.target_words,
        basis=basis.name if is_estimated or not basis.is_estimate else "judge + corrections",
        slices=tuple(Slice(name, sizes[name], given.get(name, 0.0)) for name in names),
        systems=systems,
        moved=_moved(systems),
    )


def _counts(project: Project, split: Split, count_by: str) -> dict[str, float]:
    counts: defaultdict[str, float] = defaultdict(float)
    for name, metadata in DocumentSet.objects.filter(project=project).values_list("external_id", "metadata"):
        count = metadata.get(count_by, 0)
        if isinstance(count, bool) or not isinstance(count, int | float) or count < 0:
            raise Invalid(f"{count_by} of {name} is not a count: {count!r}.", field="count_by")
        counts[split.slices[name]] += count
    return counts


def _values(of_system: Mapping[str, float], split: Split, name: str) -> dict[str, float]:
    return {document: value for document, value in of_system.items() if split.slices[document] == name}


def _estimates(
    project: Project,
    score: str,
    target_words: int | None,
    split: Split,
    names: Sequence[str],
) -> dict[tuple[str, str], SliceMean]:
    """A group whose document sets are in several slices counts in none."""
    framed = _framed(project, score)
    # The stored table may be older than a changed question, which has no finished sample yet.
    if framed is None:
        return {}
    of_document: defaultdict[str, set[str]] = defaultdict(set)
    for name, group in DocumentSet.objects.filter(project=project).values_list("external_id", "group"):
        of_document[cluster_of(name, group)].add(split.slices[name])
    found: dict[tuple[str, str], SliceMean] = {}
    for name in names:
        inside = {document for document, slices in of_document.items() if slices == {name}}
        items = {
            system: [item for item in of_system if item.document in inside]
            for system, of_system in framed.items[target_words].items()
        }
        held = {system: of_system for system, of_system in items.items() if of_system}
        made_of = estimate_systems_from_sample(
            held, covariates=framed.covariates, ratings=score not in SCORE_SIDES
        )
        for system, made in made_of.items():
            if made.estimate is not None and made.low is not None and made.documents >= FEWEST_IN_SLICE:
                found[system, name] = SliceMean(
                    mean=made.estimate,
                    documents=made.documents,
                    degrees=made.degrees,
                    error=made.error,
                    low=made.low,
                    high=made.high,
                )
    return found


def _framed(project: Project, score: str) -> SampleFrame | None:
    found = Sample.objects.select_related("criterion")
    if (side := SCORE_SIDES.get(score)) is None:
        of_score = rating_samples(project, criterion__in=criteria_in_force(project).filter(name=score))
        newest = next((each.sample_id for each in of_score if each.is_finished), None)
        return framed_ratings(project, found.get(public_id=newest)) if newest else None
    newest = next((each.sample_id for each in samples(project, side) if each.is_complete), None)
    return framed_items(project, found.get(public_id=newest), side=side) if newest else None


def _cell(name: str, mean: SliceMean | None, difference: SliceDifference | None) -> SliceCell:
    if mean is None or difference is None:
        return SliceCell(name, mean)
    return SliceCell(name, mean, difference.difference, difference.is_worse())


def _weighted(means: Mapping[str, SliceMean | None], weights: Mapping[str, float]) -> SliceMean | None:
    used = [(weights[name], mean) for name, mean in means.items() if weights.get(name)]
    known = [(weight, mean) for weight, mean in used if mean is not None]
    return weighted_mean(known) if used and len(known) == len(used) else None


def _moved(systems: Sequence[SlicedSystem]) -> tuple[str, ...]:
    weighted = [(row.weighted.mean, row.system) for row in systems if row.weighted is not None]
    before = [system for _, system in weighted]
    after = [system for _, system in sorted(weighted, key=lambda each: -each[0])]
    return tuple(now for was, now in zip(before, after, strict=True) if was != now)
