"""Comments: who may say what where, who is told, and what taking back leaves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from django.utils import timezone

from annotation.assessing.services.assign import assign
from annotation.core.refusals import Invalid, NotAllowed, NotFound
from annotation.models import Check, Claim, Comment, Event, Membership, Notice, Project, Sitting
from annotation.reviewing.queries.comments import pieces_of, thread_of_claim, thread_of_unit
from annotation.reviewing.services.comment import comment_on_claim, comment_on_unit, withdraw_comment
from annotation.reviewing.services.look_at_check import disclose
from annotation.reviewing.services.review import override
from tests.annotation.answering import look

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from annotation.reviewing.services.comment import Commented
    from tests.annotation.cast import World


def claim_of(world: World) -> Claim:
    return world.check("alder", 1).claim


def say(world: World, by: User, text: str) -> Commented:
    return comment_on_claim(project=world.project, claim=claim_of(world), by=by, text=text)


def said(world: World, person: User) -> list[str]:
    return [each.text for each in thread_of_claim(world.project, claim_of(world), person).said]


def closed_by(world: World, person: User) -> Sitting:
    sitting = assign(document_set=world.sets["port"], assessor=person, by=None)
    Sitting.objects.filter(pk=sitting.pk).update(closed_at=timezone.now())
    sitting.assignments.update(state="submitted", submitted_at=timezone.now())
    return sitting


def test_a_mention_tells_the_member_and_nobody_else(world: World) -> None:
    made = say(world, world.rex, "Is it April, @cleo? See @mona.")
    assert made.told == ("cleo", "mona")
    notices = {row.person.username: row for row in Notice.objects.select_related("person")}
    assert set(notices) == {"cleo", "mona"}
    assert notices["cleo"].text == "rex mentioned you in a comment on a claim."
    assert notices["cleo"].address == f"/p/harbour/comments/claims/{claim_of(world).public_id}/"
    event = Event.objects.get(verb="comment")
    assert event.data == {"on": "claim", "place": claim_of(world).public_id, "mentions": ["cleo", "mona"]}


def test_who_may_not_read_it_is_not_told(world: World) -> None:
    # Ana assesses and reads no claims, Vic watches and does not comment; Dan is not in the project.
    made = say(world, world.rex, "@ana @vic @dan @cleo")
    assert (made.told, made.not_told) == (("cleo",), ("ana", "vic"))
    assert Notice.objects.count() == 1


def test_naming_oneself_or_one_person_twice_is_told_once(world: World) -> None:
    assert say(world, world.rex, "@rex @cleo @CLEO").told == ("cleo",)


@pytest.mark.parametrize(
    ("text", "unknown"),
    [
        ("Ask @nobody.", ("nobody",)),
        ("@Cleo, @rex-- and @dan", ("dan",)),
        ("write to a@b.org, @ noon", ()),
        ("@no.body @no.body", ("no.body",)),
    ],
)
def test_names_of_no_member_are_told_to_the_writer(world: World, text: str, unknown: tuple[str, ...]) -> None:
    made = say(world, world.rex, text)
    assert made.unknown == unknown
    assert made.comment.text == text


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("@ann.", ["ann"]),
        ("@ann.b", ["ann.b"]),
        ("(@ann)", ["ann"]),
        ("@Ann's", ["ann"]),
        ("mail x@ann", []),
        ("@annie", []),
        ("@ann-", ["ann"]),
        ("@@ann", []),
        ("@", []),
    ],
)
def test_where_a_name_ends(text: str, found: list[str]) -> None:
    pieces = pieces_of(text, ["ann", "ann.b"])
    assert [piece.person for piece in pieces if piece.person] == found
    assert "".join(piece.text for piece in pieces) == text


@pytest.mark.parametrize("text", [" \n", "x" * 4001, "a\x00b"])
def test_what_is_no_comment(world: World, text: str) -> None:
    with pytest.raises(Invalid) as refused:
        say(world, world.rex, text)
    assert refused.value.field == "text"


def test_a_reviewer_reads_others_once_they_have_answered(world: World) -> None:
    say(world, world.cleo, "Clearly a yes.")
    say(world, world.rex, "Hm.")
    before = thread_of_claim(world.project, claim_of(world), world.rex)
    assert ([each.text for each in before.said], before.hidden) == (["Hm."], 1)
    # The claim is compared with two summaries: an answer for one leaves the other to be given.
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


def test_a_verdict_that_is_planted_and_not_told_of_hides_them_too(world: World) -> None:
    say(world, world.cleo, "Clearly a yes.")
    looks = [look(world.check(name, 1), world.rex, planted="no") for name in ("alder", "birch")]
    assert said(world, world.rex) == []
    for each in looks:
        disclose(each)
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


def test_an_assessor_has_nothing_to_say_on_claims(world: World) -> None:
    with pytest.raises(NotFound):
        say(world, world.ben, "I was here.")


def test_an_assessor_comments_on_units_of_a_set_that_they_closed(world: World) -> None:
    unit = world.units("port")[0]
    with pytest.raises(NotFound):
        comment_on_unit(project=world.project, unit=unit, by=world.ben, text="Two facts in one.")
    closed_by(world, world.ben)
    comment_on_unit(project=world.project, unit=unit, by=world.ben, text="Two facts in one, @mona.")
    comment_on_unit(project=world.project, unit=unit, by=world.mona, text="The judge says 20 %.")
    comment_on_unit(project=world.project, unit=unit, by=world.mona, text="Thanks, @ben.")
    own = thread_of_unit(world.project, unit, world.ben)
    assert [each.text for each in own.said] == ["Two facts in one, @mona.", "Thanks, @ben."]
    assert len(thread_of_unit(world.project, unit, world.mona).said) == 3


def test_the_blind_neither_write_nor_read(world: World) -> None:
    unit = world.units("port")[0]
    closed_by(world, world.ben)
    assign(document_set=world.sets["bridge"], assessor=world.ben, by=None)
    with pytest.raises(NotAllowed) as refused:
        comment_on_unit(project=world.project, unit=unit, by=world.ben, text="Now?")
    assert refused.value.code == "blind"


def test_a_claim_of_another_project_is_not_found(world: World) -> None:
    with pytest.raises(NotFound):
        comment_on_claim(project=world.other_project, claim=claim_of(world), by=world.dan, text="Mine?")


def test_taken_back_the_words_are_gone_and_the_place_stays(world: World) -> None:
    comment = say(world, world.rex, "Wrong, @cleo.").comment
    for _ in range(2):
        withdraw_comment(comment=comment, by=world.rex)
    (left,) = thread_of_claim(world.project, claim_of(world), world.cleo).said
    assert (left.is_withdrawn, left.text, left.pieces, left.mentions) == (True, "", (), ())
    assert Comment.objects.get().text == "Wrong, @cleo."
    assert Event.objects.filter(verb="withdraw comment").count() == 1


def test_nobody_takes_back_what_another_said(world: World) -> None:
    comment = say(world, world.rex, "Mine.").comment
    with pytest.raises(NotAllowed):
        withdraw_comment(comment=comment, by=world.olga)
