"""Read DUCView's files: pyramids (.pyr) and annotated peer summaries (.pan).

A file may contain a regular expression for the headers of its model summaries. It is not executed.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import NamedTuple
from xml.etree import ElementTree

from annotation.core.text_faults import printable
from annotation.imports.problems import unreadable
from annotation.imports.tools.names import DucName, duc_name

_ROOT = re.compile(r"<(peerAnnotation|pyramid)\b[^<]{0,200}>")
_DECLARATION = re.compile(r"\s*<\?xml\b[^?]{0,200}\?>")
_BARE_AMPERSAND = re.compile(r"&(?!(?:amp|lt|gt|quot|apos|#\d{1,7}|#x[0-9a-fA-F]{1,6});)")
_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")
_WEIGHT = re.compile(r"\(\d+\) *")
_RULED = re.compile(r"(?m)^ ?[-=_*]{3,} ?\n[^\n]*\S[^\n]*\n ?[-=_*]{3,} ?$")


class PyramidFile(NamedTuple):
    """A pyramid: its text, the first DUC name among the lines, and label and weight of each content unit by uid.

    A `.pan` also has the peer's text and the uids of the units that the peer expresses.
    """

    text: str
    name: DucName | None
    units: dict[str, tuple[str, int]]
    peer_text: str | None = None
    expressed: frozenset[str] = frozenset()


def ducview_root(head: str) -> str:
    """Return the kind of a DUCView file, "pyramid" or "peerAnnotation"; empty if it is no DUCView file."""
    found = _ROOT.search(head) if head.lstrip().startswith("<") else None
    return found[1] if found else ""


def read_ducview(content: str) -> PyramidFile:
    """Read a `.pyr` or `.pan`. Raises ImportRefused for content that cannot be read."""
    if "<!ENTITY" in content:
        raise unreadable("declares entities, which could swell. Write the characters themselves.")
    # Remove the declared encoding, because the content is decoded already.
    plain = _CONTROLS.sub(" ", _DECLARATION.sub("", content, count=1))
    try:
        root = ElementTree.fromstring(_BARE_AMPERSAND.sub("&amp;", plain))  # noqa: S314 - no entities, a bounded size
    except ElementTree.ParseError as error:
        raise unreadable(f"is not XML that can be read: {error}.", line=error.position[0]) from error
    pyramid = root if root.tag == "pyramid" else root.find("pyramid")
    if root.tag not in {"pyramid", "peerAnnotation"} or pyramid is None:
        raise unreadable(f"begins with the element {printable(root.tag)!r} and holds no pyramid.")
    text = _text_of(pyramid)
    name = next(filter(None, map(duc_name, text.split("\n"))), None)
    read = PyramidFile(text, name, _units(pyramid, text))
    if not read.units:
        raise unreadable("has a pyramid without content units (scu).")
    if root is pyramid:
        return read
    if (annotation := root.find("annotation")) is None:
        raise unreadable("is a peer annotation without an annotation in it.")
    found = (scu.get("uid", "").strip() for scu in annotation.iterfind("peerscu[contributor]"))
    return read._replace(peer_text=_text_of(annotation), expressed=frozenset(found))


def _text_of(element: ElementTree.Element) -> str:
    if (holder := element.find("text")) is None:
        raise unreadable(f"has no text in its {element.tag}.")
    return "\n".join(line.text or "" for line in holder.iterfind("line"))


def _units(pyramid: ElementTree.Element, text: str) -> dict[str, tuple[str, int]]:
    # Model summaries start at lines that are DUC names, or at names between ruled lines.
    named = [line.start() for line in re.finditer("(?m)^.*$", text) if duc_name(line[0])]
    starts = named or [found.start() for found in _RULED.finditer(text)]
    positions = [at for at, character in enumerate(text) if not character.isspace()]
    squeezed = "".join(text.split())
    units: dict[str, tuple[str, int]] = {}
    for scu in pyramid.iterfind("scu"):
        uid = scu.get("uid", "").strip()
        if not uid or uid in units:
            raise unreadable(f"has two scu with the uid {uid!r}." if uid else "has an scu without a uid.")
        # Count each model summary once; a contributor without a known place counts as one more.
        models = set()
        for number, one in enumerate(scu.iterfind("contributor"), start=1):
            places = [_place(part, squeezed, positions) for part in one.iterfind("part")]
            at = next((place for place in places if place is not None), None)
            models.add(bisect_right(starts, at) if starts and at is not None else -number)
        units[uid] = _WEIGHT.sub("", " ".join(scu.get("label", "").split()), count=1), len(models)
    return {uid: unit for uid, unit in units.items() if all(unit)}


def _place(part: ElementTree.Element, squeezed: str, positions: Sequence[int]) -> int | None:
    """`squeezed` is the text without white space. `positions` are the offsets of its characters in the text."""
    wanted, start = "".join(part.get("label", "").split()), part.get("start", "")
    near = bisect_left(positions, int(start)) if start.isdecimal() and len(start) < 10 else 0
    found = (squeezed.find(wanted, near), squeezed.rfind(wanted, 0, near + len(wanted)))
    there = [at for at in found if at >= 0] if wanted else []
    return positions[min(there, key=lambda at: abs(at - near))] if there else None
