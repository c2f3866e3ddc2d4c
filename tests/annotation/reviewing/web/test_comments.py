"""Threads on their page, as fragments, and the notices that lead to them."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING, Any

from annotation.assessing.services.assign import assign
from annotation.core.notices import tell
from annotation.models import Comment, Notice, Sitting
from annotation.reviewing.services.comment import comment_on_claim
from annotation.reviewing.services.review import override
from tests.annotation.conftest import HTMX

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.contrib.auth.models import User
    from django.test import Client

    from tests.annotation.cast import World

    SignIn = Callable[[User], Client]


def text_of(answer: Any) -> str:
    return " ".join(html.unescape(answer.content.decode()).split())


def room_of(world: World) -> str:
    return f"/p/harbour/comments/claims/{world.check('alder', 1).claim.public_id}/"


def test_a_plain_form_comments_and_comes_back(world: World, signed_in: SignIn) -> None:
    client = signed_in(world.rex)
    answer = client.post(f"{room_of(world)}write/", {"text": "Is it April, @cleo?\n<b>No.</b>"})
    assert answer["Location"] == room_of(world)
    page = client.get(room_of(world)).content.decode()
    assert 'class="mention">@cleo</span>?\n&lt;b&gt;No.&lt;/b&gt;' in page
    assert "Posted. Notified: cleo." in page
    assert "The harbour closes in April" in page


def test_htmx_gets_the_thread_as_it_stands_then(world: World, signed_in: SignIn) -> None:
    answer = signed_in(world.rex).post(f"{room_of(world)}write/", {"text": "Hm."}, headers=HTMX)
    page = text_of(answer)
    assert page.lstrip().startswith('<section id="thread"')
    assert "Hm." in page


def test_a_fault_keeps_what_was_typed_in_its_place(world: World, signed_in: SignIn) -> None:
    typed = "x" * 4001
    answer = signed_in(world.rex).post(f"{room_of(world)}write/", {"text": typed}, headers=HTMX)
    assert (answer.status_code, answer["HX-Retarget"]) == (422, "#thread")
    assert typed in text_of(answer)
    assert 'id="comment-fault"' in text_of(answer)


def test_who_was_not_told_is_said(world: World, signed_in: SignIn) -> None:
    answer = signed_in(world.rex).post(f"{room_of(world)}write/", {"text": "@ana"}, headers=HTMX)
    assert "ana cannot read this and was not notified." in text_of(answer)


def test_a_name_that_nobody_has_is_said_and_the_comment_stays(world: World, signed_in: SignIn) -> None:
    page = text_of(signed_in(world.rex).post(f"{room_of(world)}write/", {"text": "@nobody?"}, headers=HTMX))
    assert "Nobody here is called @nobody: only members of the project can be notified." in page
    assert '<p class="words" dir="auto">@nobody?</p>' in page


def test_only_the_writer_takes_a_comment_back(world: World, signed_in: SignIn) -> None:
    claim = world.check("alder", 1).claim
    comment = comment_on_claim(project=world.project, claim=claim, by=world.rex, text="Hm.").comment
    address = f"/p/harbour/comments/{comment.public_id}/withdraw/"
    assert address not in text_of(signed_in(world.cleo).get(room_of(world)))
    assert signed_in(world.cleo).post(address).status_code == 404
    assert signed_in(world.rex).post(address)["Location"] == room_of(world)
    page = text_of(signed_in(world.cleo).get(room_of(world)))
    assert "Deleted." in page
    assert "Hm." not in page


def test_what_others_say_waits_for_the_answers_to_all_checks_of_the_claim(
    world: World, signed_in: SignIn
) -> None:
    first, second = world.check("alder", 1), world.check("birch", 1)
    comment_on_claim(project=world.project, claim=first.claim, by=world.cleo, text="Clearly no.")
    override(check=first, by=world.rex, label="yes")
    # With the address of either check or without: what is hidden hangs on what was answered alone.
    addresses = [room_of(world), *(f"{room_of(world)}?check={check.public_id}" for check in (first, second))]
    client = signed_in(world.rex)
    for address in addresses:
        page = text_of(client.get(address))
        assert "Clearly no." not in page
        assert "1 comment by others is hidden until you have answered all checks of this claim." in page
        # The way to the one that is left.
        assert f'href="/p/harbour/review/{second.public_id}/">Review this claim</a>' in page
    override(check=second, by=world.rex, label="yes")
    for address in addresses:
        assert "Clearly no." in text_of(client.get(address))


def test_an_assessor_comments_on_a_unit_after_closing_the_set(world: World, signed_in: SignIn) -> None:
    address = f"/p/harbour/comments/units/{world.units('port')[0].public_id}/"
    client = signed_in(world.ben)
    assert client.get(address).status_code == 404
    sitting = assign(document_set=world.sets["port"], assessor=world.ben, by=None)
    assert client.get(address).status_code == 403
    Sitting.objects.filter(pk=sitting.pk).update(closed_at=sitting.created_at)
    client.post(f"{address}write/", {"text": "Two facts in one."})
    assert Comment.objects.get().author == world.ben
    assert "Two facts in one." in text_of(client.get(address))


def test_a_mention_is_counted_and_leads_to_the_thread(world: World, signed_in: SignIn) -> None:
    claim = world.check("alder", 1).claim
    comment_on_claim(project=world.project, claim=claim, by=world.rex, text="@cleo, look.")
    client = signed_in(world.cleo)
    assert re.search(
        r'(?s)class="unread" href="/notices/">.*Notices</span>\s+<strong class="chip">1<',
        text_of(client.get("/")),
    )
    page = text_of(client.get("/notices/"))
    assert "rex mentioned you in a comment on a claim." in page
    notice = Notice.objects.get()
    assert client.post(f"/notices/{notice.public_id}/open/")["Location"] == room_of(world)
    assert 'class="unread"' not in text_of(client.get("/"))


def test_all_notices_are_read_at_once(world: World, signed_in: SignIn) -> None:
    for number in range(3):
        tell(
            project=world.project,
            people=[world.ana],
            kind=Notice.Kind.ASSIGNED,
            text=f"Set {number}.",
            address="/p/harbour/work/",
        )
    client = signed_in(world.ana)
    (up_to,) = re.findall(r'name="up_to" value="(\w+)"', text_of(client.get("/notices/")))
    assert client.post("/notices/read/", {"up_to": up_to})["Location"] == "/notices/"
    assert not Notice.objects.filter(read_at=None).exists()


def test_another_persons_notice_is_not_there(world: World, signed_in: SignIn) -> None:
    tell(
        project=world.project,
        people=[world.ana],
        kind=Notice.Kind.ASSIGNED,
        text="Two.",
        address="/p/harbour/",
    )
    notice = Notice.objects.get()
    client = signed_in(world.olga)
    for act in ("open", "read"):
        assert client.post(f"/notices/{notice.public_id}/{act}/").status_code == 404
    assert "Two." not in text_of(client.get("/notices/"))


def test_a_stranger_is_sent_to_sign_in(client: Client, db: None) -> None:
    assert client.get("/notices/")["Location"] == "/sign-in/?next=/notices/"


def test_a_closed_form_leads_to_the_comments_on_its_units(world: World, signed_in: SignIn) -> None:
    sitting = assign(document_set=world.sets["port"], assessor=world.ben, by=None)
    assignment = sitting.assignments.earliest("position")
    form = f"/p/harbour/work/{assignment.public_id}/"
    link = f"/p/harbour/comments/units/{world.units('port')[0].public_id}/"
    client = signed_in(world.ben)
    assert link not in text_of(client.get(form))
    sitting.assignments.update(state="submitted", submitted_at=sitting.created_at)
    Sitting.objects.filter(pk=sitting.pk).update(closed_at=sitting.created_at)
    assert link in text_of(client.get(form))


def test_the_units_screen_leads_there_too(world: World, signed_in: SignIn) -> None:
    unit = world.units("port")[0]
    page = text_of(signed_in(world.mona).get(f"/p/harbour/units/{world.models['port'].public_id}/"))
    assert f'href="/p/harbour/comments/units/{unit.public_id}/"' in page
