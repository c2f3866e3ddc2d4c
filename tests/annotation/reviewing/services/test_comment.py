from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from annotation.core.lists import Viewer
from annotation.core.refusals import Invalid, NotAllowed, NotFound
from annotation.models import Check, Claim, Comment, Event, Membership, Project
from annotation.reviewing.queries.comments import COMMENTS, thread_of
from annotation.reviewing.services.comment import comment_on_claim, withdraw_comment
from annotation.reviewing.services.review import override

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from tests.annotation.cast import World


def claim_of(world: World) -> Claim:
    return world.check("alder", 1).claim


def say(world: World, by: User, text: str) -> Comment:
    return comment_on_claim(project=world.project, claim=claim_of(world), by=by, text=text)


def said(world: World, person: User) -> list[str]:
    return [each.text for each in thread_of(Viewer.now(person, world.project), claim_of(world)).said]


@pytest.mark.parametrize("text", [" \n", "x" * 4001, "a\x00b"])
def test_what_is_no_comment(world: World, text: str) -> None:
    with pytest.raises(Invalid) as refused:
        say(world, world.rex, text)
    assert refused.value.field == "text"


def test_a_reviewer_reads_others_once_they_have_answered(world: World) -> None:
    say(world, world.cleo, "Clearly a yes.")
    say(world, world.rex, "Hm.")
    before = thread_of(Viewer.now(world.rex, world.project), claim_of(world))
    assert ([each.text for each in before.said], before.hidden) == (["Hm."], 1)
    # The claim has checks in two summaries, and only one of them is answered.
    override(check=world.check("alder", 1), by=world.rex, label="no")
    assert said(world, world.rex) == ["Hm."]
    override(check=world.check("birch", 1), by=world.rex, label="no")
    assert said(world, world.rex) == ["Clearly a yes.", "Hm."]


@pytest.mark.parametrize("name", ["is_current", "final_source"])
def test_a_check_that_waits_for_nobody_hides_no_comments(world: World, name: str) -> None:
    say(world, world.cleo, "Clearly a yes.")
    override(check=world.check("alder", 1), by=world.rex, label="no")
    Check.objects.filter(pk=world.check("birch", 1).pk).update(
        **{name: {"is_current": False, "final_source": "rule"}[name]}
    )
    assert said(world, world.rex) == ["Clearly a yes."]


def test_a_reviewer_who_may_view_the_scores_waits_as_well(world: World) -> None:
    Membership.objects.filter(user=world.rex).update(roles=["reviewer", "viewer"])
    say(world, world.cleo, "Clearly a yes.")
    assert said(world, world.rex) == []


def test_where_verdicts_are_shown_so_are_comments(world: World) -> None:
    Project.objects.filter(pk=world.project.pk).update(reveal="shown")
    world.project.refresh_from_db()
    say(world, world.cleo, "Clearly a yes.")
    assert said(world, world.rex) == ["Clearly a yes."]


@pytest.mark.parametrize("name", ["cleo", "olga", "mona"])
def test_whoever_is_not_kept_back_reads_all(world: World, name: str) -> None:
    say(world, world.rex, "Hm.")
    assert said(world, world.users[name]) == ["Hm."]


def test_taken_back_the_words_are_gone_and_the_place_stays(world: World) -> None:
    comment = say(world, world.rex, "Wrong.")
    for _ in range(2):
        withdraw_comment(comment=comment, by=world.rex)
    _, row = "".join(COMMENTS.look(Viewer.now(world.cleo, world.project), {}).as_csv()).splitlines()
    assert "Wrong." not in row
    (left,) = thread_of(Viewer.now(world.cleo, world.project), claim_of(world)).said
    assert left.withdrawn_at
    assert Comment.objects.get().text == "Wrong."
    assert Event.objects.filter(verb="withdraw comment").count() == 1


def test_a_claim_of_another_project_is_not_found(world: World) -> None:
    with pytest.raises(NotFound):
        comment_on_claim(project=world.other_project, claim=claim_of(world), by=world.dan, text="Mine?")


def test_nobody_takes_back_what_another_said(world: World) -> None:
    comment = say(world, world.rex, "Mine.")
    with pytest.raises(NotAllowed):
        withdraw_comment(comment=comment, by=world.olga)
