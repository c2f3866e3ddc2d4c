"""Files of DUC and TAC as rows of an import: SEE's HTML and DUCView's pyramids, any number of them at once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath

from annotation.core.text_faults import printable, text_fault
from annotation.imports.files import NAMED, Format, NamedFile, as_text, head_of
from annotation.imports.problems import Problems, Warnings, unreadable
from annotation.imports.rows import ClaimData, Dataset, ReferenceText, Row, Stretch
from annotation.imports.tools.ducview import PyramidFile, ducview_root, read_ducview
from annotation.imports.tools.names import DucName, UnfitFile, duc_name
from annotation.imports.tools.see_html import looks_like_see, read_see

MAX_FILE_BYTES = 2 * 1024 * 1024
PYRAMID_ID = "pyramid"
"""The reference_id of the text that a pyramid was made of."""

_ROOTS = {".pyr": "pyramid", ".pan": "peerAnnotation"}


def format_of(name: str, head: str) -> Format | None:
    """Which of the formats a file has by its first characters; None where it has none of them.

    Raises ImportRefused for a NIST result table, and a file that is named like one of DUCView's and is none.
    """
    suffix = PurePosixPath(name).suffix.lower()
    root, named = ducview_root(head), _ROOTS.get(suffix)
    if named and root != named:
        raise unreadable(
            f"is named like DUCView's {named} and is none. Give it the ending of what it is.", file=name
        )
    if root:
        return Format.DUCVIEW
    if suffix in NAMED:
        return None
    if suffix in {".html", ".htm"} or looks_like_see(head):
        return Format.SEE_HTML
    if _is_nist_table(head):
        raise unreadable(
            "is a NIST result table. Its figures belong to assessors without an account here, so they cannot be "
            "imported.",
            file=name,
        )
    return None


def _is_nist_table(head: str) -> bool:
    """True if a line begins with a set, M or P, a document and a target length, as in the tables of 2001 to 2004."""
    rows = map(str.split, head.split("\n")[:200])
    return any(len(cells) >= 10 and cells[1] in {"M", "P"} and cells[3].isdecimal() for cells in rows)


def are_duc_files(files: Sequence[NamedFile]) -> bool:
    """True if files are to be read here: several, or one whose beginning is of these formats."""
    return len(files) != 1 or format_of(files[0].name, _head(files[0])) is not None


def check_duc_files(files: Sequence[NamedFile]) -> None:
    """Raises ImportRefused where none of the files is of these formats."""
    if not any(format_of(file.name, _head(file)) for file in files):
        _refuse(files)


def read_duc_files(
    files: Sequence[NamedFile], problems: Problems, warnings: Warnings
) -> tuple[Format, Dataset]:
    """What all the files say together, and the format that they have in common.

    Raises ImportRefused where none of them can be read, and as `format_of`.
    """
    found: set[Format] = set()
    summaries, pyramids = _Summaries(), _Pyramids()
    for file in files:
        form = format_of(file.name, _head(file))
        if form is None:
            warnings.add(f"{printable(file.name)} is not read: it is of none of these formats.")
            continue
        found.add(form)
        with _as_problem(file.name, problems):
            if file.path.stat().st_size > MAX_FILE_BYTES:
                raise UnfitFile(f"is larger than {MAX_FILE_BYTES // 1024**2} MB; no file of this kind is.")
            content, is_utf8 = as_text(file.path.read_bytes())
            if not is_utf8:
                warnings.add(f"{printable(file.name)} is not UTF-8: read as Windows-1252.")
            (summaries if form is Format.SEE_HTML else pyramids).take(file.name, content)
    if not found:
        _refuse(files)
    dataset = Dataset()
    for nested in pyramids.documents():
        dataset.add_document(nested)
    for row in summaries.rows():
        for _, reason in dataset.add(row):
            problems.add(None, "", f"the summaries of {row.document_id!r}: {reason}")
    return (next(iter(found)) if len(found) == 1 else Format.SEVERAL), dataset


def _head(file: NamedFile) -> str:
    return as_text(head_of(file.path, file.name))[0]


@contextmanager
def _as_problem(name: str, problems: Problems) -> Iterator[None]:
    """Note why a file cannot be taken in, and go on with the others."""
    try:
        yield
    except UnfitFile as error:
        problems.add(error.line, "", error.reason, file=name)


def _refuse(files: Sequence[NamedFile]) -> None:
    raise unreadable(
        "holds no SEE HTML or DUCView file. CSV, JSONL and Parquet files are imported one at a time, by themselves.",
        file=files[0].name if len(files) == 1 else f"{len(files):,} files",
    )


@dataclass(frozen=True, slots=True)
class _Summary:
    file: str
    name: DucName
    units: tuple[str, ...]

    @property
    def text(self) -> str:
        return " ".join(self.units)

    @property
    def stretches(self) -> tuple[Stretch, ...]:
        """Where each unit stands in the text."""
        found: list[Stretch] = []
        for unit in self.units:
            at = found[-1][1] + 1 if found else 0
            found.append((at, at + len(unit)))
        return tuple(found)


@dataclass(slots=True)
class _Summaries:
    """Summaries of SEE: every peer is compared with every model of its set and target length."""

    models: dict[DucName, _Summary] = field(default_factory=dict)
    peers: dict[DucName, _Summary] = field(default_factory=dict)

    def take(self, file: str, content: str) -> None:
        path = PurePosixPath(file)
        name = duc_name(path.stem)
        if name is None:
            raise UnfitFile(
                "has a name that does not say whose summary it is. Call it like D061.M.200.J.19.html or "
                "D061.P.100.J.27.AP880911-0016.html."
            )
        one = _Summary(file, name, read_see(content))
        if fault := text_fault(one.text):
            raise UnfitFile(fault)
        is_model = _is_model(path, name)
        if is_model and not one.units:
            raise UnfitFile("is a model summary without units. It cannot be compared with.")
        before = (self.models if is_model else self.peers).setdefault(name, one)
        if before.units != one.units:
            role = "model" if is_model else "peer"
            raise UnfitFile(
                f"is another {role} summary of {name.document_id!r} by {name.summariser!r} than {before.file}."
            )

    def rows(self) -> Iterator[Row]:
        models: dict[tuple[str, int | None], list[ReferenceText]] = defaultdict(list)
        for name, model in self.models.items():
            author = name.summariser if name.is_person else ""
            reference = ReferenceText(model.text, name.summariser, author, model.stretches)
            models[name.document_id, name.target].append(reference)
            yield replace(_row(name), references=(reference,))
        for name, peer in self.peers.items():
            yield replace(
                _row(name),
                system=name.summariser,
                summary=peer.text,
                units=peer.stretches,
                references=tuple(models[name.document_id, name.target]),
            )


def _is_model(path: PurePosixPath, name: DucName) -> bool:
    """Its folder says so, else the summariser: people write models, and systems peers."""
    for folder in reversed(path.parts[:-1]):
        if "model" in folder.lower():
            return True
        if "peer" in folder.lower():
            return False
    return name.is_person


def _row(name: DucName) -> Row:
    return Row(
        line=None,
        document_id=name.document_id,
        target=name.target,
        group=name.set_name if name.document else "",
        names_reference=True,
    )


@dataclass(slots=True)
class _Pyramids:
    """Pyramids by set, each with its annotated peers by system."""

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
            raise UnfitFile(
                "has a name that does not say whose summary it annotates. Call it like D0736-B.M.100.H.12.pan: "
                "set.M.size.selector.system.pan."
            )
        if name.summariser in self.annotated[set_name]:
            raise UnfitFile(f"annotates the summary by {name.summariser!r} a second time.")
        self.annotated[set_name][name.summariser] = read

    def documents(self) -> Iterator[list[Row]]:
        """The rows of each set, the claims in the first."""
        for set_name, (_, pyramid) in self.known.items():
            peers = self.annotated[set_name]
            target = pyramid.name.target if pyramid.name else None
            reference = Row(
                None, set_name, target=target, references=(ReferenceText(pyramid.text, PYRAMID_ID),)
            )
            rows = [
                replace(reference, system=name, summary=peer.peer_text or "") for name, peer in peers.items()
            ] or [reference]
            claims = tuple(_claims(pyramid, peers.items()))
            yield [replace(rows[0], claims=claims), *rows[1:]]


def _claims(pyramid: PyramidFile, peers: Iterable[tuple[str, PyramidFile]]) -> Iterator[ClaimData]:
    """The content units as weighted claims, with yes for the peers that express them and no for the others."""
    said = [(system, peer.expressed or {}) for system, peer in peers]
    for unit in pyramid.units:
        yield ClaimData(
            text=unit.label,
            weight=float(unit.weight),
            verdicts={system: "yes" if unit.uid in expressed else "no" for system, expressed in said},
            places={system: expressed.get(unit.uid, ()) for system, expressed in said},
            systems=frozenset(system for system, _ in said),
        )
