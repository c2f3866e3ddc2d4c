"""DUCView's files: a pyramid (.pyr), and a peer summary annotated with one (.pan).

Lenient where real files break their own rules: offsets that have drifted are repaired by searching for the
words, several contributors from one model summary are kept, the weight that DUCView writes before labels is
taken off. What was repaired is told. The expression that a file gives for finding its model summaries is never
run, since one can be made that runs for ever; they are found by their names, or by the dashes around them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from annotation.core.squeezed import Squeezed, Stretch, same_words
from annotation.core.text_faults import printable, text_fault
from annotation.imports.dataset import (
    ClaimData,
    Dataset,
    PeerData,
    ReferenceData,
    SetData,
    TargetWords,
    Text,
)
from annotation.imports.duc.duc_names import DucName, duc_name, reference_by, set_of
from annotation.imports.duc.xml_tree import Element, read_xml
from annotation.imports.fields import MAX_NAME_CHARACTERS
from annotation.imports.packages import PackedFile, UnfitFile
from annotation.imports.problems import Remarks
from annotation.models.pyramid import (
    NOT_IN_PYRAMID,
    ContentUnit,
    Contributor,
    PeerAnnotation,
    Pyramid,
    PyramidPart,
)

PYRAMID_ID = "pyramid"
"""The reference_id of the model summary that stands for all those that a pyramid was made of."""

MAX_MODELS = 200

_ROOT = re.compile(rb"<(peerAnnotation|pyramid)\b[^<]{0,200}>")
_WEIGHT = re.compile(r"\s*\(\d+\)\s*")
_RULE = re.compile(r"\s*[-=_*]{3,}\s*")
_NUMBER = re.compile(r"\d{1,9}")
_LAST_NAME = re.compile(r".*[._-]([^._-]+)")
PEER_EXAMPLE = "D0736-B.M.100.H.12.pan"


def pyramid_root(data: bytes) -> str:
    """Which of DUCView's files this is: "pyramid", "peerAnnotation", or "" for none."""
    found = _ROOT.search(data)
    return found[1].decode() if found else ""


@dataclass(frozen=True, slots=True)
class ModelText:
    """One model summary inside of a pyramid's text; `name` is its header, where that is a DUC name."""

    header: str
    name: DucName | None
    stretch: Stretch


@dataclass(frozen=True, slots=True)
class PyramidFile:
    """What a file holds: the pyramid with the text it was made of and, of a `.pan`, the peer's."""

    text: str
    models: tuple[ModelText, ...]
    pyramid: Pyramid
    peer_text: str | None = None
    annotation: PeerAnnotation | None = None
    repaired: tuple[str, ...] = ()


def read_ducview(data: bytes) -> PyramidFile:
    """The pyramid of a `.pyr` or `.pan`, and the annotation of a `.pan`.

    Raises UnfitFile for what cannot be read as one without guessing.
    """
    document = read_xml(data)
    root = document.root
    notes = _Notes(list(document.repaired))
    element = root if root.name == "pyramid" else root.first("pyramid")
    if root.name not in {"pyramid", "peerAnnotation"} or element is None:
        raise UnfitFile(
            f"begins with the element {printable(root.name)!r} and holds no pyramid of DUCView's.", root.line
        )
    text, models, pyramid = _pyramid(element, notes)
    if root is element:
        return PyramidFile(text, models, pyramid, repaired=notes.lines())
    annotated = root.first("annotation")
    if annotated is None:
        raise UnfitFile("is a peer annotation without an annotation in it.", root.line)
    peer_text, annotation = _annotation(annotated, pyramid, notes)
    return PyramidFile(text, models, pyramid, peer_text, annotation, notes.lines())


@dataclass(slots=True)
class _Notes:
    """What was repaired, each kind once, with how often."""

    once: list[str]
    counted: dict[str, int] = field(default_factory=dict)

    def count(self, remark: str) -> None:
        """`remark` holds {}, for the number."""
        self.counted[remark] = self.counted.get(remark, 0) + 1

    def lines(self) -> tuple[str, ...]:
        return (*self.once, *(remark.format(count) for remark, count in self.counted.items()))


