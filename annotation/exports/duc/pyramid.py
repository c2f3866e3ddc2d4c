"""Pyramids as DUCView's files: a `.pyr` for each, and a `.pan` for each peer summary compared with it, in a zip."""

from __future__ import annotations

import html
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, BinaryIO

from annotation.core.refusals import Invalid
from annotation.core.squeezed import Squeezed, Stretch
from annotation.exports.duc.duc_files import LeftOut, OwnFormat, Written, write_zip
from annotation.exports.duc.nist_names import NistNames
from annotation.models import Check, Claim, Comparison, Label, Summary, Unit, Verdict
from annotation.models.pyramid import (
    NOT_IN_PYRAMID,
    PYRAMID,
    Contributor,
    PeerAnnotation,
    Pyramid,
    PyramidPart,
    peer_annotation_of,
    pyramid_of,
)

if TYPE_CHECKING:
    from annotation.core.tables.pseudonyms import People
    from annotation.exports.progress import ExportProgress
    from annotation.models import Project

_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0d\x0e-\x1f\ufffe\uffff\ud800-\udfff]")

_PARTS = """ <!ELEMENT pyramid (startDocumentRegEx?,text,scu*)>
 <!ELEMENT startDocumentRegEx (#PCDATA)>
 <!ELEMENT text (line*)>
 <!ELEMENT line (#PCDATA)>
 <!ELEMENT scu (contributor)+>
 <!ATTLIST scu uid CDATA #REQUIRED label CDATA #REQUIRED comment CDATA #IMPLIED>
 <!ELEMENT contributor (part)+>
 <!ATTLIST contributor label CDATA #REQUIRED comment CDATA #IMPLIED>
 <!ELEMENT part EMPTY>
 <!ATTLIST part label CDATA #REQUIRED start CDATA #REQUIRED end CDATA #REQUIRED>
"""
_OF_PEER = """ <!ELEMENT peerAnnotation (pyramid,annotation)>
 <!ELEMENT annotation (text,peerscu+)>
 <!ELEMENT peerscu (contributor)*>
 <!ATTLIST peerscu uid CDATA #REQUIRED label CDATA #REQUIRED comment CDATA #IMPLIED>
"""


def require_pyramids(project: Project) -> None:
    """Raises Invalid (code `no_pyramids`) for a project in which no model summary stands for a pyramid."""
    models = Summary.objects.filter(document_set__project=project, is_model=True)
    kept = models.filter(metadata__has_key=PYRAMID).values_list("metadata", flat=True)
    # Metadata are people's own: the key alone is no pyramid yet.
    if not any(pyramid_of(metadata) for metadata in kept.iterator(chunk_size=100)):
        raise Invalid(
            "The project has no pyramid to export. Import DUCView files first, or take another level.",
            field="level",
            code="no_pyramids",
        )


def write(project: Project, people: People, stream: BinaryIO, progress: ExportProgress) -> Written:
    """Write the zip to a stream; returns what is in it and what is not.

    A content unit is expressed where its final verdict is yes. Raises as `require_pyramids`.
    """
    require_pyramids(project)
    names, seen = NistNames.of(project, people), Counter[str]()
    files = write_zip(stream, _all_files(project, names, seen))
    return Written(rows=files, left_out=_left(project, seen), renamed=names.told())


def _all_files(project: Project, names: NistNames, seen: Counter[str]) -> Iterator[tuple[str, str]]:
    models = Summary.objects.filter(document_set__project=project, is_model=True)
    ordered = models.select_related("document_set").order_by(
        "document_set__external_id", "target_words", "pk"
    )
    taken: set[str] = set()
    for model in ordered.iterator(chunk_size=100):
        pyramid = pyramid_of(model.metadata)
        if pyramid is None:
            seen["other models"] += 1
        else:
            yield from _files(model, pyramid, names, seen, taken)


