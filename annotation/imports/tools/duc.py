"""Convert files of DUC and TAC to rows: any number of SEE HTML files and DUCView pyramids."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from annotation.core.text_faults import printable, text_fault
from annotation.imports.containers import NAMED, Format, NamedFile, as_text, head_of
from annotation.imports.problems import Findings, unreadable
from annotation.imports.row import Claim, Dataset, Reference, Row, Stretch, Summary
from annotation.imports.tools.ducview import PyramidFile, ducview_root, read_ducview
from annotation.imports.tools.names import DucName, UnfitFile, duc_name
from annotation.imports.tools.see_html import looks_like_see, read_see

MAX_FILE_BYTES = 2 * 1024 * 1024
PYRAMID_ID = "pyramid"
"""The reference_id of the text of a pyramid."""
_ROOTS = {".pyr": "pyramid", ".pan": "peerAnnotation"}


def format_of(file: NamedFile) -> Format | None:
    """Recognise SEE HTML and DUCView files by their first characters and their name; None for other files.

    Raises ImportRefused for an empty file, for a NIST result table, and for a file that has a DUCView name but other
    content.
    """
    head = as_text(head_of(file.path, file.name))[0]
    suffix = PurePosixPath(file.name).suffix.lower()
    root, named = ducview_root(head), _ROOTS.get(suffix)
    if named and root != named:
        told = f"is named like DUCView's {named} and is none. Give it the ending of what it is."
        raise unreadable(told, file=file.name)
    if root or suffix in NAMED:
        return Format.DUCVIEW if root else None
    if suffix in {".html", ".htm"} or looks_like_see(head):
        return Format.SEE_HTML
    # Recognise result tables of 2001 to 2004: a line has a set, M or P, a document, a target length and figures.
    rows = map(str.split, head.split("\n")[:200])
    if any(len(cells) >= 10 and cells[1] in {"M", "P"} and cells[3].isdecimal() for cells in rows):
        told = "is a NIST result table. Its figures belong to assessors without an account here, so they cannot be"
        raise unreadable(f"{told} imported.", file=file.name)
    return None


def are_duc_files(files: Sequence[NamedFile]) -> bool:
    """True if there are several files, or a single file of DUC or TAC."""
    return len(files) != 1 or format_of(files[0]) is not None


def check_duc_files(files: Sequence[NamedFile]) -> None:
    """Raise ImportRefused if no file is a SEE HTML or DUCView file."""
    if not any(map(format_of, files)):
        told = (
            "holds no SEE HTML or DUCView file. CSV, JSONL and Parquet files are imported one at a time, by"
        )
        name = files[0].name if len(files) == 1 else f"{len(files):,} files"
        raise unreadable(f"{told} themselves.", file=name)


def read_duc_files(
    files: Sequence[NamedFile], problems: Findings, warnings: Findings
) -> tuple[Format, Dataset]:
    """Read all files together. Return their format, `SEVERAL` if they have different ones, and their document sets.

    A file of no known format is left out with a warning. A file that cannot be read, and summaries that contradict each
    other, are problems. Raises the errors of `check_duc_files`.
    """
    check_duc_files(files)
    found: set[Format] = set()
    summaries, pyramids = _Summaries(), _Pyramids()
    for file in files:
        form = format_of(file)
        if form is None:
            warnings.remark(f"{printable(file.name)} is not read: it is of none of these formats.")
            continue
        found.add(form)
        try:
            if file.path.stat().st_size > MAX_FILE_BYTES:
                raise UnfitFile(f"is larger than {MAX_FILE_BYTES // 1024**2} MB; no file of this kind is.")
            content, is_utf8 = as_text(file.path.read_bytes())
            if not is_utf8:
                warnings.remark(f"{printable(file.name)} is not UTF-8: read as Windows-1252.")
            (summaries if form is Format.SEE_HTML else pyramids).take(file.name, content)
        except UnfitFile as error:
            problems.add(error.line, "", error.reason, file=file.name)
    dataset = Dataset()
    for row in (*pyramids.rows(), *summaries.rows()):
        for _, reason in dataset.add(row):
            problems.add(None, "", f"the summaries of {row.document_id!r}: {reason}")
    return (next(iter(found)) if len(found) == 1 else Format.SEVERAL), dataset


@dataclass(slots=True)
class _Summaries:
    """SEE summaries with their units. Each peer is compared with every model of its set and target length."""

    models: dict[DucName, tuple[str, tuple[str, ...]]] = field(default_factory=dict)
    peers: dict[DucName, tuple[str, tuple[str, ...]]] = field(default_factory=dict)

    def take(self, file: str, content: str) -> None:
        path = PurePosixPath(file)
        name = duc_name(path.stem)
        if name is None:
            told = "has a name that does not say whose summary it is. Call it like D061.M.200.J.19.html or"
            raise UnfitFile(f"{told} D061.P.100.J.27.AP880911-0016.html.")
        units = read_see(content)
        if fault := text_fault(" ".join(units)):
            raise UnfitFile(fault)
        # The folder decides; otherwise the summariser's name: people write models, systems write peers.
        folders = [folder.lower() for folder in reversed(path.parts[:-1])]
        roles = ["model" in folder for folder in folders if "model" in folder or "peer" in folder]
        is_reference = next(iter(roles), name.is_person)
        if is_reference and not units:
            raise UnfitFile("is a model summary without units. It cannot be compared with.")
        before, there = (self.models if is_reference else self.peers).setdefault(name, (file, units))
        if there != units:
            whose = f"{'model' if is_reference else 'peer'} summary of {name.document_id!r} by {name.summariser!r}"
            raise UnfitFile(f"is another {whose} than {before}.")

    def rows(self) -> Iterator[Row]:
        models: dict[tuple[str, int | None], list[Reference]] = defaultdict(list)
        for name, (_, units) in self.models.items():
            author = name.summariser if name.is_person else ""
            one = Reference(" ".join(units), name.summariser, author, _stretches(units))
            models[name.document_id, name.target].append(one)
            yield _row(name, references=[one])
        for name, (_, units) in self.peers.items():
            peer: Any = {"system": name.summariser, "summary": " ".join(units), "units": _stretches(units)}
            references = models[name.document_id, name.target]
            yield _row(name, references=references, systems=[Summary.model_construct(**peer)])


def _stretches(units: Sequence[str]) -> tuple[Stretch, ...]:
    found: list[Stretch] = []
    for unit in units:
        at = found[-1][1] + 1 if found else 0
        found.append((at, at + len(unit)))
    return tuple(found)


def _row(name: DucName, **others: Any) -> Row:
    group = name.set_name if name.document else ""
    return Row.model_construct(
        document_id=name.document_id, target=name.target, group=group, names_reference=True, **others
    )


@dataclass(slots=True)
class _Pyramids:
    """Pyramids by set, with the annotated peers by system."""

    known: dict[str, tuple[str, PyramidFile]] = field(default_factory=dict)
    annotated: dict[str, dict[str, PyramidFile]] = field(default_factory=lambda: defaultdict(dict))

    def take(self, file: str, content: str) -> None:
        read = read_ducview(content)
        stem = PurePosixPath(file).stem
        name = duc_name(stem)
        known_as = read.name or name
        set_name = known_as.set_name if known_as else stem.partition(".")[0]
        before, pyramid = self.known.setdefault(set_name, (file, read))
        if (pyramid.text, set(pyramid.units)) != (read.text, set(read.units)):
            raise UnfitFile(f"holds another pyramid of {set_name!r} than {before}. A set has one.")
        if read.peer_text is None:
            return
        if name is None:
            told = "has a name that does not say whose summary it annotates."
            raise UnfitFile(f"{told} Call it like D0736-B.M.100.H.12.pan.")
        if name.summariser in self.annotated[set_name]:
            raise UnfitFile(f"annotates the summary by {name.summariser!r} a second time.")
        self.annotated[set_name][name.summariser] = read

    def rows(self) -> Iterator[Row]:
        """Yield a row per set. Content units become weighted claims, with a yes for each peer that expresses them."""
        for set_name, (_, pyramid) in self.known.items():
            peers, claims = self.annotated[set_name], []
            for unit in pyramid.units:
                said = {name: "yes" if unit.uid in one.expressed else "no" for name, one in peers.items()}
                about: Any = {"text": unit.label, "weight": float(unit.weight), "systems": frozenset(peers)}
                claims.append(Claim.model_construct(verdicts=said, **about))
            yield Row.model_construct(
                document_id=set_name,
                target=pyramid.name.target if pyramid.name else None,
                references=[Reference(pyramid.text, PYRAMID_ID)],
                systems=[
                    Summary.model_construct(system=name, summary=one.peer_text or "")
                    for name, one in peers.items()
                ],
                claims=claims,
            )
