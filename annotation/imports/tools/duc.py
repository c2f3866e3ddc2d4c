"""Convert SEE HTML and DUCView files to rows."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from itertools import accumulate
from pathlib import PurePosixPath
from typing import Any

from pydantic import ValidationError

from annotation.core.text_faults import printable
from annotation.imports.containers import NAMED, NamedFile, as_text, head_of
from annotation.imports.problems import Findings, ImportRefused, unreadable
from annotation.imports.row import Dataset, Row, faults
from annotation.imports.tools.ducview import is_ducview, read_ducview
from annotation.imports.tools.names import duc_name

MAX_FILE_BYTES = 2 * 1024 * 1024
PYRAMID_ID = "pyramid"
"""The reference_id of the text of a pyramid."""
_Pyramids = dict[str, tuple[PurePosixPath, str, dict[str, tuple[str, int]]]]
"""The file, text and content units of the pyramid of each set."""
_HTML = re.compile(r"\s*<(html|!doctype html|a name|head|body)", re.IGNORECASE)
# These expressions must take linear time.
_HIDDEN = re.compile(
    r"<!--.*?(?:-->|\Z)|<(head|script|style)\b.*?(?:</\1\s{0,9}>|(?=<body\b|<a\b)|\Z)", re.I | re.DOTALL
)
_UNIT = re.compile(
    r"<a\b[^<>]{0,500}?\bid\s{0,9}=\s{0,9}[\"']?\d{1,9}\b[^<>]{0,500}>(.*?)(?=</?(?:a|body|html)\b|\Z)",
    re.I | re.DOTALL,
)
_TAG = re.compile(r"</?[a-zA-Z!][^<>]{0,500}>")


def is_of_duc(file: NamedFile) -> bool:
    """Return True for a SEE HTML or DUCView file. Raises ImportRefused for a file that cannot be read or is empty."""
    head = as_text(head_of(file.path, file.name))[0]
    suffix = PurePosixPath(file.name).suffix.lower()
    is_html = suffix in {".html", ".htm"} or bool(_HTML.match(head))
    return is_ducview(head) or (is_html and suffix not in NAMED)


def read_duc_files(files: Sequence[NamedFile], problems: Findings, warnings: Findings) -> Dataset:
    """Read files together. Problems and warnings are added to the arguments."""
    dataset, pyramids, lengths = Dataset(), _Pyramids(), dict[tuple[str, str], int | None]()
    for file in files:
        try:
            row = _row_of(file, pyramids, warnings)
        except ImportRefused as refusal:
            problems.add(refusal.problems[0].line, "", refusal.problems[0].reason, file=file.name)
            continue
        row.line = file.name
        lengths |= {(row.document_id, one.id): row.target for one in row.references}
        for _, reason in dataset.add(row, is_nested=bool(row.claims)):
            problems.add(None, "", reason, file=file.name)
    for name, one in dataset.sets.items():
        pairs = ((*key, of) for key in one.summaries for of in one.references if lengths[name, of] == key[1])
        one.pairs = {pair: None for pair in pairs if pair[2] != PYRAMID_ID or pair in one.pairs}
    return dataset


def _row_of(file: NamedFile, pyramids: _Pyramids, warnings: Findings) -> Row:
    if not is_of_duc(file):
        raise unreadable("is no SEE HTML or DUCView file.")
    if file.path.stat().st_size > MAX_FILE_BYTES:
        raise unreadable(f"is larger than {MAX_FILE_BYTES // 1024**2} MB; no file of this kind is.")
    content, is_utf8 = as_text(file.path.read_bytes())
    if not is_utf8:
        warnings.remark(f"{printable(file.name)} is not UTF-8: read as Windows-1252.")
    path = PurePosixPath(file.name)
    return _pyramid_row(path, content, pyramids) if is_ducview(content) else _see_row(path, content)


def _see_row(path: PurePosixPath, content: str) -> Row:
    if (name := duc_name(path.stem)) is None:
        told = "has a name that does not say whose summary it is. Call it like D061.M.200.J.19.html or"
        raise unreadable(f"{told} D061.P.100.J.27.AP880911-0016.html.")
    units, who = read_see(content), name.summariser
    ends = accumulate(len(unit) + 1 for unit in units)
    stretches = tuple((end - 1 - len(unit), end - 1) for unit, end in zip(units, ends, strict=True))
    # The folder decides; otherwise the summariser's name: people write models, systems write peers.
    folders = [folder.lower() for folder in reversed(path.parts[:-1])]
    roles = ["model" in folder for folder in folders if "model" in folder or "peer" in folder]
    is_model, text = next(iter(roles), who.isalpha()), " ".join(units)
    if is_model and not units:
        raise unreadable("is a model summary without units. It cannot be compared with.")
    author = who if who.isalpha() else ""
    # A person may write a model for each target length.
    model_id = f"{who}.{name.target}" if name.target else who
    held: dict[str, Any] = {"reference": text, "reference_id": model_id, "reference_author": author}
    if not is_model:
        held = {"systems": [{"system": who, "summary": text, "units": stretches}]}
    group = name.set_name if name.document else ""
    row = _row(document_id=name.document_id, target_words=name.target, group=group, **held)
    row.references = [one._replace(units=stretches) for one in row.references]
    return row


def _pyramid_row(path: PurePosixPath, content: str, pyramids: _Pyramids) -> Row:
    read, name = read_ducview(content), duc_name(path.stem)
    if read.peer_text is not None and name is None:
        told = "has a name that does not say whose summary it annotates."
        raise unreadable(f"{told} Call it like D0736-B.M.100.H.12.pan.")
    known_as, peer = read.name or name, name.summariser if name else ""
    set_name = known_as.set_name if known_as else path.stem.partition(".")[0]
    before, *pyramid = pyramids.setdefault(set_name, (path, read.text, read.units))
    if pyramid != [read.text, read.units]:
        raise unreadable(f"holds another pyramid of {set_name!r} than {before}. A set has one.")
    is_annotated = read.peer_text is not None
    answers = {uid: {peer: "yes" if uid in read.expressed else "no"} for uid in read.units if is_annotated}
    return _row(
        document_id=set_name,
        target_words=read.name.target if read.name else None,
        reference=read.text,
        reference_id=PYRAMID_ID,
        systems=[{"system": peer, "summary": read.peer_text}] if is_annotated else [],
        claims=[
            {"claim_text": label, "weight": float(weight), "verdicts": answers.get(uid, {})}
            for uid, (label, weight) in read.units.items()
        ],
    )


def _row(**values: Any) -> Row:
    try:
        return Row.model_validate(values)
    except ValidationError as error:
        raise unreadable("; ".join(reason for _, reason in faults(error))) from error


def read_see(content: str) -> tuple[str, ...]:
    """Return the texts of the units of SEE HTML in order; in plain text, each line that is not blank is a unit.

    A unit is the content of an anchor, `<a name="1">[1]</a> <a href="#1" id=1>The first unit.</a>`. Raises
    ImportRefused for HTML with text but without units.
    """
    found = content.splitlines()
    if _TAG.search(content):
        seen = _HIDDEN.sub(" ", content)
        found = list(map(_text, _UNIT.findall(seen)))
        if not found and _text(seen).strip():
            told = 'holds text and no numbered unit such as <a name="1">[1]</a> <a href="#1" id=1>text</a>,'
            raise unreadable(f"{told} so it is not SEE HTML.")
    return tuple(filter(None, (" ".join(unit.split()) for unit in found)))


def _text(raw: str) -> str:
    return html.unescape(_TAG.sub(" ", raw))
