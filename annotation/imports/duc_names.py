"""Names as DUC and TAC gave them: set.type.size.selector.summariser[.document]."""

from __future__ import annotations

import re
from dataclasses import dataclass

from annotation.imports.dataset import Dataset, SetData

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


def other_names(set_name: str, document: str, selector: str) -> tuple[str, ...]:
    """What else a project may call the set: DUC's folders carry the selector's letter, as in d061j."""
    if document:
        return (f"{set_name}.{document}",)
    return (f"{set_name}{selector}",) if selector else ()
