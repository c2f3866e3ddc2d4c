"""Read DUCView's files: pyramids (.pyr) and annotated peer summaries (.pan).

A file may contain a regular expression for the headers of its model summaries. It is not executed.
"""

from __future__ import annotations

import re
from typing import NamedTuple
from xml.etree import ElementTree

from annotation.core.text_faults import printable
from annotation.imports.problems import unreadable
from annotation.imports.tools.names import DucName, duc_name

_ROOT = re.compile(r"<(peerAnnotation|pyramid)\b[^<]{0,200}>")
_BARE_AMPERSAND = re.compile(r"&(?!(?:amp|lt|gt|quot|apos|#\d{1,7}|#x[0-9a-fA-F]{1,6});)")
_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")
_WEIGHT = re.compile(r"\(\d+\) *")


class PyramidFile(NamedTuple):
    """A pyramid: its text, the first DUC name among the lines, and label and weight of each content unit by uid.

    A `.pan` also has the peer's text and the uids of the units that the peer expresses.
    """

    text: str
    name: DucName | None
    units: dict[str, tuple[str, int]]
    peer_text: str | None = None
    expressed: frozenset[str] = frozenset()


def is_ducview(head: str) -> bool:
    """Return True if a file with this beginning is a pyramid or a peer annotation."""
    return head.lstrip().startswith("<") and bool(_ROOT.search(head))


def read_ducview(content: str) -> PyramidFile:
    """Read a `.pyr` or `.pan`. Raises ImportRefused for content that cannot be read."""
    if "<!ENTITY" in content:
        raise unreadable("declares entities, which could swell. Write the characters themselves.")
    plain = _CONTROLS.sub(" ", content)
    try:
        root = ElementTree.fromstring(_BARE_AMPERSAND.sub("&amp;", plain))  # noqa: S314 - no entities, a bounded size
    except ElementTree.ParseError as error:
        raise unreadable(f"is not XML that can be read: {error}.", line=error.position[0]) from error
    pyramid = root if root.tag == "pyramid" else _part(root, "pyramid")
    text, units = _text_of(pyramid), _units(pyramid)
    name = next(filter(None, map(duc_name, text.split("\n"))), None)
    if root is pyramid:
        return PyramidFile(text, name, units)
    annotation = _part(root, "annotation")
    found = (scu.get("uid", "").strip() for scu in annotation.iterfind("peerscu[contributor]"))
    return PyramidFile(text, name, units, _text_of(annotation), frozenset(found))


def _part(element: ElementTree.Element, tag: str) -> ElementTree.Element:
    if (found := element.find(tag)) is None:
        raise unreadable(f"has an element {printable(element.tag)!r} without {tag!r}.")
    return found


def _text_of(element: ElementTree.Element) -> str:
    return "\n".join(line.text or "" for line in _part(element, "text").iterfind("line"))


def _units(pyramid: ElementTree.Element) -> dict[str, tuple[str, int]]:
    units: dict[str, tuple[str, int]] = {}
    for scu in pyramid.iterfind("scu"):
        uid = scu.get("uid", "").strip()
        if not uid or uid in units:
            raise unreadable(f"has two scu with the uid {uid!r}." if uid else "has an scu without a uid.")
        label = _WEIGHT.sub("", " ".join(scu.get("label", "").split()), count=1)
        units[uid] = label, len(scu.findall("contributor"))
    made = {uid: unit for uid, unit in units.items() if all(unit)}
    if not made:
        raise unreadable("has a pyramid without content units (scu).")
    return made
