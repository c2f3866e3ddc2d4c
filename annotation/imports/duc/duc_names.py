"""Names as DUC and TAC gave them, set.type.size.selector.summariser[.document], and as the project has them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from annotation.imports.dataset import Dataset, ReferenceData, SetData
from annotation.models import DocumentSet, Project

_NAME = re.compile(
    r"(?P<set>[^.\s]{1,100})\.(?P<type>[MPmp])\.(?P<size>\d{1,6})\.(?P<selector>[^.\s]{1,20})"
    r"\.(?P<summariser>[^.\s]{1,100})(?:\.(?P<document>[^\s/]{1,100}))?"
)

EXAMPLE = "D061.M.200.J.19.html or D061.P.100.J.27.AP880911-0016.html"


@dataclass(frozen=True, slots=True)
class DucName:
    """What a name says. Without a document the summary is one of the whole set."""

    set_name: str
    summary_type: str
    target: int | None
    selector: str
    summariser: str
    document: str = ""

    @property
    def is_person(self) -> bool:
        """Letters name people, numbers systems."""
        return self.summariser.isalpha()

    @property
    def document_id(self) -> str:
        """What the project calls the set: a single document is a set of its own."""
        return self.document or self.set_name


def duc_name(stem: str) -> DucName | None:
    """The parts of a name without its file ending; None for a name of another make."""
    found = _NAME.fullmatch(stem.strip())
    if found is None:
        return None
    kind, document = found["type"].upper(), found["document"] or ""
    if (kind == "P") is not bool(document):
        return None
    return DucName(
        set_name=found["set"],
        summary_type=kind,
        target=int(found["size"]) or None,
        selector=found["selector"],
        summariser=found["summariser"],
        document=document,
    )


def set_of(dataset: Dataset, name: DucName) -> SetData:
    """The set that a summary of that name belongs to, made where it is the first one."""
    one = dataset.sets.get(name.document_id)
    if one is None:
        one = dataset.sets[name.document_id] = SetData(
            line=None,
            documents=(),
            group=name.set_name if name.document else "",
            language="",
            metadata={"summary_type": name.summary_type, "selector": name.selector},
            is_partial=True,
            other_names=other_names(name.set_name, name.document, name.selector),
        )
    return one


def reference_by(one: SetData, name: DucName) -> ReferenceData:
    """The set's reference by the summariser of that name, made where it is the first one."""
    author = name.summariser if name.is_person else ""
    return one.references.setdefault(name.summariser, ReferenceData(author=author, is_exact=True))


def other_names(set_name: str, document: str, selector: str) -> tuple[str, ...]:
    """What else a project may call the set: DUC's folders carry the selector's letter, as in d061j."""
    if document:
        return (f"{set_name}.{document}",)
    return (f"{set_name}{selector}",) if selector else ()


def named_as_in_project(project: Project, dataset: Dataset, remarks: list[str]) -> Mapping[str, SetData]:
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
