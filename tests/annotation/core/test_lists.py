from __future__ import annotations

import csv
import io
import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from annotation.core.events import log
from annotation.core.lists import Column, Filter, Viewer
from annotation.core.permissions import Verb
from annotation.core.refusals import Invalid, NotAllowed
from annotation.exports.services import request_export
from annotation.models import Event
from annotation.projects.queries.event_log import EVENTS
from tests.annotation.conftest import HTMX

if TYPE_CHECKING:
    from tests.annotation.cast import World
    from tests.annotation.conftest import ApiDoor, SignIn

LOG = "/p/harbour/settings/log/"
SECRET = replace(
    EVENTS,
    columns=(
        *EVENTS.columns,
        Column("secret", "verb", order="verb", search="verb", seen_by=lambda viewer: False),
    ),
    filters=(Filter("hidden", "verb", seen_by=lambda viewer: False),),
)


@pytest.fixture
def viewer(world: World) -> Viewer:
    for number in range(5):
        log(project=world.project, actor=world.mona, verb=f"act {number}", target=world.project)
    return Viewer(world.olga, world.project, frozenset(Verb))


def verbs(viewer: Viewer, **given: str) -> list[str]:
    return [event.verb for event in EVENTS.look(viewer, given).page()[0]]


def test_rows_are_sorted_searched_and_paged(viewer: Viewer) -> None:
    assert verbs(viewer, limit="2") == ["act 4", "act 3"]
    assert verbs(viewer, limit="2", sort="created_at") == ["act 0", "act 1"]
    assert verbs(viewer, q="T 3") == ["act 3"]
    after = EVENTS.look(viewer, {"limit": "2"}).page()[1]
    assert verbs(viewer, limit="2", after=after) == ["act 2", "act 1"]
    assert EVENTS.look(
        viewer, {"sort": "created_at", "after": Event.objects.latest("pk").public_id}
    ).page() == ([], "")


@pytest.mark.parametrize(
    "given",
    [
        {"sort": "verb__x"},
        {"limit": "0"},
        {"limit": "501"},
        {"limit": "x"},
        {"after": "nowhere"},
        {"q": "\x00"},
        {"limit": "0" * 5000 + "1"},
    ],
)
def test_an_address_that_makes_no_sense_is_refused(viewer: Viewer, given: dict[str, str]) -> None:
    with pytest.raises(Invalid) as refusal:
        EVENTS.look(viewer, given).page()
    assert refusal.value.field == next(iter(given))


def test_what_is_left_out_for_somebody_is_neither_shown_nor_gone_by(viewer: Viewer) -> None:
    look = SECRET.look(viewer, {})
    assert "secret" not in [column.name for column in look.columns]
    assert "secret" not in "".join(look.as_csv())
    for given in ({"sort": "secret"}, {"sort": "-secret"}, {"hidden": "act 3"}):
        with pytest.raises(NotAllowed):
            SECRET.look(viewer, given)
    only = replace(SECRET, columns=SECRET.columns[-1:])
    with pytest.raises(Invalid, match="no search"):
        only.look(viewer, {"q": "act"})


def test_a_strict_look_names_the_parameter_that_is_not_known(viewer: Viewer) -> None:
    with pytest.raises(Invalid, match="no parameter 'cursor'"):
        EVENTS.look(viewer, {"cursor": "1"}, is_strict=True)


def test_the_page_sorts_by_links_and_htmx_gets_the_list_alone(viewer: Viewer, signed_in: SignIn) -> None:
    client = signed_in(viewer.person)
    page = client.get(LOG).content.decode()
    assert 'aria-sort="descending"' in page
    (turned,) = re.findall(r'href="([^"]+sort=created_at)"', page)
    sorted_page = client.get(turned).content.decode()
    assert sorted_page.index("Acted 0") < sorted_page.index("Acted 4")
    assert 'aria-sort="ascending"' in sorted_page
    assert client.get(LOG, headers=HTMX).content.decode().lstrip().startswith('<section id="list-events"')
    assert "Nothing found" in client.get(f"{LOG}?q=nowhere").content.decode()


def test_the_file_holds_all_rows_and_no_formula(viewer: Viewer, signed_in: SignIn) -> None:
    log(project=viewer.project, actor=None, verb="=1+1", target=viewer.project)
    answer = signed_in(viewer.person).get(f"{LOG}?file=csv&sort=created_at")
    rows = list(csv.DictReader(io.StringIO(b"".join(answer.streaming_content).decode())))
    assert [row["verb"] for row in rows] == [*(f"act {number}" for number in range(5)), "'=1+1"]
    assert (rows[0]["actor"], rows[-1]["actor"]) == ("mona", "")
    assert answer["Content-Disposition"] == 'attachment; filename="harbour-events.csv"'


def test_the_api_lists_the_columns_and_filters_by_choices(world: World, client_of: ApiDoor) -> None:
    for level in ("scores", "units"):
        request_export(project=world.project, level=level, format="csv", by=world.mona)
    client, address = client_of("mona"), "/api/v1/projects/harbour/exports/"
    [row] = client.get(f"{address}?level=units").json()["results"]
    assert (row["level"], row["state"], row["requested_by"]) == ("units", "waiting", "mona")
    assert [row["level"] for row in client.get(f"{address}?sort=level").json()["results"]] == [
        "scores",
        "units",
    ]
    answer = client.get(f"{address}?level=secrets")
    assert (answer.status_code, answer.json()["error"]["field"]) == (422, "level")
