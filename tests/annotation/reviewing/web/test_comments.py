from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

from annotation.reviewing.services.comment import comment_on_claim
from tests.annotation.conftest import HTMX

if TYPE_CHECKING:
    from tests.annotation.cast import World
    from tests.annotation.conftest import SignIn


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