def _left(project: Project, seen: Counter[str]) -> LeftOut:
    left = LeftOut()
    left.add("model summaries that stand for no imported pyramid", seen["other models"])
    left.add("pyramids whose claims were changed since: not written", seen["changed"])
    for label in Label.values:
        if label not in (Label.YES, Label.NO):
            left.add(f"verdicts of {label}, written as not expressed", seen[label])
    left.add("content units without a verdict, written as not expressed", seen["unscored"])
    left.add(
        "expressed content units of which only whole peer units are known, written as parts",
        seen["whole units"],
    )
    left.add(
        "expressed content units whose place is not known, written with their own label", seen["no place"]
    )
    given = Verdict.objects.filter(check_row__project=project).count()
    left.add("verdicts: only what stands in the end is written, not who said so, why and when", given)
    left.add_of(project, "percents", "decisions", "published", "documents")
    return left


def _files(
    model: Summary, pyramid: Pyramid, names: NistNames, seen: Counter[str], taken: set[str]
) -> Iterator[tuple[str, str]]:
    claims = list(
        Claim.objects.filter(claim_set__summary=model, claim_set__is_active=True).order_by("position")
    )
    if [claim.text for claim in claims] != [unit.label for unit in pyramid.units]:
        seen["changed"] += 1
        return
    of_set = names.of_set(model.document_set, 0)
    size = f"{model.target_words or 0:03}"
    stem = of_set.name if f"{of_set.name}.pyr" not in taken else f"{of_set.name}.{size}"
    taken.add(f"{stem}.pyr")
    weights = {unit.uid: claim.weight for unit, claim in zip(pyramid.units, claims, strict=True)}
    body = "\n".join(_pyramid(model.text, pyramid))
    yield f"{stem}.pyr", f"{_head('pyramid', _PARTS)}{body}\n"
    peers = [
        row.peer
        for row in Comparison.objects.filter(model=model).select_related("peer__system").order_by("peer__pk")
    ]
    finals, evidence = _answers(claims, peers)
    units = _units(peers)
    for peer in peers:
        assert peer.system_id is not None, "a peer summary has a system"
        name = f"{of_set.name}.M.{size}.{of_set.selector}.{names.systems[peer.system_id]}.pan"
        annotation = peer_annotation_of(peer.metadata) or PeerAnnotation(expressed={})
        lines = _annotation(
            peer,
            [
                (unit.uid, unit.label, finals.get((claim.pk, peer.pk)), evidence.get((claim.pk, peer.pk), ()))
                for unit, claim in zip(pyramid.units, claims, strict=True)
            ],
            annotation,
            weights,
            units.get(peer.pk, {}),
            seen,
        )
        head = _head("peerAnnotation", _OF_PEER + _PARTS)
        yield name, "\n".join([f"{head}<peerAnnotation>", body, *lines, "</peerAnnotation>", ""])


Key = tuple[int, int]
"""A claim and a peer summary."""


def _answers(
    claims: Sequence[Claim], peers: Sequence[Summary]
) -> tuple[dict[Key, str | None], dict[Key, Sequence[int]]]:
    """The final verdict on each content unit in each peer summary, and the evidence of its last yes."""
    checks = Check.objects.filter(claim__in=claims, peer__in=peers)
    finals: dict[Key, str | None] = {}
    by_check: dict[int, Key] = {}
    for check_id, claim_id, peer_id, final in checks.values_list("pk", "claim_id", "peer_id", "final_label"):
        finals[claim_id, peer_id] = final
        by_check[check_id] = (claim_id, peer_id)
    said = Verdict.objects.filter(check_row__in=checks, label=Label.YES, withdrawn_at=None).order_by("pk")
    evidence: dict[Key, Sequence[int]] = {}
    for check_id, numbers in said.values_list("check_row__pk", "evidence"):
        if numbers:
            evidence[by_check[check_id]] = numbers
    return finals, evidence


def _units(peers: Sequence[Summary]) -> dict[int, dict[int, tuple[int, int]]]:
    found: dict[int, dict[int, tuple[int, int]]] = defaultdict(dict)
    for summary_id, position, start, end in Unit.objects.filter(summary__in=peers).values_list(
        "summary__pk", "position", "start", "end"
    ):
        found[summary_id][position] = (start, end)
    return found


