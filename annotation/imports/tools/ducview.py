"""Read DUCView's files: a pyramid (.pyr), and a peer summary annotated with one (.pan).

Wrong offsets are corrected by searching for the words. A file may contain a regular expression for the headers of its
model summaries. It is not executed, because it could run forever; headers are recognised as DUC names, or as names
between lines of dashes.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from xml.etree import ElementTree

from annotation.core.text_faults import printable, text_fault
from annotation.imports.tools.names import DucName, UnfitFile, duc_name

_ROOT = re.compile(r"<(peerAnnotation|pyramid)\b[^<]{0,200}>")
_DECLARATION = re.compile(r"\s*<\?xml\b[^?]{0,200}\?>")
_BARE_AMPERSAND = re.compile(r"&(?!(?:amp|lt|gt|quot|apos|#\d{1,7}|#x[0-9a-fA-F]{1,6});)")
_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")
_WEIGHT = re.compile(r"\(\d+\) *")
_RULED = re.compile(r"(?m)^ ?[-=_*]{3,} ?\n[^\n]*\S[^\n]*\n ?[-=_*]{3,} ?$")


@dataclass(frozen=True, slots=True)
class ContentUnit:
    """A summary content unit (SCU): a statement; its weight is the number of model summaries that express it."""

    uid: str
    label: str
    weight: int


@dataclass(frozen=True, slots=True)
class PyramidFile:
    """A pyramid: the joined text of its model summaries, and its content units.

    `name` is the first DUC name among the headers. If the file is a `.pan`, it also has the peer's text and the uids of
    the units that the peer expresses.
    """

    text: str
    name: DucName | None
    units: tuple[ContentUnit, ...]
    peer_text: str | None = None
    expressed: frozenset[str] = frozenset()


def ducview_root(head: str) -> str:
    """Return the kind of a DUCView file, "pyramid" or "peerAnnotation"; empty if it is no DUCView file."""
    found = _ROOT.search(head) if head.lstrip().startswith("<") else None
    return found[1] if found else ""


def read_ducview(content: str) -> PyramidFile:
    """Read the pyramid of a `.pyr` or `.pan`, and the peer annotation of a `.pan`. Raises UnfitFile."""
    root = _xml(content)
    pyramid = root if root.tag == "pyramid" else root.find("pyramid")
    if root.tag not in {"pyramid", "peerAnnotation"} or pyramid is None:
        raise UnfitFile(f"begins with the element {printable(root.tag)!r} and holds no pyramid of DUCView's.")
    text = _text_of(pyramid)
    names = [name for line in text.split("\n") if (name := duc_name(line))]
    units = tuple(_units(pyramid, text))
    if not units:
        raise UnfitFile("has a pyramid without content units (scu).")
    name = names[0] if names else None
    if root is pyramid:
        return PyramidFile(text, name, units)
    annotation = root.find("annotation")
    if annotation is None:
        raise UnfitFile("is a peer annotation without an annotation in it.")
    peer = _text_of(annotation)
    found = (scu.get("uid", "").strip() for scu in annotation.iterfind("peerscu[contributor]"))
    return PyramidFile(text, name, units, peer, frozenset(found))


def _xml(content: str) -> ElementTree.Element:
    if "<!ENTITY" in content:
        told = "declares entities, which could swell or lead elsewhere. Write the characters themselves."
        raise UnfitFile(told)
    # Remove the declared encoding, which is wrong because the content is decoded already.
    plain = _CONTROLS.sub(" ", _DECLARATION.sub("", content, count=1))
    try:
        return ElementTree.fromstring(_BARE_AMPERSAND.sub("&amp;", plain))  # noqa: S314 - no entities, a bounded size
    except ElementTree.ParseError as error:
        raise UnfitFile(f"is not XML that can be read: {error}.", error.position[0]) from error


def _text_of(element: ElementTree.Element) -> str:
    holder = element.find("text")
    if holder is None:
        raise UnfitFile(f"has no text in its {element.tag}.")
    text = "\n".join(line.text or "" for line in holder.iterfind("line"))
    if fault := text_fault(text):
        raise UnfitFile(f"has a text that {fault}")
    return text


def _units(pyramid: ElementTree.Element, text: str) -> Iterator[ContentUnit]:
    starts = _starts_of_models(text)
    positions = [at for at, character in enumerate(text) if not character.isspace()]
    squeezed = "".join(text.split())
    seen: set[str] = set()
    for scu in pyramid.iterfind("scu"):
        uid = scu.get("uid", "").strip()
        if not uid or uid in seen:
            raise UnfitFile(
                f"has two content units with the uid {uid!r}." if uid else "has an scu without a uid."
            )
        seen.add(uid)
        label = _WEIGHT.sub("", " ".join(scu.get("label", "").split()), count=1)
        if fault := text_fault(label):
            raise UnfitFile(f"has a label that {fault}")
        contributors = [
            [at for part in one.iterfind("part") if (at := _place(part, squeezed, positions)) is not None]
            for one in scu.iterfind("contributor")
        ]
        if not label or not contributors:
            continue
        # Count each model summary once; a contributor whose place is unknown counts as one more.
        models = {
            bisect_right(starts, places[0]) if starts and places else -number
            for number, places in enumerate(contributors, start=1)
        }
        yield ContentUnit(uid, label, len(models))


def _starts_of_models(text: str) -> list[int]:
    """Find where the model summaries start: at lines that are DUC names, or at names between lines of dashes."""
    starts: list[int] = []
    at = 0
    for line in text.split("\n"):
        if duc_name(line):
            starts.append(at)
        at += len(line) + 1
    return starts or [found.start() for found in _RULED.finditer(text)]


def _place(part: ElementTree.Element, squeezed: str, positions: Sequence[int]) -> int | None:
    """Find the offset of a part: the occurrence of its words nearest to its stated offset. None if there is none.

    `squeezed` is the text without white space, because white space varies between formats. `positions` are the offsets
    of its characters in the text.
    """
    wanted, start = "".join(part.get("label", "").split()), part.get("start", "")
    near = bisect_left(positions, int(start)) if start.isdecimal() and len(start) < 10 else 0
    found = (squeezed.find(wanted, near), squeezed.rfind(wanted, 0, near + len(wanted)))
    there = [at for at in found if at >= 0] if wanted else []
    return positions[min(there, key=lambda at: abs(at - near))] if there else None
