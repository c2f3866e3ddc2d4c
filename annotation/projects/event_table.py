"""The log of a project as a file, written while it is being fetched."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from annotation.core.paging import batches
from annotation.core.tables.as_csv import cell

if TYPE_CHECKING:
    from annotation.models import Event

EVENT_COLUMNS = ("at", "verb", "person", "kind", "row", "data", "event")
"""`person` is empty (null) where the program acted by itself; `row` and `event` are public ids."""

EVENT_CONTENT_TYPES = {"csv": "text/csv; charset=utf-8", "jsonl": "application/jsonl; charset=utf-8"}
"""By the name of the format."""

_EVENTS_AT_ONCE = 500


def as_bytes(events: Iterable[Event], format_name: str) -> Iterator[bytes]:
    """Some events as CSV or JSONL, piece by piece.

    In CSV `data` is one cell of JSON, and no cell acts as a formula; in JSONL it is an object.
    """
    if format_name == "csv":
        yield _csv([EVENT_COLUMNS])
    for some in batches(events, _EVENTS_AT_ONCE):
        if format_name == "csv":
            yield _csv(_cells(event) for event in some)
        else:
            yield "".join(f"{_json(_line(event))}\n" for event in some).encode()


def _line(event: Event) -> dict[str, object]:
    who = event.actor.username if event.actor else None
    values = (
        event.created_at.isoformat(),
        event.verb,
        who,
        event.target_kind,
        event.target_id,
        event.data,
        event.public_id,
    )
    return dict(zip(EVENT_COLUMNS, values, strict=True))


def _cells(event: Event) -> list[str | int | float]:
    line = _line(event)
    return [cell(_json(value) if isinstance(value, dict) else _text(value)) for value in line.values()]


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _csv(rows: Iterable[Iterable[object]]) -> bytes:
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode(errors="replace")
