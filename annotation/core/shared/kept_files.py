"""Files that outlast a request, exports and uploads: in a folder, or in object storage that several hosts share.

A name is a path below it, such as "exports/<public id>/harbour-scores.csv".
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
    """A folder on the same file system takes it in one step."""

    def temporary_file_path(self) -> str:
        return str(self.name)


def kept_folder() -> Path | None:
    """The folder that holds them; None where object storage does."""
    store = _store()
    return Path(store.location) if isinstance(store, FileSystemStorage) else None


def keep(name: str, path: Path, *, moved: bool = False) -> None:
    """Keep the content of a file under a name, in the place of what had it; `moved` may take the file away."""
    with path.open("rb") as stream:
        _store().save(name, (_Movable if moved else File)(stream, name=str(path)))


def size_of(name: str) -> int | None:
    """In bytes; None where there is no such file."""
    store = _store()
    return store.size(name) if store.exists(name) else None


def opened(name: str) -> File[bytes]:
    """The file as a stream, to be closed. Raises FileNotFoundError."""
    return _store().open(name, "rb")


@contextmanager
def at_hand(names: Sequence[str]) -> Iterator[list[Path]]:
    """The files on this machine's disk, for the length of a with block. FileNotFoundError for one to be fetched."""
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
    """The folders in a folder, and when the first of their files was kept."""
    store = _store()
    with suppress(FileNotFoundError):
        for name in store.listdir(folder)[0]:
            _, files = store.listdir(f"{folder}/{name}")
            if files:
                yield name, store.get_modified_time(f"{folder}/{name}/{files[0]}")


def forget(folder: str) -> None:
    """Take a folder's files away; it is no error if there are none."""
    store = _store()
    with suppress(FileNotFoundError):
        for name in store.listdir(folder)[1]:
            store.delete(f"{folder}/{name}")
        if isinstance(store, FileSystemStorage):
            store.delete(folder)


def _store() -> Storage:
    return storages["kept"]
