"""Slices: the averages of systems by a metadata key or the group of document sets, and where a system is worse."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Any

import numpy as np

from annotation.analysis.estimates.samples import samples
from annotation.analysis.leaderboard.leaderboard import score_rows
from annotation.core.refusals import Invalid
from annotation.models import SCORE_SIDES, SCORES, DocumentSet, Sample
from annotation.models.document import cluster_of
from annotation.sampling.queries.sampled_items import framed_items
from annotation.scoring.own_scores import own_scores
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
    from annotation.analysis.leaderboard.values import Basis
    from annotation.models import Project

GROUP = "group"
MOST_VALUES = 12
"""The number of values of a key that are shown; rarer ones are together in `OTHER`."""
OTHER, NO_VALUE = "other", "no value"
PARTS = 4
"""The number of parts into which numbers are cut, at their quantiles."""


@dataclass(frozen=True, slots=True)
class SliceCell:
    """A system in a slice. `mean` is None if the slice has fewer than 10 document sets of the system."""

    slice: str
    mean: SliceMean | None
    difference: float | None = None
    is_worse: bool = False


@dataclass(frozen=True, slots=True)
class SlicedSystem:
    """A system with a cell per slice, and its mean over slices with the given weights (None without weights)."""

    system: str
    cells: tuple[SliceCell, ...]
    weighted: SliceMean | None


@dataclass(frozen=True, slots=True)
class Slice:
    """A value of the key with its number of document sets, and its weight in the weighted mean."""

    value: str
    document_sets: int
    weight: float


@dataclass(frozen=True, slots=True)
class Slices:
    """The systems by the values of a key, the best of the leaderboard first.

    `basis` names the value that is averaged: that of the leaderboard. If the leaderboard shows estimates but not every
    cell has an estimate within its slice, it is the judge's with corrections. Differences always use the scores of
    summaries. `moved` names the systems whose place changes with the given weights.
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
        """The system and slice of every cell that is worse than the system elsewhere."""
        return [(row.system, cell.slice) for row in self.systems for cell in row.cells if cell.is_worse]


def slice_keys(project: Project) -> list[str]:
    """List the keys that split the document sets: `group` and metadata keys, with numbers or with texts that repeat.

    The keys with most values that are large enough to compare come first.
    """
    values: defaultdict[str, Counter[Any]] = defaultdict(Counter)
    for group, metadata in _set_rows(project).values_list("group", "metadata"):
        if group:
            values[GROUP][group] += 1
        for key, value in metadata.items():
            if isinstance(value, str | int | float):
                values[key][value] += 1
    splitting = (
        key
        for key, counts in values.items()
        if len(counts) > 1 and (len(counts) < counts.total() or _is_numeric(counts))
    )
    return sorted(splitting, key=lambda key: (-sum(n >= FEWEST_IN_SLICE for n in values[key].values()), key))


def slices(
    project: Project,
    *,
    key: str,
    score: str,
    basis: Basis,
    target_words: int | None,
    order: Sequence[str],
    weights: Mapping[str, float] | None = None,
    count_by: str = "",
) -> Slices:
    """Split the averages of a score by a key. `order` has the systems in the order of the leaderboard.

    `weights` has a weight by value. `count_by` names a numeric metadata key instead, whose sum over document sets is
    the weight of a value. Without either, no weighted mean is made. Raises Invalid for a key that splits nothing,
    for weights that are negative or all 0, and for a `count_by` that is not a count in some document set.
    """
    if key not in slice_keys(project):
        raise Invalid(f"No two document sets differ in {key!r}.", field="key")
    slice_of, cluster_of_set, counts = _split(project, key, count_by)
    values = _set_values(project, score, target_words)
    used = {name for of_system in values.values() for name in of_system}
    names = _in_order({slice_of[name] for name in used}, slice_of)
    has_estimate = score in SCORE_SIDES and basis.is_estimate
    estimated = _estimates(project, score, target_words, slice_of, names) if has_estimate else {}
    plain = {
        (system, name): _mean(of_system, slice_of, name, cluster_of_set)
        for system, of_system in values.items()
        for name in names
    }
    cells = [cell for cell, mean in plain.items() if mean is not None]
    is_estimated = bool(estimated) and all(cell in estimated for cell in cells)
    means = {cell: estimated[cell] if is_estimated else plain[cell] for cell in cells}
    given = {name: counts[name] for name in names} if count_by else dict(weights or {})
    if not all(0 <= weight < math.inf for weight in given.values()) or (given and not any(given.values())):
        raise Invalid("Weights must not be negative, and one of them must be positive.", field="weights")
    differences = {
        (each.system, each.slice): each for each in slice_differences(values, slice_of, cluster_of_set)
    }
    systems = tuple(
        SlicedSystem(
            system,
            tuple(_cell(name, means.get((system, name)), differences.get((system, name))) for name in names),
            _weighted({name: means.get((system, name)) for name in names}, given),
        )
        for system in order
        if system in values
    )
    sizes = Counter(slice_of[name] for name in used)
    return Slices(
        key=key,
        score=score,
        target_words=target_words,
        basis=basis.name if is_estimated or not has_estimate else "judge + corrections",
        slices=tuple(Slice(name, sizes[name], given.get(name, 0.0)) for name in names),
        systems=systems,
        moved=_moved(systems),
    )


def _set_rows(project: Project) -> Any:
    return DocumentSet.objects.filter(project=project).order_by("pk")


def _is_numeric(counts: Mapping[Any, int]) -> bool:
    return all(isinstance(value, int | float) and not isinstance(value, bool) for value in counts)


