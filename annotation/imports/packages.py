"""The files of an upload, zips opened: names and bytes, never a file on the disk and never more than allowed.

A name inside of a zip is a label. Nothing is unpacked to where it points.
"""

from __future__ import annotations

import lzma
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from annotation.imports.problems import unreadable

MAX_MEMBERS = 20_000
MAX_MEMBER_BYTES = 64 * 1024 * 1024
MAX_ALL_BYTES = 512 * 1024 * 1024
"""No file, and no zip that swells, may fill the memory."""

ZIP_MAGIC = b"PK\x03\x04"
DAMAGED_ZIP = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    OSError,
    RuntimeError,
    UnicodeDecodeError,
)
"""What reading a damaged or locked zip raises, by how it is packed."""
_EMPTY_ZIP_MAGIC = b"PK\x05\x06"
_SHEET_MEMBER = "[Content_Types].xml"
_CLUTTER = ("__MACOSX", ".DS_Store", "Thumbs.db")


class UnfitFile(ValueError):
    """A file cannot be taken in; the message says why, `line` where."""

    def __init__(self, reason: str, line: int | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line


@dataclass(frozen=True, slots=True)
class NamedFile:
    """A file and what people call it, where its path is a temporary one."""

    name: str
    path: Path


@dataclass(frozen=True, slots=True)
class PackedFile:
    """One file's bytes. `name` is the whole name with its folders, `folders` these in lower case."""

    name: str
    data: bytes

    @property
    def base(self) -> str:
        return PurePosixPath(self.name).name

    @property
    def stem(self) -> str:
        """The name without its folders and its last ending."""
        return PurePosixPath(self.name).stem

    @property
    def suffix(self) -> str:
        return PurePosixPath(self.name).suffix.lower()

    @property
    def folders(self) -> tuple[str, ...]:
        return tuple(part.lower() for part in PurePosixPath(self.name).parts[:-1])


def is_zip(file: NamedFile) -> bool:
    """Whether a file is a zip by its first bytes. Raises ImportRefused where it cannot be opened."""
    return _head(file).startswith((ZIP_MAGIC, _EMPTY_ZIP_MAGIC))


def unpacked_bytes(file: NamedFile) -> int:
    """A file's size; of a zip, that of the files in it, as it tells."""
    with suppress(*DAMAGED_ZIP):
        if zipfile.is_zipfile(file.path):
            with zipfile.ZipFile(file.path) as archive:
                return sum(info.file_size for info in archive.infolist())
    return file.path.stat().st_size


def members(files: Sequence[NamedFile]) -> Iterator[PackedFile]:
    """Every file, and every file inside of a zip, in the order of their names.

    Raises ImportRefused for a damaged or locked zip, one that holds a zip or a path that leads out of it, or
    one that is larger than allowed once it is open.
    """
    read = 0
    for file in files:
        found = _zip_members(file) if is_zip(file) else iter([_plain_member(file)])
        for member in found:
            read += len(member.data)
            if read > MAX_ALL_BYTES:
                raise unreadable(
                    f"holds more than {MAX_ALL_BYTES // 1024**2} MB once it is open. Split it.",
                    file=file.name,
                )
            yield member


def _head(file: NamedFile) -> bytes:
    try:
        with file.path.open("rb") as stream:
            return stream.read(4)
    except OSError as error:
        raise unreadable(f"cannot be opened: {error.strerror or error}.", file=file.name) from error


def _plain_member(file: NamedFile) -> PackedFile:
    if file.path.stat().st_size > MAX_MEMBER_BYTES:
        raise unreadable(_too_large(), file=file.name)
    return PackedFile(name=file.name, data=file.path.read_bytes())


def _too_large() -> str:
    return f"is larger than {MAX_MEMBER_BYTES // 1024**2} MB; no single file of this kind may be."


def _zip_members(file: NamedFile) -> Iterator[PackedFile]:
    try:
        with zipfile.ZipFile(file.path) as archive:
            infos = [
                info for info in archive.infolist() if not info.is_dir() and not _is_clutter(info.filename)
            ]
            _check_archive(file.name, infos)
            for info in sorted(infos, key=lambda info: info.filename):
                yield PackedFile(name=info.filename, data=_unpacked(archive, info, file.name))
    except DAMAGED_ZIP as error:
        raise unreadable(
            f"is a zip file that cannot be read: {error}. Pack it again.", file=file.name
        ) from error


def _is_clutter(name: str) -> bool:
    return any(part in _CLUTTER for part in PurePosixPath(name).parts)


def _check_archive(name: str, infos: Sequence[zipfile.ZipInfo]) -> None:
    if any(info.filename == _SHEET_MEMBER for info in infos):
        raise unreadable(
            "is a zip or spreadsheet file. Unpack it, or save the sheet as CSV in UTF-8.", file=name
        )
    if not infos:
        raise unreadable("is a zip file without a file in it.", file=name)
    if len(infos) > MAX_MEMBERS:
        raise unreadable(
            f"holds {len(infos):,} files; at most {MAX_MEMBERS:,} are read. Split it.", file=name
        )
    names = [info.filename for info in infos]
    for member in names:
        if _leads_out(member):
            raise unreadable(
                f"holds a file named {member!r}, which leads out of it. Pack it again with plain names.",
                file=name,
            )
    twice, times = Counter(names).most_common(1)[0]
    if times > 1:
        raise unreadable(f"holds {twice!r} twice. Pack it again.", file=name)


def _leads_out(name: str) -> bool:
    path = PurePosixPath(name)
    return path.is_absolute() or ".." in path.parts or "\\" in name or "\x00" in name or ":" in name


def _unpacked(archive: zipfile.ZipFile, info: zipfile.ZipInfo, name: str) -> bytes:
    """A member's bytes. What its header says of its size is not believed."""
    if info.flag_bits & 0x1:
        raise unreadable(
            f"holds {info.filename}, which is locked with a password. Unlock it first.", file=name
        )
    with archive.open(info) as stream:
        data = stream.read(MAX_MEMBER_BYTES + 1)
    if len(data) > MAX_MEMBER_BYTES:
        raise unreadable(f"holds {info.filename}, which {_too_large()}", file=name)
    if data.startswith(ZIP_MAGIC):
        raise unreadable(f"holds another zip, {info.filename}. Unpack it first.", file=name)
    return data


def as_text(data: bytes) -> tuple[str, bool]:
    """The text of a file and whether it is UTF-8; an older one is read as Windows-1252 or Latin-1."""
    data = data.removeprefix(b"\xef\xbb\xbf")
    try:
        return data.decode("utf-8"), True
    except UnicodeDecodeError:
        pass
    try:
        return data.decode("cp1252"), False
    except UnicodeDecodeError:
        return data.decode("latin-1"), False
