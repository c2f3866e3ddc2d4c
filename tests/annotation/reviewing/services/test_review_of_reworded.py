"""An answer to a claim in new words, by somebody who knew what was said of the words before."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.core.readers import CheckReader
from annotation.models import Check, CheckLook, DrawnCheck, Project, Verdict
from annotation.reviewing.queries.review_queue import Filter, waiting_checks
from annotation.reviewing.services.look_at_check import look_at
from annotation.reviewing.services.review import override, withdraw_verdict
from annotation.sampling.services.sample_checks import sample_checks
from annotation.texts.services.change_claims import join_claims, reword_claim, split_claim, undo_claim_change
from tests.annotation.answering import look

if TYPE_CHECKING:
    from tests.annotation.cast import World


def check_of(world: World, text: str, system: str = "alder") -> Check:
    return Check.objects.get(claim__text=text, peer=world.peers["port", system], is_current=True)


def knew(world: World, text: str, system: str = "alder") -> bool:
    """Whether rex is taken to have known when he answers the claim in these words now."""
    return override(check=check_of(world, text, system), by=world.rex, label="no").verdict.had_seen


def reword(world: World, check: Check, text: str) -> None:
    reword_claim(claim=check.claim, by=world.olga, text=text)


def test_whoever_answered_the_words_before_knows(world: World) -> None:
    check = world.check("alder", 2)
    assert override(check=check, by=world.rex, label="yes").verdict.had_seen is False
    reword(world, check, "The wall is weak")
    assert knew(world, "The wall is weak")


def test_also_who_took_the_answer_back(world: World) -> None:
    check = world.check("alder", 2)
    withdraw_verdict(verdict=override(check=check, by=world.rex, label="yes").verdict, by=world.rex)
    reword(world, check, "The wall is weak")
    assert knew(world, "The wall is weak")


def test_also_who_was_shown_what_the_judge_said_of_them(world: World) -> None:
    check = world.check("alder", 2)
    look(check, world.rex)
    reword(world, check, "The wall is weak")
    assert knew(world, "The wall is weak")


def test_who_only_opened_it_knows_nothing(world: World) -> None:
    check = world.check("alder", 2)
    look_at(check=check, by=world.rex)
    reword(world, check, "The wall is weak")
    assert not knew(world, "The wall is weak")


def test_what_somebody_else_answered_is_not_known(world: World) -> None:
    check = world.check("alder", 2)
    override(check=check, by=world.cleo, label="yes")
    reword(world, check, "The wall is weak")
    assert not knew(world, "The wall is weak")


def test_of_another_summary_nothing_is_known(world: World) -> None:
    check = world.check("alder", 2)
    override(check=check, by=world.rex, label="yes")
    reword(world, check, "The wall is weak")
    assert not knew(world, "The wall is weak", "birch")


def test_through_every_wording_and_through_parts_and_joins(world: World) -> None:
    check = world.check("alder", 2)
    override(check=check, by=world.rex, label="yes")
    reword(world, check, "The wall is weak and old")
    made = check_of(world, "The wall is weak and old").claim
    split_claim(claim=made, by=world.olga, texts=["The wall is weak", "The wall is old"])
    joined = [world.check("alder", 1).claim, check_of(world, "The wall is old").claim]
    # The claim that it supersedes by its column is the other one.
    join_claims(claims=joined, by=world.olga, text="The harbour closes, and its wall is old")
    assert knew(world, "The wall is weak")
    assert knew(world, "The harbour closes, and its wall is old")


def test_a_claim_that_came_of_another_one_is_not_meant(world: World) -> None:
    override(check=world.check("alder", 1), by=world.rex, label="yes")
    reword(world, world.check("alder", 2), "The wall is weak")
    assert not knew(world, "The wall is weak")


def test_the_words_of_a_change_that_was_undone_led_to_nothing(world: World) -> None:
    check = world.check("alder", 2)
    undone = reword_claim(claim=check.claim, by=world.olga, text="The wall is weak")
    override(check=check_of(world, "The wall is weak"), by=world.rex, label="yes")
    undo_claim_change(change=undone.change, by=world.olga)
    reword(world, world.check("alder", 3), "Ferries leave the quay")
    assert not knew(world, "Ferries leave the quay")


def test_a_draw_waits_for_somebody_who_did_not_know_the_words_before(world: World) -> None:
    check = world.check("alder", 2)
    override(check=check, by=world.rex, label="yes")
    reword(world, check, "The wall is weak")
    draw = sample_checks(project=world.project, by=world.olga, method="uniform", share=1.0, seed=7)
    queue = Filter(draw=draw.public_id)
    new = check_of(world, "The wall is weak")
    assert new not in waiting_checks(world.project, CheckReader(world.rex), queue)
    assert new in waiting_checks(world.project, CheckReader(world.cleo), queue)
    assert knew(world, "The wall is weak")
    assert DrawnCheck.objects.get(draw=draw, check_row=new).verdict is None
    blind = override(check=new, by=world.cleo, label="yes").verdict
    assert DrawnCheck.objects.get(draw=draw, check_row=new).verdict == blind


def test_what_is_said_of_the_new_words_stays_hidden_until_they_answer(world: World) -> None:
    check = world.check("alder", 2)
    override(check=check, by=world.rex, label="yes")
    reword(world, check, "The wall is weak")
    check = check_of(world, "The wall is weak")
    look_at(check=check, by=world.rex)
    assert CheckLook.objects.get(check_row=check, person=world.rex).revealed_at is None


@pytest.mark.parametrize(("reworded", "more"), [(False, 0), (True, 1)])
def test_it_is_asked_in_one_statement_and_only_of_new_words(world: World, reworded: bool, more: int) -> None:
    Project.objects.filter(pk=world.project.pk).update(deciding_judge=None)
    with CaptureQueriesContext(connection) as plain:
        override(check=world.check("birch", 1), by=world.rex, label="yes")
    if reworded:
        reword(world, world.check("birch", 2), "The wall is weak")
    asked = check_of(world, "The wall is weak", "birch") if reworded else world.check("birch", 2)
    asked = Check.objects.select_related("project", "peer", "claim").get(pk=asked.pk)
    with CaptureQueriesContext(connection) as then:
        override(check=asked, by=world.rex, label="yes")
    recursive = [query for query in then.captured_queries if "RECURSIVE" in query["sql"]]
    assert len(recursive) == more
    assert not any("RECURSIVE" in query["sql"] for query in plain.captured_queries)
    assert Verdict.objects.filter(person=world.rex).count() == 2