def _text_of(element: Element) -> str:
    holder = element.first("text")
    if holder is None:
        raise UnfitFile(f"has no text in its {element.name}.", element.line)
    text = "\n".join(line.text for line in holder.all("line"))
    fault = text_fault(text)
    if fault:
        raise UnfitFile(f"has a text that {fault}", holder.line)
    return text


def _pyramid(element: Element, notes: _Notes) -> tuple[str, tuple[ModelText, ...], Pyramid]:
    text = _text_of(element)
    models = tuple(_models(text))
    header = element.first("startDocumentRegEx")
    if not models:
        notes.once.append(
            "does not tell its model summaries apart (no names such as D0736-B.M.100.H.G, no lines of dashes "
            "around a name): weights are numbers of contributors, and there is no modified score"
        )
    squeezed = Squeezed.of(text)
    units = tuple(_units(element, squeezed, models, notes))
    if not units:
        raise UnfitFile("has a pyramid without content units (scu).", element.line)
    return (
        text,
        models,
        Pyramid(
            models=tuple(model.header for model in models), units=units, header=header.text if header else ""
        ),
    )


def _models(text: str) -> Iterator[ModelText]:
    """The model summaries of a joined text: what stands below each header, up to the next."""
    lines = text.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    headers = [at for at, line in enumerate(lines) if duc_name(line)]
    if not headers:
        headers = [
            at
            for at in range(1, len(lines) - 1)
            if lines[at].strip()
            and not _RULE.fullmatch(lines[at])
            and _RULE.fullmatch(lines[at - 1])
            and _RULE.fullmatch(lines[at + 1])
        ]
    if len(headers) > MAX_MODELS:
        raise UnfitFile(f"has {len(headers):,} model summaries; at most {MAX_MODELS} are read.")
    ends = [at - 1 if at and _RULE.fullmatch(lines[at - 1]) else at for at in headers[1:]]
    for at, end in zip(headers, [*ends, len(lines)][: len(headers)], strict=True):
        first = at + 2 if at + 1 < len(lines) and _RULE.fullmatch(lines[at + 1]) else at + 1
        start = starts[min(first, len(lines))]
        body = text[start : max(start, starts[end] - 1)]
        lead = len(body) - len(body.lstrip())
        header = lines[at].strip()
        yield ModelText(
            header=header,
            name=duc_name(header),
            stretch=(start + lead, start + max(lead, len(body.rstrip()))),
        )


def _units(
    element: Element, text: Squeezed, models: Sequence[ModelText], notes: _Notes
) -> Iterator[ContentUnit]:
    seen: set[str] = set()
    for scu in element.all("scu"):
        uid = scu.attributes.get("uid", "").strip()
        if not uid or len(uid) > MAX_NAME_CHARACTERS:
            raise UnfitFile("has a content unit (scu) without a uid.", scu.line)
        if uid in seen:
            raise UnfitFile(f"has two content units with the uid {printable(uid)}.", scu.line)
        seen.add(uid)
        contributors = tuple(
            _with_model(contributor, models, notes) for contributor in _contributors(scu, text, notes)
        )
        label = _label(scu, notes) or (contributors[0].label if contributors else "")
        if not contributors or not label:
            notes.count("has {} content units without a contributor or a label, left out")
            continue
        unit = ContentUnit(uid, label, contributors, scu.attributes.get("comment", ""))
        if unit.weight < len(contributors):
            notes.count(
                "has {} content units with several contributors from one model summary: all are kept, and the "
                "weight counts that summary once"
            )
        yield unit


def _label(element: Element, notes: _Notes) -> str:
    label = " ".join(element.attributes.get("label", "").split())
    plain = label[found.end() :] if (found := _WEIGHT.match(label)) else label
    if plain != label and element.name == "scu":
        notes.count("has {} labels of content units with a weight before them, taken off")
    fault = text_fault(plain)
    if fault:
        raise UnfitFile(f"has a label that {fault}", element.line)
    return plain