def _head(root: str, declarations: str) -> str:
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE {root} [\n{declarations}]>\n\n'


def _pyramid(text: str, pyramid: Pyramid) -> Iterator[str]:
    yield "<pyramid>"
    if pyramid.header and "]]>" not in pyramid.header:
        yield f"<startDocumentRegEx><![CDATA[{_CONTROLS.sub(' ', pyramid.header)}]]></startDocumentRegEx>"
    yield from _text(text)
    squeezed = Squeezed.of(text)
    for unit in pyramid.units:
        yield f' <scu uid="{_quoted(unit.uid)}" label="{_quoted(unit.label)}"{_comment(unit.comment)}>'
        yield from _contributors(unit.contributors, squeezed)
        yield " </scu>"
    yield "</pyramid>"


def _annotation(
    peer: Summary,
    said: Iterable[tuple[str, str, str | None, Sequence[int]]],
    annotation: PeerAnnotation,
    weights: Mapping[str, float],
    units: Mapping[int, tuple[int, int]],
    seen: Counter[str],
) -> Iterator[str]:
    yield "<annotation>"
    yield from _text(peer.text)
    squeezed = Squeezed.of(peer.text)
    for uid, label, final, evidence in said:
        yield f' <peerscu uid="{_quoted(uid)}" label="({weights[uid]:g}) {_quoted(label)}">'
        seen[final or "unscored"] += 1
        if final == Label.YES:
            known = annotation.expressed.get(uid) or _of_evidence(peer, label, evidence, units, seen)
            yield from _contributors(known, squeezed)
        yield " </peerscu>"
    yield f' <peerscu uid="{NOT_IN_PYRAMID}" label="All non-matching SCUs go here">'
    yield from _contributors(annotation.unmatched, squeezed)
    yield " </peerscu>"
    yield "</annotation>"


def _of_evidence(
    peer: Summary,
    label: str,
    evidence: Sequence[int],
    units: Mapping[int, tuple[int, int]],
    seen: Counter[str],
) -> tuple[Contributor, ...]:
    """The peer units that a verdict names, as the parts of one contributor; DUCView asks for at least one."""
    places = [units[number] for number in evidence if number in units]
    if not places:
        seen["no place"] += 1
        return (Contributor(label=label, parts=()),)
    seen["whole units"] += 1
    parts = tuple(PyramidPart(peer.text[start:end], start, end) for start, end in places)
    return (Contributor(label="...".join(part.label for part in parts), parts=parts),)


def _contributors(contributors: Iterable[Contributor], text: Squeezed) -> Iterator[str]:
    for contributor in contributors:
        yield f'  <contributor label="{_quoted(contributor.label)}"{_comment(contributor.comment)}>'
        # DUCView asks for at least one part.
        for part in contributor.parts or (PyramidPart(contributor.label, 0, 0),):
            start, end = _place(part, text)
            yield f'   <part label="{_quoted(part.label)}" start="{start}" end="{end}"/>'
        yield "  </contributor>"


def _place(part: PyramidPart, text: Squeezed) -> Stretch:
    """Where a part stands in the text as it is now; where it stood in its file if its words are not there."""
    start, end = part.start or 0, part.end or 0
    if part.start is not None and text.has(part.label, start, end):
        return start, end
    return text.find(part.label, start) or (start, end)


def _text(text: str) -> Iterator[str]:
    yield " <text>"
    for line in text.split("\n"):
        yield f"  <line>{html.escape(_CONTROLS.sub(' ', line), quote=False)}</line>"
    yield " </text>"


def _comment(comment: str) -> str:
    return f' comment="{_quoted(comment)}"' if comment else ""


def _quoted(value: str) -> str:
    return html.escape(_CONTROLS.sub(" ", value)).replace("\n", "&#10;").replace("\t", "&#9;")


FORMAT = OwnFormat(level="pyramid", format="ducview", suffix="zip", write=write)
