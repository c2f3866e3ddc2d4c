"""One set under several names: D061 in a file, d061j in the project."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from annotation.imports.dataset import Dataset, SetData
from annotation.models import DocumentSet, Project


def named_as_in_project(project: Project, dataset: Dataset, remarks: list[str]) -> dict[str, SetData]:
    """The sets by the names that the project knows them by; new ones keep theirs.

    Only sets of formats that have names of their own making are looked for under other ones, and only where
    exactly one set of the project fits. What was found so becomes a remark.
    """
    if project._state.adding or not any(one.is_partial for one in dataset.sets.values()):
        return dataset.sets
    known = SetNames(DocumentSet.objects.filter(project=project).values_list("external_id", flat=True))
    sets: dict[str, SetData] = {}
    for name, one in dataset.sets.items():
        found = known.find(name, one.other_names) if one.is_partial else None
        if found is None or found in sets or found in dataset.sets:
            sets[name] = one
            continue
        sets[found] = one
        remarks.append(f"The set {name!r} is {found!r} in the project.")
    return sets


class SetNames:
    """Names of sets, found whatever their case; full stops, which some tables leave out, do not matter either."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = set(names)
        self._folded: Mapping[str, list[str]] = defaultdict(list)
        for name in self._names:
            self._folded[_folded(name)].append(name)

    def find(self, name: str, other_names: Iterable[str] = ()) -> str | None:
        """The name as it is, else written otherwise, else one of the others; None where none or several fit."""
        if name in self._names:
            return name
        for wanted in (name, *other_names):
            if wanted in self._names:
                return wanted
            found = self._folded.get(_folded(wanted), [])
            if len(found) == 1:
                return found[0]
        return None


def _folded(name: str) -> str:
    return name.casefold().replace(".", "")
