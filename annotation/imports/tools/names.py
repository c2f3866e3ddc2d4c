"""Names in DUC and TAC: set.type.size.selector.summariser[.document]."""

from __future__ import annotations

import re
from typing import NamedTuple

_NAME = re.compile(
    r"(?P<set>[^.\s]{1,100})\.(?P<type>[MPmp])\.(?P<size>\d{1,6})\.(?P<selector>[^.\s]{1,20})"
    r"\.(?P<summariser>[^.\s]{1,100})(?:\.(?P<document>[^\s/]{1,100}))?"
)


class DucName(NamedTuple):
    """The parts of a DUC file name. `document` is empty if the summary is about the whole set."""

    set_name: str
    target: int | None
    summariser: str
    document: str = ""

    @property
    def document_id(self) -> str:
        """The id of the document set; a single document forms its own set."""
        return self.document or self.set_name


def duc_name(stem: str) -> DucName | None:
    """Split a DUC file name, given without its extension, into its parts; None if it is not a DUC name."""
    found = _NAME.fullmatch(stem.strip())
    if found is None or (found["type"] in "Pp") is not bool(found["document"]):
        return None
    return DucName(found["set"], int(found["size"]) or None, found["summariser"], found["document"] or "")
