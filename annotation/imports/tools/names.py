"""Names in DUC and TAC: set.type.size.selector.summariser[.document]."""

from __future__ import annotations

import re
from dataclasses import dataclass

_NAME = re.compile(
    r"(?P<set>[^.\s]{1,100})\.(?P<type>[MPmp])\.(?P<size>\d{1,6})\.(?P<selector>[^.\s]{1,20})"
    r"\.(?P<summariser>[^.\s]{1,100})(?:\.(?P<document>[^\s/]{1,100}))?"
)


class UnfitFile(ValueError):
    """A file that cannot be read; `line` is None for the whole file."""

    def __init__(self, reason: str, line: int | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line


@dataclass(frozen=True, slots=True)
class DucName:
    """The parts of a DUC file name. `document` is empty if the summary is about the whole set."""

    set_name: str
    target: int | None
    summariser: str
    document: str = ""

    @property
    def is_person(self) -> bool:
        """True if the summariser is a letter, which identifies a person; a number identifies a system."""
        return self.summariser.isalpha()

    @property
    def document_id(self) -> str:
        """The id of the document set; a single document forms its own set."""
        return self.document or self.set_name


def duc_name(stem: str) -> DucName | None:
    """Split a DUC file name, given without its extension, into its parts; None if it is not a DUC name."""
    found = _NAME.fullmatch(stem.strip())
    if found is None:
        return None
    document = found["document"] or ""
    if (found["type"].upper() == "P") is not bool(document):
        return None
    return DucName(found["set"], int(found["size"]) or None, found["summariser"], document)
