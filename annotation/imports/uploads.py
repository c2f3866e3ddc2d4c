"""Files that came over a wire, put on the disk under names of ours for as long as they are read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from annotation.core.refusals import Invalid
from annotation.imports.formats import NamedFile

MOST_FILES = 100
"""As many as one request may bring, at any door."""


@dataclass(frozen=True, slots=True)
class Upload:
    """One file as it was sent: what people call it, its size in bytes where that is known, and its content."""

    name: str
    size: int
    chunks: Iterable[bytes]


@contextmanager
def staged(uploads: Iterable[Upload], *, most_bytes: int) -> Iterator[tuple[NamedFile, ...]]:
    """The files on the disk, gone when the block ends.

    Raises Invalid (field `files`) where the sizes that are given are more than `most_bytes` together.
    """
    given = list(uploads)
    if sum(one.size for one in given) > most_bytes:
        raise Invalid(
            f"These files have more than {most_bytes // 1024**2} MB together. Import them in parts, or ask the "
            "operator of this server to import them on the server.",
            field="files",
        )
    with TemporaryDirectory() as folder:
        files = []
        for number, one in enumerate(given, start=1):
            path = Path(folder) / str(number)
            with path.open("wb") as stream:
                stream.writelines(one.chunks)
            files.append(NamedFile(one.name or path.name, path))
        yield tuple(files)
