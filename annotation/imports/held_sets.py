"""The document sets of a large file: some in memory, the others in a temporary file that has no name."""

from __future__ import annotations

import os
import pickle
import tempfile
import weakref
from collections.abc import Iterator, MutableMapping

from annotation.imports.dataset import SetData

SETS_IN_MEMORY = 500


class HeldSets(MutableMapping[str, SetData]):
    """Sets by their document_id, in the order in which they came.

    What is found here may be a copy: a set that was changed is set again.
    """

    def __init__(self) -> None:
        self._near: dict[str, SetData] = {}
        self._places: dict[str, int] = {}
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 - it goes with this object
        weakref.finalize(self, self._file.close)

    def __getitem__(self, name: str) -> SetData:
        if name in self._near:
            return self._near[name]
        self._file.seek(self._places[name])
        # Written by this object, into a file that nobody else can open.
        found: SetData = pickle.load(self._file)  # noqa: S301
        return found

    def __setitem__(self, name: str, one: SetData) -> None:
        self._places.setdefault(name, 0)
        self._near[name] = one
        if len(self._near) > SETS_IN_MEMORY:
            self._put_away(next(iter(self._near)))

    def __delitem__(self, name: str) -> None:
        del self._places[name]
        self._near.pop(name, None)

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, name: object) -> bool:
        return name in self._places

    def _put_away(self, name: str) -> None:
        self._places[name] = self._file.seek(0, os.SEEK_END)
        pickle.dump(self._near.pop(name), self._file, pickle.HIGHEST_PROTOCOL)