def _contributors(element: Element, text: Squeezed, notes: _Notes) -> Iterator[Contributor]:
    for contributor in element.all("contributor"):
        yield Contributor(
            label=contributor.attributes.get("label", ""),
            comment=contributor.attributes.get("comment", ""),
            parts=tuple(_part(part, text, notes) for part in contributor.all("part")),
        )


def _part(element: Element, text: Squeezed, notes: _Notes) -> PyramidPart:
    """A part where it stands: where its offsets say, else where its words are found nearest to them."""
    label = element.attributes.get("label", "")
    given = [element.attributes.get(name, "").strip() for name in ("start", "end")]
    start, end = (int(value) if _NUMBER.fullmatch(value) else -1 for value in given)
    if text.has(label, start, end):
        return PyramidPart(label, start, end)
    found = text.find(label, max(start, 0))
    if found is None:
        notes.count("has {} parts whose words are not in the text: kept without a place")
        return PyramidPart(label)
    notes.count("has {} parts that do not stand where their offsets say: found by their words")
    return PyramidPart(label, *found)


def _with_model(contributor: Contributor, models: Sequence[ModelText], notes: _Notes) -> Contributor:
    numbers = [
        number
        for part in contributor.parts
        if part.start is not None
        for number, model in enumerate(models)
        if model.stretch[0] <= part.start < model.stretch[1]
    ]
    if len(set(numbers)) > 1:
        notes.count("has {} contributors with parts in several model summaries: they count for the first")
    return replace(contributor, model=numbers[0] if numbers else None)


def _annotation(element: Element, pyramid: Pyramid, notes: _Notes) -> tuple[str, PeerAnnotation]:
    text = _text_of(element)
    squeezed = Squeezed.of(text)
    known = {unit.uid for unit in pyramid.units}
    expressed: dict[str, tuple[Contributor, ...]] = {}
    unmatched: tuple[Contributor, ...] = ()
    told: set[str] = set()
    for scu in element.all("peerscu"):
        uid = scu.attributes.get("uid", "").strip()
        contributors = tuple(_contributors(scu, squeezed, notes))
        if uid in told:
            notes.count("names {} content units a second time: what both say counts")
        told.add(uid)
        if uid == NOT_IN_PYRAMID:
            unmatched += contributors
        elif uid not in known:
            notes.count("annotates {} content units that its pyramid does not have, left out")
        elif contributors:
            expressed[uid] = expressed.get(uid, ()) + contributors
    if missing := known - told:
        notes.once.append(
            f"does not name {len(missing)} of the pyramid's content units: taken as not expressed"
        )
    return text, PeerAnnotation(expressed=expressed, unmatched=unmatched)


