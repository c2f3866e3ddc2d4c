"""A manager hands out document sets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from annotation.assessing.services.assign import assign
from annotation.core.paging import ROWS_ON_A_PAGE
from annotation.models import Sitting, System
from tests.annotation.conftest import HTMX
from tests.annotation.laying import add_sets, begin, judge_and_close
from tests.says import says

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.contrib.auth.models import User
    from django.test import Client

    from tests.annotation.cast import World

ROOM = "/p/harbour/assignments/"
ASSIGN = f"{ROOM}assign/"
PLAN = {"way": "plan", "people": ["ana", "ben"], "per_set": "1", "avoid_own": "on"}


@pytest.fixture
def mona(world: World, signed_in: Callable[[User], Client]) -> Client:
    return signed_in(world.mona)


def test_assessors_and_sets_can_be_chosen(world: World, mona: Client) -> None:
    context = mona.get(ROOM).context
    assert context["assessors"] == ["ana", "ben", "olga"]
    assert [(row.name, row.comparisons, row.sittings) for row in context["sets"]] == [
        ("bridge", 2, 0),
        ("port", 2, 0),
    ]


# By hand


def test_a_plain_form_gives_sets_and_comes_back(world: World, mona: Client) -> None:
    chosen = [document_set.public_id for document_set in world.sets.values()]
    assert mona.post(ASSIGN, {"way": "hand", "assessor": "ana", "sets": chosen})["Location"] == ROOM
    assert Sitting.objects.filter(assessor=world.ana).count() == 2


def test_htmx_gets_the_room_with_the_new_sitting(world: World, mona: Client) -> None:
    data = {"way": "hand", "assessor": "ben", "sets": world.sets["port"].public_id}
    page = mona.post(ASSIGN, data, headers=HTMX).content.decode()
    assert page.lstrip().startswith('<div id="assignments"')
    assert "ben has 1 document set to judge." in page


@pytest.mark.parametrize("headers", [{}, HTMX], ids=["page", "htmx"])
@pytest.mark.parametrize("assessor", ["ana", "rex", "dan", ""])
def test_what_cannot_be_given_is_refused_on_the_form(
    world: World, mona: Client, assessor: str, headers: dict[str, str]
) -> None:
    sets = [] if assessor == "ana" else [world.sets["port"].public_id]
    data = {"way": "hand", "assessor": assessor, "sets": sets}
    answer = mona.post(ASSIGN, data, headers=headers)
    assert answer.status_code == 422
    assert b'class="fault"' in answer.content
    assert not Sitting.objects.exists()


def test_a_set_of_another_project_cannot_be_given(world: World, signed_in: Callable[[User], Client]) -> None:
    world.dan.memberships.update(roles=["owner", "assessor"])
    data = {"way": "hand", "assessor": "dan", "sets": world.sets["port"].public_id}
    assert signed_in(world.dan).post("/p/quarry/assignments/assign/", data).status_code == 422
    assert not Sitting.objects.exists()


# Previews


def hidden(answer: Any) -> dict[str, str]:
    plan = answer.context["plan"]
    return {"seed": str(plan.order.seed), "expected": plan.fingerprint}


@pytest.mark.parametrize("headers", [{}, HTMX], ids=["page", "htmx"])
def test_a_plan_is_shown_before_it_is_done(world: World, mona: Client, headers: dict[str, str]) -> None:
    shown = mona.post(ASSIGN, {**PLAN, "act": "preview"}, headers=headers)
    assert shown.status_code == 200
    assert b"2 assignments for 2 people, 1 each; 4 summaries; every set by 1." in shown.content
    assert hidden(shown)["expected"].encode() in shown.content
    assert not Sitting.objects.exists()
    done = mona.post(ASSIGN, {**PLAN, "act": "give", **hidden(shown)}, headers=headers)
    assert done.status_code in (200, 302)
    assert Sitting.objects.count() == 2


def test_whoever_gives_themselves_work_is_told_what_it_closes(
    world: World, signed_in: Callable[[User], Client]
) -> None:
    olga, told = signed_in(world.olga), b"This includes you: scores, verdicts"
    assert told in olga.post(ASSIGN, {**PLAN, "people": ["ana", "olga"], "act": "preview"}).content
    assert told not in olga.post(ASSIGN, {**PLAN, "act": "preview"}).content


def test_the_form_keeps_what_was_typed_beside_the_preview(world: World, mona: Client) -> None:
    page = mona.post(ASSIGN, {**PLAN, "act": "preview"}).content.decode()
    assert 'name="way" value="plan" checked' in page
    assert 'name="people" value="ben" checked' in page


def test_a_plan_that_changed_since_is_refused(world: World, mona: Client) -> None:
    shown = mona.post(ASSIGN, {**PLAN, "act": "preview"})
    assign(document_set=world.sets["port"], assessor=world.ana, by=None)
    done = mona.post(ASSIGN, {**PLAN, "act": "give", **hidden(shown)})
    assert done.status_code == 422
    assert b"have changed since the preview" in done.content
    assert Sitting.objects.count() == 1


@pytest.mark.parametrize(
    ("form", "sittings", "words"),
    [
        ({"way": "more", "assessor": "ben", "count": "1"}, 1, "ben has 1 document set to judge."),
        ({"way": "queue", "per_set": "2"}, 4, "4 assignments added to the queue."),
        ({**PLAN, "per_set": "2"}, 4, "4 assignments created."),
    ],
)
def test_every_way_of_giving_sets(
    world: World, mona: Client, form: dict[str, Any], sittings: int, words: str
) -> None:
    assert words in mona.post(ASSIGN, form, headers=HTMX).content.decode()
    assert Sitting.objects.count() == sittings


@pytest.mark.parametrize(
    "form",
    [
        {"way": "magic"},
        {**PLAN, "per_set": "three"},
        {**PLAN, "seed": "9" * 30},
        {**PLAN, "per_set": "3"},
    ],
)
@pytest.mark.parametrize("act", ["preview", "give"])
def test_a_senseless_form_is_refused(world: World, mona: Client, form: dict[str, Any], act: str) -> None:
    assert mona.post(ASSIGN, {**form, "act": act}).status_code == 422
    assert not Sitting.objects.exists()


# Lists


def test_sittings_are_listed_by_state(world: World, mona: Client) -> None:
    open_one = assign(document_set=world.sets["port"], assessor=world.ana, by=None)
    judge_and_close(assign(document_set=world.sets["port"], assessor=world.ben, by=None))
    begin(open_one)
    rows = mona.get(ROOM).context["page"].rows
    assert [(row.assessor, row.document_set, row.summaries, row.judged_units) for row in rows] == [
        ("ana", "port", 2, 1)
    ]
    rows = mona.get(f"{ROOM}?state=closed").context["page"].rows
    assert [(row.assessor, row.judged_units) for row in rows] == [("ben", 4)]
    assert mona.get(f"{ROOM}?state=waiting").context["page"].rows == ()


def test_who_judges_a_set_does_not_see_how_much_others_judged_in_it(
    world: World, signed_in: Callable[[User], Client]
) -> None:
    begin(assign(document_set=world.sets["port"], assessor=world.ben, by=None))
    begin(assign(document_set=world.sets["bridge"], assessor=world.ben, by=None))
    assign(document_set=world.sets["port"], assessor=world.ana, by=None)
    world.ana.memberships.update(roles=["assessor", "manager"])
    answer = signed_in(world.ana).get(ROOM)
    told = {(row.assessor, row.document_set): row.judged_units for row in answer.context["page"].rows}
    assert told == {("ana", "port"): 0, ("ben", "bridge"): 1, ("ben", "port"): None}
    assert b"hidden" in answer.content


# What waits for nobody


@pytest.mark.parametrize("headers", [{}, HTMX], ids=["page", "htmx"])
def test_what_waits_for_nobody_is_told_with_what_to_do(
    world: World, mona: Client, headers: dict[str, str]
) -> None:
    # Ana, Ben and Olga may assess: the fourth copy of each of the two sets is for nobody.
    preview = mona.post(ASSIGN, {"way": "queue", "per_set": "4", "act": "preview"})
    assert b"2 assignments will have no eligible assessor" in preview.content
    mona.post(ASSIGN, {"way": "queue", "per_set": "4"})
    page = " ".join(mona.get(ROOM).content.decode().split())
    assert "2 of 8 waiting assignments have no eligible assessor." in page
    done = mona.post(f"{ROOM}withdraw/", headers=headers, follow=True)
    assert b"2 assignments were removed from the queue." in done.content
    assert b"for nobody" not in mona.get(ROOM).content


def test_long_lists_come_in_pages_that_hold_everything_once(world: World, mona: Client) -> None:
    add_sets(world, [f"set-{n}" for n in range(ROWS_ON_A_PAGE + 5)])
    mona.post(ASSIGN, {"way": "queue", "per_set": "1"})
    first = mona.get(f"{ROOM}?state=waiting").context["page"]
    second = mona.get(f"{ROOM}?state=waiting&after={first.after}").context["page"]
    seen = [row.sitting_id for row in (*first.rows, *second.rows)]
    assert (len(first.rows), len(seen), len(set(seen))) == (50, 57, 57)
    assert second.after == ""


@pytest.mark.parametrize("query", ["state=magic", "after=nonsense"])
def test_a_list_that_is_not_there_is_refused(world: World, mona: Client, query: str) -> None:
    assert mona.get(f"{ROOM}?{query}").status_code == 422


def test_the_load_of_each_person_is_told(world: World, mona: Client) -> None:
    begin(assign(document_set=world.sets["port"], assessor=world.ana, by=None))
    assign(document_set=world.sets["bridge"], assessor=world.ana, by=None)
    judge_and_close(assign(document_set=world.sets["port"], assessor=world.ben, by=None))
    rows = mona.get(ROOM).context["loads"]
    told = [(row.person, row.open, row.drafts, row.closed, row.recalled, row.judged_units) for row in rows]
    assert told == [("ana", 2, 1, 0, 0, 1), ("ben", 0, 0, 1, 0, 4)]


# One sitting


@pytest.mark.parametrize("headers", [{}, HTMX], ids=["page", "htmx"])
@pytest.mark.parametrize(
    ("verb", "form", "state"),
    [("recall", {}, "recalled"), ("requeue", {}, "waiting"), ("reassign", {"assessor": "ben"}, "open")],
)
def test_a_sitting_is_taken_away_put_back_and_given_on(
    world: World, mona: Client, verb: str, form: dict[str, str], state: str, headers: dict[str, str]
) -> None:
    sitting = assign(document_set=world.sets["port"], assessor=world.ana, by=None)
    answer = mona.post(f"{ROOM}sittings/{sitting.public_id}/{verb}/", form, headers=headers)
    assert answer.status_code == (200 if headers else 302)
    rows = mona.get(f"{ROOM}?state={state}").context["page"].rows
    assert [row.document_set for row in rows] == ["port"]


@pytest.mark.parametrize("name", ["rex", "dan", ""])
def test_who_is_no_assessor_cannot_be_given_work(world: World, mona: Client, name: str) -> None:
    sitting = assign(document_set=world.sets["port"], assessor=world.ana, by=None)
    answer = mona.post(f"{ROOM}sittings/{sitting.public_id}/reassign/", {"assessor": name}, headers=HTMX)
    assert answer.status_code == 422
    assert Sitting.objects.get().assessor == world.ana


# Who wrote what


def test_the_author_of_a_system_is_named_and_taken_back(world: World, mona: Client) -> None:
    System.objects.filter(name="alder").update(kind="person")
    assert [row.system for row in mona.get(ROOM).context["authors"]] == ["alder"]
    address = f"{ROOM}authors/{world.systems['alder'].public_id}/"
    for name, person in (("ana", world.ana), ("", None)):
        assert mona.post(address, {"person": name})["Location"] == ROOM
        assert System.objects.get(name="alder").person == person
    assert mona.post(address, {"person": "dan"}).status_code == 422


def test_a_blind_manager_sees_no_system_on_the_page(
    world: World, signed_in: Callable[[User], Client]
) -> None:
    System.objects.filter(name="alder").update(kind="person", person=world.mona)
    world.mona.memberships.update(roles=["manager", "assessor"])
    assign(document_set=world.sets["port"], assessor=world.mona, by=None)
    client = signed_in(world.mona)
    page = client.get(ROOM).content.decode()
    assert not says(page, "alder")
    assert "own summary" not in page
    address = f"{ROOM}authors/{world.systems['alder'].public_id}/"
    assert client.post(address, {"person": "ana"}).status_code == 403


# The assessor's side of the queue


def test_an_assessor_takes_a_set_gives_it_back_and_takes_it_up(
    world: World, mona: Client, signed_in: Callable[[User], Client]
) -> None:
    mona.post(ASSIGN, {"way": "queue", "per_set": "1"})
    ana = signed_in(world.ana)
    assert ana.post("/p/harbour/work/pull/")["Location"] == "/p/harbour/work/"
    sitting = Sitting.objects.get(assessor=world.ana)
    assert ana.post("/p/harbour/work/pull/").status_code == 409
    address = f"/p/harbour/work/sets/{sitting.public_id}/"
    assert ana.post(f"{address}take-up/").status_code == 302
    assert signed_in(world.ben).post(f"{address}give-back/").status_code == 404
    assert ana.post(f"{address}give-back/").status_code == 302
    assert not Sitting.objects.filter(assessor__isnull=False).exists()
