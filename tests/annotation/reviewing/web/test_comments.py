"""Threads on their page and as fragments."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

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
    answer = client.post(f"{room_of(world)}write/", {"text": "Is it April?\n<b>No.</b>"})
    assert answer["Location"] == room_of(world)
    page = client.get(room_of(world)).content.decode()
    assert "Is it April?\n&lt;b&gt;No.&lt;/b&gt;" in page
    assert "Posted." in page
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


def test_only_the_writer_takes_a_comment_back(world: World, signed_in: SignIn) -> None:
    claim = world.check("alder", 1).claim
    comment = comment_on_claim(project=world.project, claim=claim, by=world.rex, text="Hm.")
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
