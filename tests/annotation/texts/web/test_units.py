from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from annotation.assessing.services.assign import assign
from annotation.models import Summary, Unit
from annotation.texts.queries.unit_texts import current_units, token_of
from annotation.texts.services.change_units import join_units
from tests.annotation.conftest import HTMX
from tests.says import says

if TYPE_CHECKING:
    from django.test import Client

    from tests.annotation.cast import World
    from tests.annotation.conftest import SignIn

ROOM = "/p/harbour/units/"


def page_of(summary: Summary) -> str:
    return f"{ROOM}{summary.public_id}/"


def on(summary: Summary, number: int, **more: object) -> dict[str, object]:
    units = current_units(summary)
    return {"unit": units[number - 1].public_id, "seen": token_of(units), "number": number, **more}


def texts(summary: Summary) -> list[str]:
    return [summary.text[unit.start : unit.end] for unit in current_units(summary)]


def test_the_list_leads_to_the_units_of_the_first_text_of_a_set(world: World, mona: Client) -> None:
    bridge = world.sets["bridge"]
    rows = mona.get(ROOM).context["rows"]
    # Each set has one reference and a summary of each of two systems; only "port" has answers.
    counted = [(row.external_id, row.references, row.tested, row.is_judged) for row in rows]
    assert counted == [("bridge", 1, 2, False), ("port", 1, 2, True)]
    assert sum(row.units for row in rows) == Unit.objects.filter(summary__isnull=False).count()
    assert [row.external_id for row in mona.get(f"{ROOM}?is_judged=false").context["rows"]] == ["bridge"]
    assert f"{ROOM}sets/{bridge.public_id}/" in mona.get(ROOM).content.decode()
    assert mona.get(f"{ROOM}sets/{bridge.public_id}/")["Location"] == page_of(world.references["bridge"])
    html = mona.get(page_of(world.references["bridge"])).content.decode()
    assert f"/scores/sets/{bridge.public_id}/" in html
    assert page_of(world.summaries["bridge", "alder"]) in html


def test_plain_forms_do_everything_and_come_back_to_the_unit(world: World, mona: Client) -> None:
    reference = world.references["bridge"]
    page = page_of(reference)
    # "because" begins at 28.
    assert mona.post(f"{page}split/", on(reference, 1, at=28))["Location"] == f"{page}#unit-1"
    assert texts(reference)[:2] == ["The harbour closes in April", "because its wall is weak."]
    assert mona.post(f"{page}join/", on(reference, 2))["Location"] == f"{page}#unit-2"
    assert texts(reference)[1] == "because its wall is weak. Ferries move to the southern quay."


def test_a_change_of_older_units_is_refused_and_shows_the_newer_ones(world: World, mona: Client) -> None:
    reference = world.references["bridge"]
    sent = on(reference, 1, at=28)
    join_units(summary=reference, by=world.olga, unit_id=current_units(reference)[0].public_id)
    answer = mona.post(f"{page_of(reference)}split/", sent)
    html = answer.content.decode()
    assert answer.status_code == 409
    assert "Someone changed the units of this summary" in html
    assert answer.context["cut"].token == token_of(current_units(reference))


@pytest.mark.parametrize(
    ("verb", "data", "said"),
    [
        ("split", {"at": ""}, "Choose where"),
        ("split", {"at": "0"}, "reaches from 0 to 53"),
        ("split", {"at": "9" * 5000}, "Choose where"),
    ],
)
def test_what_makes_no_sense_is_said_on_the_page(
    world: World, mona: Client, verb: str, data: dict[str, str], said: str
) -> None:
    reference = world.references["bridge"]
    answer = mona.post(f"{page_of(reference)}{verb}/", on(reference, 1, **data))
    assert answer.status_code in (409, 422)
    assert said in answer.content.decode()


def test_judged_units_have_no_forms(world: World, mona: Client) -> None:
    html = mona.get(page_of(world.references["port"])).content.decode()
    assert "so its units stay as they are" in html
    assert "/join/" not in html
    assert "/split/" not in html


def test_the_blind_see_no_system_no_count_and_not_what_they_have_to_judge(
    world: World, signed_in: SignIn
) -> None:
    world.ana.memberships.update(roles=["owner", "assessor"])
    assign(document_set=world.sets["bridge"], assessor=world.ana, by=None, seed=1)
    ana = signed_in(world.ana)
    pages = [
        ROOM,
        *(page_of(world.summaries["port", name]) for name in world.systems),
        page_of(world.references["port"]),
    ]
    for address in pages:
        for headers in ({}, HTMX):
            answer = ana.get(address, headers=headers)
            html = answer.content.decode()
            assert answer.status_code == 200
            told = [name for name in ("alder", "birch", "lexical", "answers to checks") if says(html, name)]
            assert (address, told) == (address, [])
    assert not says(b"".join(ana.get(f"{ROOM}?file=csv").streaming_content).decode(), "alder")
    for summary in (world.references["bridge"], world.summaries["bridge", "alder"]):
        assert ana.get(page_of(summary)).status_code == 403


def test_white_space_of_the_text_does_not_shift_the_places(world: World, mona: Client) -> None:
    # A browser counts \r\n as one character, so the form sends offsets with the words.
    row = Summary.objects.create(
        document_set=world.sets["bridge"], is_reference=True, external_id="crlf", text="One\r\n\r\ntwo three"
    )
    Unit.objects.create(summary=row, position=1, start=0, end=16)
    html = mona.get(page_of(row)).content.decode()
    assert '<option value="7">2. two</option><option value="11">3. three</option>' in html


def test_an_empty_summary_has_a_page(world: World, mona: Client) -> None:
    summary = world.summaries["bridge", "alder"]
    Unit.objects.filter(summary=summary).delete()
    Summary.objects.filter(pk=summary.pk).update(text="")
    assert "This text is empty." in mona.get(page_of(summary)).content.decode()
