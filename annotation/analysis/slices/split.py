"""The split of document sets by a metadata key or their group."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
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
"""With more values, numbers are cut into ranges, and rarer texts are together in `OTHER`."""
OTHER, NO_VALUE = "other", "no value"
PARTS = 4
"""The largest number of parts into which numbers are cut, at their quantiles."""


@dataclass(frozen=True)
class Split:
    """The split of the document sets by a key. Document sets have the names of the imported file.

    `values` has the value of each document set that has one. `groups` has the group of every document set, "" if a
    document set has none.
    """

    key: str
    values: Mapping[str, Any]
    groups: Mapping[str, str]

    @cached_property
    def slices(self) -> dict[str, str]:
        """Return the slice of every document set."""
        named = _named(self.values)
        # A set that is imported after the split was loaded has no value yet.
        return defaultdict(lambda: NO_VALUE, {name: named.get(name, NO_VALUE) for name in self.groups})

    @cached_property
    def names(self) -> list[str]:
        """Return the names of the slices: numbers in their order, texts with the largest slice first, `OTHER` and
        `NO_VALUE` last.
        """
        sizes = Counter(self.slices.values())
        lowest: dict[str, float] = {}
        for name in sorted(self.values, key=self.values.__getitem__) if _is_numeric(self.values) else ():
            lowest.setdefault(self.slices[name], self.values[name])
        last = (OTHER, NO_VALUE)
        return sorted(sizes, key=lambda name: (name in last, lowest.get(name, 0.0), -sizes[name], name))

    @cached_property
    def clusters(self) -> dict[str, str]:
        """Return the cluster of every document set."""
        # If the key is the group, each document set is its own cluster: otherwise a slice would be a single cluster.
        is_own = self.key == GROUP
        return {name: cluster_of(name, "" if is_own else group) for name, group in self.groups.items()}

    def label(self, name: str) -> str:
        """Name a slice with its key: "topic: law"."""
        return f"{self.key}: {name}"


def splits(project: Project) -> dict[str, Split]:
    """Split the document sets by `group` and by each metadata key, if it has several values, repeated or all numbers.

    Keys with more values in at least FEWEST_IN_SLICE document sets come first, then keys with fewer values.
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
        if len(of_key) > 1 and (len(of_key) < of_key.total() or _is_numeric(raw[key]))
    ]
    keys.sort(key=lambda k: (-sum(n >= FEWEST_IN_SLICE for n in counts[k].values()), len(counts[k]), k))
    groups = {name: group for name, group, _ in rows}
    return {key: Split(key, raw[key], groups) for key in keys}


def chosen_split(found: Mapping[str, Split], key: str) -> Split | None:
    """Return the split by a key, None for "". Raises Invalid (field `key`) for a key that splits nothing."""
    if key and key not in found:
        raise Invalid(f"No two document sets differ in {key!r}.", field="key")
    return found.get(key)


def _is_numeric(values: Mapping[str, Any]) -> bool:
    return all(type(value) in (int, float) for value in values.values())


def _named(known: Mapping[str, Any]) -> dict[str, str]:
    counts = Counter(known.values())
    if len(counts) <= MOST_VALUES:
        return {name: _word(value) for name, value in known.items()}
    if _is_numeric(known):
        return _ranges({name: float(value) for name, value in known.items()})
    kept = dict(counts.most_common(MOST_VALUES - 1))
    return {name: _word(value) if value in kept else OTHER for name, value in known.items()}


def _ranges(numbers: Mapping[str, float]) -> dict[str, str]:
    values = np.array(list(numbers.values()))
    places = np.searchsorted(np.unique(np.quantile(values, np.arange(PARTS) / PARTS)), values, side="right")
    inside = {place: values[places == place] for place in np.unique(places)}
    words = {place: f"{of.min():g} to {of.max():g}" for place, of in inside.items()}
    return {name: words[place] for name, place in zip(numbers, places, strict=True)}


def _word(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)
