"""Files of DUC and TAC, many at once: SEE's HTML and DUCView's pyramids, loose or in a zip."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from annotation.core.text_faults import printable
from annotation.imports.dataset import Dataset
from annotation.imports.duc.pyramid import Pyramids, pyramid_root
from annotation.imports.duc.see_html import looks_like_see, take_see
from annotation.imports.formats import HEAD_BYTES, NAMED, Format
from annotation.imports.packages import NamedFile, PackedFile, UnfitFile, as_text, is_zip, members
from annotation.imports.problems import Problems, Remarks, Warnings, unreadable

_SEE_ENDINGS = {".html", ".htm"}
_PYRAMID_ROOTS = {".pyr": "pyramid", ".pan": "peerAnnotation"}


def format_of(member: PackedFile) -> Format | None:
    """Which of the formats a file has, told by its content; None where it has none of them.

    Raises ImportRefused for a NIST result table, and a file that is named like one of DUCView's and is none.
    """
    head = member.data[:HEAD_BYTES]
    is_markup = head.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"<")
    root = pyramid_root(head) if is_markup else ""
    named = _PYRAMID_ROOTS.get(member.suffix)
    if root or named:
        if named and root != named:
            found = f"reads like {root}" if root else "holds no element of that name at its beginning"
            raise unreadable(
                f"is named like DUCView's {named} but {found}. Give it the ending of what it is.",
                file=member.name,
            )
        return Format.DUCVIEW
    if member.suffix in NAMED:
        return None
    if member.suffix in _SEE_ENDINGS or looks_like_see(head):
        return Format.SEE_HTML
    if _is_nist_table(as_text(head)[0]):
        raise unreadable(
            "is a NIST result table. Its figures belong to assessors without an account here, so they cannot be "
            "imported.",
            file=member.name,
        )
    return None


def _is_nist_table(head: str) -> bool:
    """Whether a line begins with a set, M or P, a document and a target length, as in the tables of 2001 to 2004."""
    rows = map(str.split, head.split("\n")[:200])
    return any(len(cells) >= 10 and cells[1] in {"M", "P"} and cells[3].isdecimal() for cells in rows)


def are_duc_files(files: Sequence[NamedFile]) -> bool:
    """Whether files are to be read here: several, a zip, or one whose first bytes are of these formats."""
    if len(files) != 1 or is_zip(files[0]):
        return True
    with files[0].path.open("rb") as stream:
        head = stream.read(HEAD_BYTES)
    return format_of(PackedFile(files[0].name, head)) is not None


def check_duc_files(files: Sequence[NamedFile]) -> None:
    """Raises ImportRefused where none of the files is of these formats; as `members` and `format_of`."""
    unread: list[str] = []
    for member in members(files):
        if format_of(member):
            return
        unread.append(member.name)
    _note_unread(files, unread, False, Warnings())


def read_duc_files(
    files: Sequence[NamedFile], problems: Problems, warnings: Warnings
) -> tuple[Format, Dataset]:
    """What all the files say together, and the format that they have in common.

    Raises ImportRefused where none of them can be read, and as `members` and `format_of`.
    """
    dataset, remarks = Dataset(), Remarks()
    pyramids = Pyramids(dataset, remarks)
    found: set[Format] = set()
    annotations: list[PackedFile] = []
    unread: list[str] = []
    for member in members(files):
        match form := format_of(member):
            case Format.SEE_HTML:
                with _as_problem(member, problems):
                    take_see(member, dataset, remarks)
            case Format.DUCVIEW:
                # After SEE's files, whose units are people's; and a pyramid before what was annotated with it.
                annotations.append(member)
            case _:
                unread.append(member.name)
                continue
        found.add(form)
    for member in sorted(annotations, key=lambda member: member.suffix != ".pyr"):
        with _as_problem(member, problems):
            pyramids.take(member)
    _note_unread(files, unread, bool(found), warnings)
    remarks.tell(warnings)
    return (next(iter(found)) if len(found) == 1 else Format.SEVERAL), dataset


@contextmanager
def _as_problem(member: PackedFile, problems: Problems) -> Iterator[None]:
    """Note why a file cannot be taken in, and go on with the others."""
    try:
        yield
    except UnfitFile as error:
        problems.add(error.line, "", error.reason, file=member.name)


def _note_unread(
    files: Sequence[NamedFile], unread: list[str], is_any_read: bool, warnings: Warnings
) -> None:
    names = ", ".join(printable(name) for name in unread[:10])
    more = f" and {len(unread) - 10:,} more" if len(unread) > 10 else ""
    if not is_any_read:
        where = files[0].name if len(files) == 1 else f"{len(files):,} files"
        raise unreadable(
            f"holds no SEE HTML or DUCView file ({names}{more}). CSV, JSONL and Parquet files "
            "are imported one at a time, by themselves.",
            file=where,
        )
    if unread:
        warnings.add(f"Not read, since they are of none of these formats: {names}{more}.")
