"""How many answers came in lists, by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from annotation.analysis.leaderboard.leaderboard import leaderboard
from annotation.analysis.leaderboard.taken_over import TakenOver, taken_over, taken_over_of
from annotation.analysis.leaderboard.words import changed_in_words, taken_over_in_words
from annotation.core.readers import CheckReader
from annotation.reviewing.queries.review_queue import Filter
from annotation.reviewing.services.accept_batch import accept_batch, offer, withdraw_batch
from annotation.reviewing.services.review import override

if TYPE_CHECKING:
    from annotation.models import VerdictBatch
    from tests.annotation.cast import World

pytestmark = pytest.mark.django_db


def accept(world: World) -> VerdictBatch:
    """Cleo, from whom nothing is kept back, takes over what is left of the reference side."""
    reader, filters = CheckReader(world.cleo, must_wait=False), Filter(side="reference")
    offered = offer(project=world.project, reader=reader, filters=filters)
    return accept_batch(
        project=world.project,
        reader=reader,
        filters=filters,
        expected=offered.count,
        fingerprint=offered.fingerprint,
    )


def test_nothing_is_told_where_no_list_was_taken_over(world: World) -> None:
    override(check=world.check("alder", 1), by=world.rex, label="no")
    assert taken_over(world.project) == {}


def test_answers_and_those_of_lists_are_counted_by_target_length(world: World) -> None:
    override(check=world.check("alder", 1), by=world.rex, label="no")
    accept(world)
    # Rex gave one of six by himself.
    assert taken_over(world.project) == {20: TakenOver(answers=6, in_lists=5)}
    assert taken_over_of(world.peers["port", "alder"]) == TakenOver(answers=3, in_lists=2)


def test_an_answer_that_was_given_after_the_list_counts_instead(world: World) -> None:
    accept(world)
    override(check=world.check("birch", 1), by=world.rex, label="no")
    assert taken_over(world.project) == {20: TakenOver(answers=6, in_lists=5)}


def test_a_list_that_was_taken_back_counts_no_more(world: World) -> None:
    override(check=world.check("alder", 1), by=world.rex, label="no")
    withdraw_batch(batch=accept(world), by=world.cleo)
    assert taken_over(world.project) == {}
    assert taken_over_in_words(*taken_over_of(world.peers["port", "alder"])) == ""


def test_the_leaderboard_says_it(world: World) -> None:
    accept(world)
    (table,) = leaderboard(world.project).tables
    assert table.changed is not None
    assert "6 of 6 reviewers' verdicts accepted from the judge in lists" in changed_in_words(table.changed)