@dataclass(slots=True)
class Pyramids:
    """Adds files to a data set; each set has one pyramid, whichever of its files it was read from."""

    dataset: Dataset
    remarks: Remarks
    known: dict[str, tuple[str, PyramidFile]] = field(default_factory=dict)

    def take(self, member: PackedFile) -> None:
        """Add a file; what was repaired becomes a remark. Raises UnfitFile."""
        read = read_ducview(member.data)
        for remark in read.repaired:
            self.remarks.add(member.name, remark)
        place = _place(member, read)
        set_name, target = place.set_name, place.target
        before = self.known.setdefault(set_name, (member.name, read))
        if not _is_same(before[1], read):
            raise UnfitFile(
                f"holds another pyramid of {set_name!r} than {before[0]}. A set has one: take the files of one "
                "annotation."
            )
        one = set_of(self.dataset, place)
        if before[1] is read:
            self._take_pyramid(member, one, read, target)
        if read.peer_text is not None and read.annotation is not None:
            self._take_peer(member, one, read.peer_text, read.annotation, place)

    def _take_pyramid(self, member: PackedFile, one: SetData, read: PyramidFile, target: TargetWords) -> None:
        """The pyramid as a model summary of its own, its units as claims, and the model summaries it is of."""
        for model in read.models:
            if model.name is not None:
                self._take_model(member, one, read, model, model.name)
        reference = one.references.setdefault(PYRAMID_ID, ReferenceData(author="", is_exact=True))
        reference.metadata = read.pyramid.as_metadata()
        reference.texts[target] = Text(read.text, None, file=member.name, is_loose=True)
        one.claims_of = (PYRAMID_ID, target)
        one.origins[""] = member.name
        one.claims = tuple(
            ClaimData(text=unit.label, weight=float(unit.weight), verdicts={}) for unit in read.pyramid.units
        )

    def _take_model(
        self, member: PackedFile, one: SetData, read: PyramidFile, model: ModelText, name: DucName
    ) -> None:
        start, end = model.stretch
        text = Text(read.text[start:end], None, file=member.name, is_loose=True)
        before = reference_by(one, name).texts.setdefault(name.target, text)
        if not same_words(before.text, text.text):
            raise UnfitFile(
                f"holds another model summary by {name.summariser!r} than {before.file}. Which is right?"
            )

    def _take_peer(
        self, member: PackedFile, one: SetData, text: str, annotation: PeerAnnotation, place: DucName
    ) -> None:
        system = place.summariser
        if not system:
            raise UnfitFile(
                "has a name that does not say whose summary it annotates. Call it like "
                f"{PEER_EXAMPLE}: set.M.size.selector.system.pan."
            )
        key = (system, place.target)
        given = PeerData(
            Text(text, None, file=member.name, is_loose=True), annotation.as_metadata(), names_references=True
        )
        before = one.peers.setdefault(key, given)
        if before is not given:
            if system in one.claims[0].verdicts:
                raise UnfitFile(f"annotates the summary by {system!r} a second time.")
            if not same_words(before.text.text, text):
                raise UnfitFile(f"holds another summary by {system!r} than {before.text.file}.")
            one.peers[key] = replace(before, metadata={**before.metadata, **given.metadata})
        if not text.strip():
            self.remarks.add(member.name, "holds an empty summary")
        one.pairs[(*key, PYRAMID_ID)] = None
        one.origins[system] = member.name
        pyramid = self.known[place.set_name][1].pyramid
        here, there = Squeezed.of(text), Squeezed.of(before.text.text)
        one.claims = tuple(
            _said(claim, system, annotation.expressed.get(unit.uid), here, there)
            for claim, unit in zip(one.claims, pyramid.units, strict=True)
        )
        if system.isalpha() and len(system) <= 2:
            self.dataset.people.add(system)


def _is_same(one: PyramidFile, other: PyramidFile) -> bool:
    """Whether two files hold the same content units of the same texts, in whatever order."""
    units = ({unit.uid: (unit.label, unit.weight) for unit in file.pyramid.units} for file in (one, other))
    return next(units) == next(units) and same_words(one.text, other.text)


def _said(
    claim: ClaimData,
    system: str,
    contributors: tuple[Contributor, ...] | None,
    here: Squeezed,
    there: Squeezed,
) -> ClaimData:
    """The claim with what the annotation of one system's summary says of it."""
    stretches = [
        there_too
        for contributor in contributors or ()
        for part in contributor.parts
        if part.start is not None and part.end is not None
        if (there_too := here.moved((part.start, part.end), there)) is not None
    ]
    return claim._replace(
        verdicts={**claim.verdicts, system: "yes" if contributors else "no"},
        places={**claim.places, system: tuple(stretches)},
    )


def _place(member: PackedFile, read: PyramidFile) -> DucName:
    """What the headers inside and the name outside say; the headers of the model summaries are surer.

    The summariser is that of a `.pan`; a pyramid has none.
    """
    named = duc_name(member.stem)
    inside = next((model.name for model in read.models if model.name is not None), None)
    best = inside or named
    set_name = best.set_name if best else member.stem.partition(".")[0]
    if best is None and read.annotation is not None:
        set_name = re.split(r"[._]", member.stem)[0]
    system = ""
    if read.annotation is not None:
        last = _LAST_NAME.fullmatch(member.stem.removeprefix(set_name))
        system = named.summariser if named else (last[1] if last else "")
    return DucName(
        set_name=set_name[:MAX_NAME_CHARACTERS],
        summary_type="M",
        target=best.target if best else None,
        selector=best.selector if best else "",
        summariser=system[:MAX_NAME_CHARACTERS],
    )