def _split(
    project: Project, key: str, count_by: str
) -> tuple[dict[str, str], dict[str, str], dict[str, float]]:
    """The slice and the cluster of every document set, and the sum of `count_by` in every slice."""
    rows = list(_set_rows(project).values_list("external_id", "group", "metadata"))
    raw = {name: group if key == GROUP else metadata.get(key) for name, group, metadata in rows}
    slice_of = _named(raw)
    # If the groups are the slices, every document set is its own cluster: otherwise a slice had a single cluster.
    clusters = {name: cluster_of(name, "" if key == GROUP else group) for name, group, _ in rows}
    counts: defaultdict[str, float] = defaultdict(float)
    for name, _, metadata in rows:
        count = metadata.get(count_by, 0) if count_by else 0
        if isinstance(count, bool) or not isinstance(count, int | float) or count < 0:
            raise Invalid(f"{count_by} of {name} is not a count: {count!r}.", field="count_by")
        counts[slice_of[name]] += count
    return slice_of, clusters, counts


def _named(raw: Mapping[str, Any]) -> dict[str, str]:
    """The slice of every document set: its value, its range of numbers, or `OTHER` for rare values."""
    known = {
        name: value for name, value in raw.items() if isinstance(value, str | int | float) and value != ""
    }
    counts = Counter(known.values())
    if len(counts) <= MOST_VALUES:
        return {name: _word(known[name]) if name in known else NO_VALUE for name in raw}
    if _is_numeric(counts):
        found = _ranges({name: float(value) for name, value in known.items()})
    else:
        kept = dict(counts.most_common(MOST_VALUES - 1))
        found = {name: _word(value) if value in kept else OTHER for name, value in known.items()}
    return {name: found.get(name, NO_VALUE) for name in raw}


def _ranges(numbers: Mapping[str, float]) -> dict[str, str]:
    edges = np.unique(np.quantile(list(numbers.values()), np.arange(PARTS) / PARTS))
    places = {name: int(np.searchsorted(edges, number, side="right")) for name, number in numbers.items()}
    inside: defaultdict[int, list[float]] = defaultdict(list)
    for name, place in places.items():
        inside[place].append(numbers[name])
    return {name: f"{min(inside[place]):g} to {max(inside[place]):g}" for name, place in places.items()}


def _word(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _in_order(names: set[str], slice_of: Mapping[str, str]) -> list[str]:
    """Largest slices first; `OTHER` and `NO_VALUE` are last."""
    sizes = Counter(slice_of.values())
    return sorted(names, key=lambda name: (name in (OTHER, NO_VALUE), -sizes[name], name))


def _set_values(project: Project, score: str, target_words: int | None) -> dict[str, dict[str, float]]:
    """The mean score of a system's summaries in each document set."""
    own = own_scores(project)
    place = (*SCORES, *own.names).index(score)
    gathered: defaultdict[str, defaultdict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in score_rows(project, target_words, own):
        if (value := (row.averaged_values + row.own)[place]) is not None:
            gathered[row.system][row.document_set].append(value)
    return {
        system: {name: fmean(values) for name, values in of_system.items()}
        for system, of_system in gathered.items()
    }


def _mean(
    of_system: Mapping[str, float], slice_of: Mapping[str, str], name: str, clusters: Mapping[str, str]
) -> SliceMean | None:
    here = {document: value for document, value in of_system.items() if slice_of[document] == name}
    return slice_mean(here, clusters) if len(here) >= FEWEST_IN_SLICE else None


def _estimates(
    project: Project,
    score: str,
    target_words: int | None,
    slice_of: Mapping[str, str],
    names: Sequence[str],
) -> dict[tuple[str, str], SliceMean]:
    """Estimate each system within each slice from the newest finished sample, which must exist.

    A group whose document sets are in several slices counts in none. Estimates are omitted if they have no interval, or
    if they come from fewer than `FEWEST_IN_SLICE` clusters (groups, and document sets without a group).
    """
    side = SCORE_SIDES[score]
    sample = next(each for each in samples(project, side) if each.is_complete)
    framed = framed_items(project, Sample.objects.get(public_id=sample.sample_id), side=side)
    of_document: defaultdict[str, set[str]] = defaultdict(set)
    for name, group in _set_rows(project).values_list("external_id", "group"):
        of_document[cluster_of(name, group)].add(slice_of[name])
    found: dict[tuple[str, str], SliceMean] = {}
    for name in names:
        inside = {document for document, slices in of_document.items() if slices == {name}}
        items = {
            system: [item for item in of_system if item.document in inside]
            for system, of_system in framed.items[target_words].items()
        }
        held = {system: of_system for system, of_system in items.items() if of_system}
        for system, made in estimate_systems_from_sample(held, covariates=framed.covariates).items():
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


def _cell(name: str, mean: SliceMean | None, difference: SliceDifference | None) -> SliceCell:
    if mean is None or difference is None:
        return SliceCell(name, mean)
    return SliceCell(name, mean, difference.difference, difference.is_worse())


def _weighted(means: Mapping[str, SliceMean | None], weights: Mapping[str, float]) -> SliceMean | None:
    """The weighted mean; None without weights, or if a slice with a weight has no mean."""
    used = [(weights[name], mean) for name, mean in means.items() if weights.get(name)]
    known = [(weight, mean) for weight, mean in used if mean is not None]
    return weighted_mean(known) if used and len(known) == len(used) else None


def _moved(systems: Sequence[SlicedSystem]) -> tuple[str, ...]:
    """The systems whose place by the weighted mean differs from their place in the given order."""
    weighted = [(row.weighted.mean, row.system) for row in systems if row.weighted is not None]
    before = [system for _, system in weighted]
    after = [system for _, system in sorted(weighted, key=lambda each: -each[0])]
    return tuple(now for was, now in zip(before, after, strict=True) if was != now)
