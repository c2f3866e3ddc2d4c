"""A store of judge calls in a file."""

import sqlite3
import threading
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import astuple, fields
from pathlib import Path
from typing import Any

from evaluation.judging.errors import JudgeRefused, JudgeSettings
from evaluation.judging.protocol import StoredCall

_FIELDS = [field.name for field in fields(StoredCall)]
_COLUMNS = ", ".join(_FIELDS)
_WAIT_SECONDS = 30.0


class FileCallStore:
    """A call store in an SQLite file, which several processes can use at the same time.

    The file contains the requests to the judge, including texts, and its replies. Raises JudgeSettings if the file
    cannot be opened or has other content. Later, a read or write that fails raises JudgeRefused. Example:
    `OpenAIJudge("llama3.3", "http://127.0.0.1:11434/v1", store=FileCallStore("calls.sqlite3"))`.
    """

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)
        self._guard = threading.Lock()
        self._models: dict[str, dict[str, None]] = defaultdict(dict)
        try:
            self._connection = sqlite3.connect(
                self._path, timeout=_WAIT_SECONDS, isolation_level=None, check_same_thread=False
            )
            self._connection.execute(
                f"CREATE TABLE IF NOT EXISTS judge_calls ({_COLUMNS.replace('key', 'key TEXT PRIMARY KEY', 1)})"
            )
            self._connection.execute(f"SELECT {_COLUMNS} FROM judge_calls LIMIT 0")  # noqa: S608 - our own names
        except sqlite3.Error as error:
            told = f"cannot keep a judge's calls: {error}. Name another file, or remove this one."
            raise JudgeSettings(f"{self._path} {told}") from error

    async def get(self, key: str) -> StoredCall | None:
        """Return the stored call with this key; None if it does not exist."""
        rows = self._rows(f"SELECT {_COLUMNS} FROM judge_calls WHERE key = ?", (key,))  # noqa: S608 - our own names
        for call in (calls := [StoredCall(*row) for row in rows]):
            self._models[call.judge][call.model] = None
        return calls[0] if calls else None

    async def put(self, call: StoredCall) -> None:
        """Store a call. If the store has a call with the same key, that call is kept."""
        models = self._models[call.judge]
        if call.model not in models:
            newest = "SELECT model FROM judge_calls WHERE judge = ? ORDER BY rowid DESC LIMIT 1"
            models.update(dict.fromkeys(model for (model,) in self._rows(newest, (call.judge,))))
            models[call.model] = None
        places = ", ".join("?" for _ in _FIELDS)
        insert = f"INSERT OR IGNORE INTO judge_calls ({_COLUMNS}) VALUES ({places})"  # noqa: S608 - our own names
        self._rows(insert, astuple(call))

    def release(self, key: str) -> None:
        """Do nothing; this store lets nobody wait."""

    def model_changes(self) -> tuple[str, ...]:
        """Return a sentence for each judge whose server answered under more than one model name.

        The names come from the calls that this object has read or stored, and from the judge's newest call in the file
        before this object stored a new name.
        """
        return tuple(
            f"The served model has changed: {judge} answered as {', then as '.join(names)}."
            for judge, models in self._models.items()
            if len(names := [*filter(None, models)]) > 1
        )

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def _rows(self, statement: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        try:
            with self._guard:
                return self._connection.execute(statement, values).fetchall()
        except sqlite3.Error as error:
            told = f"no longer keeps the judge's calls: {error}. What it holds is not asked again."
            raise JudgeRefused(f"{self._path} {told}") from error
