from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING, Any

from annotation.assessing.services.assign import assign
from annotation.models import Guideline
from annotation.projects.services.write_guidelines import write_guidelines

if TYPE_CHECKING:
    from django.test import Client

    from tests.annotation.cast import World
    from tests.annotation.conftest import SignIn

ROOM = "/p/harbour/settings/guidelines/"


def text_of(answer: Any) -> str:
    return html.unescape(answer.content.decode())


def test_the_first_version_begins_with_five_rules(mona: Client) -> None:
    written = re.search(r'<textarea id="text"[^>]*>\n([^<]*)</textarea>', text_of(mona.get(ROOM)))
    assert written is not None
    assert written[1].count("- ") == 5
    mona.post(f"{ROOM}write/", {"text": "# Units\n\nOne at a time.", "note": "", "seen": "0"})
    page = text_of(mona.get(ROOM))
    assert "Current: version 1" in page
    assert "<h3>Units</h3>" in page


def test_who_comes_second_sees_both_and_can_save_on_top(world: World, mona: Client) -> None:
    write_guidelines(project=world.project, text="Theirs here.", by=world.olga, note="First.")
    answer = mona.post(f"{ROOM}write/", {"text": "Ours here.", "note": "Because.", "seen": "0"})
    page = text_of(answer)
    assert answer.status_code == 409
    assert all(words in page for words in ("Theirs here.", "Ours here."))
    (seen,) = re.findall(r'name="seen" value="(\d+)"', page)
    mona.post(f"{ROOM}write/", {"text": "Ours here.", "seen": seen})
    assert Guideline.objects.get(version=2).text == "Ours here."


def test_a_fault_stands_at_the_text(mona: Client) -> None:
    answer = mona.post(f"{ROOM}write/", {"text": " ", "note": "My why."})
    assert answer.status_code == 422
    assert 'id="text-fault"' in text_of(answer)
    assert 'value="My why."' in text_of(answer)


def test_who_may_not_change_them_reads_them(world: World, signed_in: SignIn) -> None:
    write_guidelines(project=world.project, text="One.", by=world.mona)
    page = text_of(signed_in(world.ben).get(ROOM))
    assert "<p>One.</p>" in page
    assert "<textarea" not in page
    assert '<nav class="seg small tabs"' not in page


def test_they_are_a_key_away_where_people_judge(world: World, signed_in: SignIn) -> None:
    write_guidelines(project=world.project, text="One **at** a time.", by=world.mona)
    assignment = assign(document_set=world.sets["port"], assessor=world.ana, by=None)
    form = f"/p/harbour/work/{assignment.readings.first().public_id}/"  # type: ignore[union-attr]
    review = f"/p/harbour/review/{world.check('alder', 1).public_id}/"
    for person, address in ((world.ana, form), (world.rex, review)):
        page = text_of(signed_in(person).get(address))
        assert "One <strong>at</strong> a time." in page


def test_the_description_is_no_guideline(world: World, signed_in: SignIn) -> None:
    # The description may mention the judge or systems, which people must not know before they answer.
    world.project.description = "The judge misses much."
    world.project.save(update_fields=["description"])
    page = text_of(signed_in(world.rex).get(f"/p/harbour/review/{world.check('alder', 1).public_id}/"))
    assert "The judge misses much." not in page
