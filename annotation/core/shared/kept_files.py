"""Stored files (exports and uploads), in a folder, or in object storage that hosts share.

A name is a path such as "exports/<public id>/harbour-scores.csv".
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from django.core.files import File
from django.core.files.storage import FileSystemStorage, Storage, storages


class _Movable(File):  # type: ignore[type-arg]  # a parameter for readers of types alone
    """A file that storage on the same file system moves instead of copying it."""

    def temporary_file_path(self) -> str:
        return str(self.name)


def kept_folder() -> Path | None:
    """Return the folder of the files; None if they are in object storage."""
    store = _store()
    return Path(store.location) if isinstance(store, FileSystemStorage) else None


def keep(name: str, path: Path, *, moved: bool = False) -> None:
    """Store a file under a name and replace an earlier file. With `moved`, the source file may be moved away."""
    with path.open("rb") as stream:
        _store().save(name, (_Movable if moved else File)(stream, name=str(path)))


def size_of(name: str) -> int | None:
    """Return the size in bytes; None if there is no such file."""
    store = _store()
    return store.size(name) if store.exists(name) else None


def opened(name: str) -> File[bytes]:
    """Open the file as a stream, which the caller must close. Raises FileNotFoundError if there is no such file."""
    return _store().open(name, "rb")


@contextmanager
def at_hand(names: Sequence[str]) -> Iterator[list[Path]]:
    """Provide the files on the local disk within the with block.

    Raises FileNotFoundError if object storage lacks a file.
    """
    store = _store()
    if isinstance(store, FileSystemStorage):
        yield [Path(store.path(name)) for name in names]
        return
    with TemporaryDirectory() as folder:
        paths = [Path(folder) / str(number) for number in range(len(names))]
        for name, path in zip(names, paths, strict=True):
            with store.open(name, "rb") as source, path.open("wb") as target:
                shutil.copyfileobj(source, target)
        yield paths


def folders_in(folder: str) -> Iterator[tuple[str, datetime]]:
    """Yield the subfolders that have files, each with the modification time of one of its files."""
    store = _store()
    with suppress(FileNotFoundError):
        for name in store.listdir(folder)[0]:
            _, files = store.listdir(f"{folder}/{name}")
            if files:
                yield name, store.get_modified_time(f"{folder}/{name}/{files[0]}")


def forget(folder: str) -> None:
    """Delete a folder and its files; nothing happens if there is no such folder."""
    store = _store()
    with suppress(FileNotFoundError):
        for name in store.listdir(folder)[1]:
            store.delete(f"{folder}/{name}")
        if isinstance(store, FileSystemStorage):
            store.delete(folder)


def _store() -> Storage:
    return storages["kept"]
