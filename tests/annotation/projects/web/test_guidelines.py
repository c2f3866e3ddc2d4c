"""Guidelines on their page, and a key away where people judge."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING, Any

import pytest

from annotation.assessing.services.assign import assign
from annotation.models import Guideline, Membership, Role
from annotation.projects.services.write_guidelines import write_guidelines
from annotation.reviewing.services.review import override

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.contrib.auth.models import User
    from django.test import Client

    from tests.annotation.cast import World

ROOM = "/p/harbour/settings/guidelines/"


@pytest.fixture
def mona(world: World, signed_in: Callable[[User], Client]) -> Client:
    return signed_in(world.mona)


def text_of(answer: Any) -> str:
    return html.unescape(answer.content.decode())


def test_the_first_version_begins_with_the_description(world: World, mona: Client) -> None:
    world.project.description = "Mark what is said."
    world.project.save(update_fields=["description"])
    page = text_of(mona.get(ROOM))
    assert re.search(r'<textarea id="text"[^>]*>\nMark what is said\.</textarea>', page)
    mona.post(f"{ROOM}write/", {"text": "# Units\n\nOne at a time.", "note": "", "seen": "0"})
    page = text_of(mona.get(ROOM))
    assert "Current: version 1" in page
    assert "<h3>Units</h3>" in page


def test_a_preview_keeps_nothing(mona: Client) -> None:
    page = text_of(
        mona.post(f"{ROOM}preview/", {"text": "**Bold** <b>plain</b>", "note": "Why.", "seen": "0"})
    )
    assert "<strong>Bold</strong>" in page
    assert 'value="Why."' in page
    assert not Guideline.objects.exists()


def test_html_in_them_is_shown_as_it_is(world: World, mona: Client) -> None:
    write_guidelines(project=world.project, text="<script>alert(1)</script> & <b>x</b>", by=world.mona)
    page = mona.get(ROOM).content.decode()
    assert "<script>alert" not in page
    assert "<b>x" not in page
    assert "&lt;script&gt;alert(1)" in page


def test_who_comes_second_sees_both_and_can_save_on_top(world: World, mona: Client) -> None:
    write_guidelines(project=world.project, text="Theirs here.", by=world.olga, note="First.")
    answer = mona.post(f"{ROOM}write/", {"text": "Ours here.", "note": "Because.", "seen": "0"})
    page = text_of(answer)
    assert answer.status_code == 409
    assert "olga has saved version 1" in page
    assert "<del>Theirs</del><ins>Ours</ins> here." in page.replace("\n  >", ">")
    (seen,) = re.findall(r'name="seen" value="(\d+)"', page)
    mona.post(f"{ROOM}write/", {"text": "Ours here.", "seen": seen})
    assert Guideline.objects.get(version=2).text == "Ours here."


@pytest.mark.parametrize("act", ["write", "preview"])
def test_a_fault_stands_at_the_text(mona: Client, act: str) -> None:
    answer = mona.post(f"{ROOM}{act}/", {"text": " ", "note": "My why."})
    assert answer.status_code == 422
    assert 'id="text-fault"' in text_of(answer)
    assert 'value="My why."' in text_of(answer)


def test_two_versions_compared(world: World, mona: Client) -> None:
    for text in ("One.", "One. Two.", "Three."):
        write_guidelines(project=world.project, text=text, by=world.mona)
    page = text_of(mona.get(f"{ROOM}?from=1&to=3"))
    assert "From version 1 to 3" in page
    assert "<del>One</del><ins>Three</ins>." in page.replace("\n  >", ">")
    assert mona.get(f"{ROOM}?from=1&to=9").status_code == 404
    assert mona.get(f"{ROOM}?from=one").status_code == 422


def test_an_old_version_says_that_it_is_old(world: World, mona: Client) -> None:
    for text in ("One.", "Two."):
        write_guidelines(project=world.project, text=text, by=world.mona)
    page = text_of(mona.get(f"{ROOM}1/"))
    assert "<p>One.</p>" in page
    assert "This is an older version" in page
    assert "This is an older version" not in text_of(mona.get(f"{ROOM}2/"))


def test_who_may_not_change_them_reads_them(world: World, signed_in: Callable[[User], Client]) -> None:
    write_guidelines(project=world.project, text="One.", by=world.mona)
    page = text_of(signed_in(world.ben).get(ROOM))
    assert "<p>One.</p>" in page
    assert "<textarea" not in page
    assert '<nav class="seg small tabs"' not in page


def test_they_are_a_key_away_where_people_judge(world: World, signed_in: Callable[[User], Client]) -> None:
    write_guidelines(project=world.project, text="One **at** a time.", by=world.mona)
    sitting = assign(document_set=world.sets["port"], assessor=world.ana, by=None)
    form = f"/p/harbour/work/{sitting.assignments.first().public_id}/"  # type: ignore[union-attr]
    review = f"/p/harbour/review/{world.check('alder', 1).public_id}/"
    for person, address in ((world.ana, form), (world.rex, review)):
        page = text_of(signed_in(person).get(address))
        assert 'data-guidelines="1"' in page
        assert "One <strong>at</strong> a time." in page


def test_until_there_are_some_the_description_stands_in(
    world: World, signed_in: Callable[[User], Client]
) -> None:
    world.project.description = "Mark what is said."
    world.project.save(update_fields=["description"])
    page = text_of(signed_in(world.rex).get(f"/p/harbour/review/{world.check('alder', 1).public_id}/"))
    assert "<p>Mark what is said.</p>" in page


def test_gaps_stand_on_the_page_of_whoever_writes_them(
    world: World, mona: Client, signed_in: Callable[[User], Client]
) -> None:
    check = world.check("birch", 1)
    override(check=check, by=world.rex, label="unsure", error_type="guideline_gap", reason="Is May a date?")
    page = text_of(mona.get(ROOM))
    assert "1 open" in page
    assert "Is May a date?" in page
    (place,) = re.findall(r'<a href="(/p/harbour/[^"#]*)#check-' + check.public_id, page)
    assert f'id="check-{check.public_id}"' in text_of(mona.get(place))
    write_guidelines(project=world.project, text="A month is a date.", by=world.mona)
    page = text_of(mona.get(ROOM))
    assert "0 open" in page
    assert re.search(r'resolved by <a href="/p/harbour/settings/guidelines/1/">version 1</a>', page)
    assert "Is May a date?" not in text_of(signed_in(world.rex).get(ROOM))


def test_a_manager_with_open_work_is_told_of_no_gap(world: World, mona: Client) -> None:
    Membership.objects.filter(user=world.mona).update(roles=[Role.MANAGER, Role.ASSESSOR])
    override(
        check=world.check("birch", 1), by=world.rex, label="no", error_type="guideline_gap", reason="Is May?"
    )
    assign(document_set=world.sets["port"], assessor=world.mona, by=None)
    page = text_of(mona.get(ROOM))
    assert "Is May?" not in page
    assert "1 open" not in page
    assert "hidden until you close your open sets" in page
