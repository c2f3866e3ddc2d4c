"""A file is there as a whole or not at all."""

from __future__ import annotations

import io
import os
import secrets
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from annotation.core.refusals import Invalid

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

_EPOCH = (1980, 1, 1, 0, 0, 0)
"""The first that a zip can tell."""


def checked_path(path: Path) -> Path:
    """The path, if a file can be put there. Raises Invalid (field `path`) with what to do."""
    if not path.name:
        raise Invalid(f"{path} names no file.", field="path")
    if not path.parent.is_dir():
        raise Invalid(f"There is no folder {path.parent}. Make it, or name another one.", field="path")
    if path.is_dir():
        raise Invalid(f"{path} is a folder. Name a file in it.", field="path")
    if path.exists() and not path.is_file():
        raise Invalid(f"{path} is not a regular file and would be replaced. Name another one.", field="path")
    return path


class _Watched(io.BufferedWriter):
    """Calls somebody before each write."""

    def __init__(self, raw: io.RawIOBase, watch: Callable[[], None]) -> None:
        super().__init__(raw)
        self._watch = watch

    def write(self, content: ReadableBuffer) -> int:
        self._watch()
        return super().write(content)


@contextmanager
def atomic_file(path: Path, watch: Callable[[], None] = lambda: None) -> Iterator[BinaryIO]:
    """A stream whose bytes stand at `path` once the block has ended well, and nowhere if it has not.

    `watch` is called before each write, and ends the block by what it raises. What stood there before is replaced in
    one step. Raises OSError as the file system does.
    """
    part = path.with_name(f".{path.name[:100]}.{secrets.token_hex(6)}.part")
    try:
        with _Watched(part.open("xb", buffering=0), watch) as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    _sync_folder(path.parent)


def member_of_zip(name: str) -> zipfile.ZipInfo:
    """A compressed file in a zip, without a time: the same whenever the same is written."""
    member = zipfile.ZipInfo(name, _EPOCH)
    member.compress_type = zipfile.ZIP_DEFLATED
    return member


def _sync_folder(folder: Path) -> None:
    """Make the new name last through a power cut."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
