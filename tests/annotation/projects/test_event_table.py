"""The log as a file."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING

from annotation.core.events import log
from annotation.models import Event
from annotation.projects.event_table import EVENT_COLUMNS, as_bytes

if TYPE_CHECKING:
    from tests.annotation.cast import World


def lines(format_name: str) -> str:
    return b"".join(as_bytes(Event.objects.order_by("pk"), format_name)).decode()


def test_csv_has_a_header_and_json_in_one_cell(world: World) -> None:
    event = log(
        project=world.project,
        actor=world.mona,
        verb="assign",
        target=world.project,
        data={"sets": [1, 2], "of": "é"},
    )
    log(project=world.project, actor=None, verb="lapse", target=world.project)
    header, first, second = csv.reader(io.StringIO(lines("csv")))
    assert header == list(EVENT_COLUMNS)
    told = dict(zip(EVENT_COLUMNS, first, strict=True))
    assert told["at"] == event.created_at.isoformat()
    assert (told["person"], told["row"], told["event"]) == ("mona", world.project.public_id, event.public_id)
    assert json.loads(told["data"]) == {"sets": [1, 2], "of": "é"}
    assert dict(zip(EVENT_COLUMNS, second, strict=True))["person"] == ""


def test_no_cell_acts_as_a_formula(world: World) -> None:
    log(project=world.project, actor=None, verb="=1+1", target=world.project, data={"=a": "=b"})
    _, line = csv.reader(io.StringIO(lines("csv")))
    assert not any(cell.startswith(("=", "+", "-", "@")) for cell in line)
    assert line[1] == "'=1+1"


def test_jsonl_holds_objects_and_null(world: World) -> None:
    log(project=world.project, actor=None, verb="lapse", target=world.project, data={"sets": [1]})
    told = json.loads(lines("jsonl"))
    assert list(told) == list(EVENT_COLUMNS)
    assert (told["person"], told["data"]) == (None, {"sets": [1]})


def test_an_empty_log_is_a_header_or_nothing(world: World) -> None:
    Event.objects.none()
    assert lines("csv") == ",".join(EVENT_COLUMNS) + "\n"
    assert lines("jsonl") == ""
