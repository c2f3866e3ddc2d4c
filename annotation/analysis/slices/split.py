"""The split of document sets by a metadata key or their group.

Every page, list and export that shows slices takes them from here, so a slice has the same document sets everywhere.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from annotation.core.refusals import Invalid
from annotation.models import DocumentSet
from annotation.models.document import cluster_of
from evaluation.statistics import FEWEST_IN_SLICE

if TYPE_CHECKING:
    from annotation.models import Project

GROUP = "group"
MOST_VALUES = 12
"""The number of values of a key that are shown; rarer ones are together in `OTHER`."""
OTHER, NO_VALUE = "other", "no value"
PARTS = 4
"""The number of parts into which numbers are cut, at their quantiles."""


@dataclass(frozen=True, slots=True)
class Split:
    """The slice and the cluster of every document set, by its name.

    If the key is the group, every document set is its own cluster: otherwise a slice had a single cluster.
    """

    key: str
    slices: Mapping[str, str]
    clusters: Mapping[str, str]

    @property
    def names(self) -> list[str]:
        """Name the slices: largest first, `OTHER` and `NO_VALUE` last."""
        sizes = Counter(self.slices.values())
        return sorted(sizes, key=lambda name: (name in (OTHER, NO_VALUE), -sizes[name], name))

    def label(self, name: str) -> str:
        """Name a slice with its key: "topic: law"."""
        return f"{self.key}: {name}"


def splits(project: Project) -> dict[str, Split]:
    """Split the document sets by each key that splits them: `group`, and metadata keys with numbers or repeated texts.

    The keys with most values that are large enough to compare come first. One query.
    """
    rows = list(
        DocumentSet.objects.filter(project=project)
        .order_by("pk")
        .values_list("external_id", "group", "metadata")
    )
    raw: defaultdict[str, dict[str, Any]] = defaultdict(dict)
    for name, group, metadata in rows:
        for key, value in (*metadata.items(), (GROUP, group)):
            if isinstance(value, str | int | float) and value != "":
                raw[key][name] = value
    counts = {key: Counter(values.values()) for key, values in raw.items()}
    keys = [
        key
        for key, of_key in counts.items()
        if len(of_key) > 1 and (len(of_key) < of_key.total() or _is_numeric(of_key))
    ]
    keys.sort(key=lambda key: (-sum(size >= FEWEST_IN_SLICE for size in counts[key].values()), key))
    found = {}
    for key in keys:
        named = _named(raw[key])
        found[key] = Split(
            key,
            {name: named.get(name, NO_VALUE) for name, _, _ in rows},
            {name: cluster_of(name, "" if key == GROUP else group) for name, group, _ in rows},
        )
    return found


def chosen_split(found: Mapping[str, Split], key: str) -> Split | None:
    """Return the split by a key, None for "". Raises Invalid (field `key`) for a key that splits nothing."""
    if key and key not in found:
        raise Invalid(f"No two document sets differ in {key!r}.", field="key")
    return found.get(key)


def _is_numeric(counts: Mapping[Any, int]) -> bool:
    return all(isinstance(value, int | float) and not isinstance(value, bool) for value in counts)


def _named(known: Mapping[str, Any]) -> dict[str, str]:
    """The slice of document sets: their value, its range of numbers, or `OTHER` for rare values."""
    counts = Counter(known.values())
    if len(counts) <= MOST_VALUES:
        return {name: _word(value) for name, value in known.items()}
    if _is_numeric(counts):
        return _ranges({name: float(value) for name, value in known.items()})
    kept = dict(counts.most_common(MOST_VALUES - 1))
    return {name: _word(value) if value in kept else OTHER for name, value in known.items()}


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
