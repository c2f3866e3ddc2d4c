"""The log's page: filters, pages, ways to what it speaks of, files."""

from __future__ import annotations

import csv
import html
import io
import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from annotation.core.events import log
from annotation.models import Event
from annotation.projects.services.change_project import change_project
from annotation.projects.services.write_guidelines import write_guidelines
from annotation.reviewing.services.review import override

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.contrib.auth.models import User
    from django.test import Client

    from tests.annotation.cast import World

ROOM = "/p/harbour/settings/log/"


@pytest.fixture
def olga(world: World, signed_in: Callable[[User], Client]) -> Client:
    return signed_in(world.olga)


def text_of(answer: Any) -> str:
    return html.unescape(answer.content.decode())


def file_of(answer: Any) -> str:
    return b"".join(answer.streaming_content).decode()


def test_who_did_what_to_what_with_a_way_there(olga: Client, world: World) -> None:
    check = world.check("alder", 1)
    override(check=check, by=world.rex, label="no", reason="Not April.")
    write_guidelines(project=world.project, text="One.", by=world.mona)
    page = text_of(olga.get(ROOM))
    assert re.search(r">rex</a>.*?<td>answered a claim</td>", page, re.DOTALL)
    assert f'href="/p/harbour/review/{check.public_id}/">check</a>' in page
    assert 'href="/p/harbour/settings/guidelines/1/">guideline</a>' in page
    assert "Not April." in page


def test_what_an_import_changed_is_counted_and_a_rule_is_named(olga: Client, world: World) -> None:
    counts = {"file": "rows.csv", "changed": {"summaries": 3}}
    log(project=world.project, actor=world.mona, verb="import", target=world.project, data=counts)
    change_project(project=world.project, by=world.mona, blend="weighted")
    page = text_of(olga.get(ROOM))
    assert "summaries 3" in page
    assert "blend Human first → Weighted" in page


def test_a_way_is_shown_to_those_whom_it_lets_in(world: World, signed_in: Callable[[User], Client]) -> None:
    check = world.check("alder", 1)
    override(check=check, by=world.rex, label="no")
    assert f"/review/{check.public_id}/" not in text_of(signed_in(world.mona).get(ROOM))


def test_old_and_new_values_are_told(olga: Client, world: World) -> None:
    change_project(project=world.project, by=world.mona, composite_weight=0.5, name="Port study")
    page = text_of(olga.get(ROOM))
    assert "weight of coverage (a) 0.6667 → 0.5" in page
    assert "name Harbour study → Port study" in page


def test_filters_by_address(olga: Client, world: World) -> None:
    override(check=world.check("alder", 1), by=world.rex, label="no")
    log(project=world.project, actor=None, verb="lapse", target=world.project)
    shown = {
        query: re.findall(
            r"<td>(answered a claim|returned an expired set to the queue)</td>",
            text_of(olga.get(f"{ROOM}?{query}")),
        )
        for query in ("verb=override", "person=rex", "person=:program", "kind=project", "first=2100-01-01")
    }
    answered, lapsed = ["answered a claim"], ["returned an expired set to the queue"]
    assert list(shown.values()) == [answered, answered, lapsed, lapsed, []]


def test_verbs_are_chosen_by_what_they_are_called(olga: Client, world: World) -> None:
    override(check=world.check("alder", 1), by=world.rex, label="no")
    log(project=world.project, actor=None, verb="assign", target=world.project)
    page = text_of(olga.get(f"{ROOM}?verb=override"))
    assert re.findall(r'<option value="(\w+)" (?:selected)?>([a-z ]+)</option>', page)[:2] == [
        ("override", "answered a claim"),
        ("assign", "assigned a set"),
    ]
    assert '<option value="override" selected>' in page


@pytest.mark.parametrize("query", ["first=tomorrow", "last=9999-12-31", "person=" + "x" * 151])
def test_a_filter_that_makes_no_sense(olga: Client, query: str) -> None:
    assert olga.get(f"{ROOM}?{query}").status_code == 422


def test_older_events_follow_with_the_same_filter(olga: Client, world: World) -> None:
    for number in range(60):
        log(project=world.project, actor=world.mona, verb=f"act {number % 2}", target=world.project)
    for number in range(45):
        log(project=world.project, actor=world.mona, verb="act 0", target=world.project, data={"n": number})
    page = text_of(olga.get(f"{ROOM}?verb=act+0"))
    (older,) = re.findall(r'rel="next" href="(\?[^"]+)"', page)
    rest = text_of(olga.get(f"{ROOM}{older}"))
    # 30 of the first 60 and all of the 45 are "act 0": 75, of which 50 stand on the first page.
    assert (page.count("<td>act 0</td>"), rest.count("<td>act 0</td>")) == (50, 25)
    assert "No older entries" in rest
    assert olga.get(f"{ROOM}?after=nothing").status_code == 404


def test_files_hold_what_is_filtered(olga: Client, world: World) -> None:
    override(check=world.check("alder", 1), by=world.rex, label="no", reason="=1+1")
    log(project=world.project, actor=None, verb="lapse", target=world.project)
    as_csv = olga.get(f"{ROOM}file/?format=csv&person=rex")
    assert as_csv["Content-Disposition"] == 'attachment; filename="harbour-log.csv"'
    header, line = csv.reader(io.StringIO(file_of(as_csv)))
    assert dict(zip(header, line, strict=True))["verb"] == "override"
    as_jsonl = file_of(olga.get(f"{ROOM}file/?format=jsonl"))
    assert [json.loads(line)["verb"] for line in as_jsonl.splitlines()] == ["override", "lapse"]
    assert olga.get(f"{ROOM}file/?format=xml").status_code == 422


def test_reading_the_log_leaves_no_trace(olga: Client, world: World) -> None:
    olga.get(ROOM)
    file_of(olga.get(f"{ROOM}file/"))
    assert not Event.objects.exists()


def test_hostile_data_is_shown_as_words(olga: Client, world: World) -> None:
    log(project=world.project, actor=None, verb="<b>", target=world.project, data={"<i>": ["<script>"]})
    page = olga.get(ROOM).content.decode()
    assert "<script>" not in page.replace("<script src", "")
    assert "&lt;script&gt;" in page
    assert "<i>" not in page
