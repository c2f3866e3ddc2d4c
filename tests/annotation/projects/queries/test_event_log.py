"""The log: what a filter lets through, pages that miss nothing, and that nothing in it changes."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import TYPE_CHECKING

import pytest
from django.db import DatabaseError, connection, transaction

from annotation.core.events import log
from annotation.core.refusals import NotFound
from annotation.models import Draw, Event
from annotation.projects.queries import event_log
from annotation.projects.queries.event_log import (
    PROGRAM,
    LogFilter,
    events_of,
    ids_by_kind,
    oldest_first,
    page_of,
    places_of,
    words_of,
)
from annotation.reviewing.services.comment import comment_on_claim
from annotation.reviewing.services.review import override

if TYPE_CHECKING:
    from tests.annotation.cast import World


def happened(world: World, *verbs: str) -> None:
    for verb in verbs:
        log(project=world.project, actor=world.mona, verb=verb, target=world.project)


def verbs(world: World, **wanted: object) -> list[str]:
    return [event.verb for event in events_of(world.project, LogFilter(**wanted))]  # type: ignore[arg-type]


def test_newest_first_and_of_this_project_alone(world: World) -> None:
    happened(world, "one", "two")
    log(project=world.other_project, actor=world.dan, verb="elsewhere", target=world.other_project)
    assert verbs(world) == ["two", "one"]


def test_each_filter(world: World) -> None:
    happened(world, "one")
    override(check=world.check("alder", 1), by=world.rex, label="no")
    log(project=world.project, actor=None, verb="lapse", target=world.project)
    check = world.check("alder", 1).public_id
    assert verbs(world, verb="override") == verbs(world, person="rex") == ["override"]
    assert verbs(world, kind="check") == verbs(world, row=check) == ["override"]
    assert verbs(world, person=PROGRAM) == ["lapse"]
    assert verbs(world, person="rex", verb="lapse") == []


def test_days_are_whole_and_both_included(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    for hour in ("2026-03-01T23:59:59", "2026-03-02T00:00:00", "2026-03-03T23:59:59", "2026-03-04T00:00:00"):
        at = datetime.fromisoformat(hour).replace(tzinfo=UTC)
        monkeypatch.setattr("django.utils.timezone.now", lambda at=at: at)
        happened(world, hour)
    monkeypatch.undo()
    wanted = {"first": date(2026, 3, 2), "last": date(2026, 3, 3)}
    assert verbs(world, **wanted) == ["2026-03-03T23:59:59", "2026-03-02T00:00:00"]


def test_the_pages_hold_every_event_once(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    at = datetime(2026, 3, 1, tzinfo=UTC)
    with monkeypatch.context() as clock:
        clock.setattr("django.utils.timezone.now", lambda: at)
        happened(world, *"abcdefgh")
    monkeypatch.setattr(event_log, "ON_A_PAGE", 3)
    pages, after = [], ""
    while True:
        page = page_of(world.project, LogFilter(), after=after)
        pages.append("".join(event.verb for event in page.events))
        if not page.older:
            break
        after = page.older
    assert pages == ["hgf", "edc", "ba"]


def test_an_event_of_another_project_begins_no_page(world: World) -> None:
    event = log(project=world.other_project, actor=None, verb="elsewhere", target=world.other_project)
    with pytest.raises(NotFound):
        page_of(world.project, LogFilter(), after=event.public_id)


def test_the_stream_holds_every_event_once(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_log, "AT_ONCE", 2)
    happened(world, *"abcd")
    assert [event.verb for event in oldest_first(world.project, LogFilter())] == list("abcd")


def test_words_to_choose_from(world: World) -> None:
    happened(world, "one", "one")
    log(project=world.project, actor=None, verb="lapse", target=world.judge)
    assert words_of(world.project) == (["lapse", "one"], ["judge", "project"], ["mona"])


def test_a_row_is_seen_where_its_page_is(world: World) -> None:
    claim = world.check("alder", 1).claim
    comment = comment_on_claim(project=world.project, claim=claim, by=world.rex, text="Hm.")
    peer, model = world.peers["port", "alder"], world.models["port"]
    comparison = world.comparison("port", "alder")
    draw = Draw.objects.create(project=world.project, method="uniform", seed=1, frame=[])
    for row in (peer, model, comparison, claim, draw):
        log(project=world.project, actor=None, verb="touch", target=row)
    places = places_of(world.project, ids_by_kind(list(Event.objects.all())))
    assert places == {
        ("comment", comment.public_id): ("comment", claim.public_id),
        ("summary", peer.public_id): ("summary", peer.public_id),
        ("summary", model.public_id): ("model summary", model.public_id),
        ("comparison", comparison.public_id): ("comparison", peer.public_id),
        ("claim", claim.public_id): ("claim", model.public_id),
        ("draw", draw.public_id): ("random sample of checks", draw.public_id),
    }


def test_an_event_is_added_and_nothing_else(world: World) -> None:
    happened(world, "one")
    event = Event.objects.get()
    event.verb = "other"
    for change in (
        event.save,
        event.delete,
        Event.objects.all().delete,
        world.project.events.all().delete,
        lambda: Event.objects.update(verb="other"),
        lambda: Event.objects.bulk_update([event], ["verb"]),
    ):
        with pytest.raises(TypeError, match="append-only"), transaction.atomic():
            change()
    assert Event.objects.get().verb == "one"


@pytest.mark.parametrize(
    "statement", ["UPDATE annotation_event SET verb = 'x'", "DELETE FROM annotation_event"]
)
def test_the_database_refuses_as_well(world: World, statement: str) -> None:
    if statement.startswith("DELETE") and connection.vendor == "sqlite":
        pytest.skip("SQLite's tables are emptied by DELETE, so no trigger stands in its way there")
    happened(world, "one")
    with (
        pytest.raises(DatabaseError, match="append-only"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(statement)
    assert Event.objects.get().verb == "one"
