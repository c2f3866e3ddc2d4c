from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from django.db import DatabaseError, connection, transaction

from annotation.core.events import log
from annotation.models import Event

if TYPE_CHECKING:
    from tests.annotation.cast import World
    from tests.annotation.conftest import SignIn

ROOM = "/p/harbour/settings/log/"


def happened(world: World, *verbs: str) -> None:
    for verb in verbs:
        log(project=world.project, actor=world.mona, verb=verb, target=world.project, data={"n": verb})


def test_the_page_lists_events_newest_first_page_by_page(world: World, signed_in: SignIn) -> None:
    olga = signed_in(world.olga)
    assert "No entries yet." in olga.get(ROOM).content.decode()
    log(project=world.other_project, actor=world.dan, verb="elsewhere", target=world.other_project)
    happened(world, *(f"act {number}" for number in range(60)), "<b>", "give back")
    page = olga.get(ROOM).content.decode()
    (older,) = re.findall(r'rel="next" href="([^"]+)"', page)
    rest = olga.get(older).content.decode()
    # The pages have 50 and 12 rows of events, and each page also has a head row and a foot row.
    assert (page.count("<tr>"), rest.count("<tr>")) == (52, 14)
    assert "Gave back" in page
    assert "&lt;b&gt;" in page
    assert "<b>" not in page
    assert re.search(r'<span class="muted">n</span> <span\s+dir="auto">act 0</span>', rest)
    assert "elsewhere" not in page + rest
    assert 'rel="next"' not in rest
    assert olga.get(f"{ROOM}?after=nothing").status_code == 422


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


def test_an_answer_reads_as_a_sentence_and_filters_find_it(world: World, signed_in: SignIn) -> None:
    answer = {"label": "no", "final_before": "yes", "final_source_before": "judge", "reason": "It says May."}
    log(project=world.project, actor=world.rex, verb="override", target=world.project, data=answer)
    happened(world, "change project")
    olga = signed_in(world.olga)
    page, about = (olga.get(f"{ROOM}?{only}").content.decode() for only in ("actor=rex", "about=project"))
    assert "Answered no; the judge had said yes" in page
    assert ("Changed project" in about, "Changed project" in page) == (True, False)
    assert Event.objects.count() == len(olga.get(f"{ROOM}?about=project").context["rows"]) == 2
    assert not olga.get(f"{ROOM}?about=files").context["rows"]
