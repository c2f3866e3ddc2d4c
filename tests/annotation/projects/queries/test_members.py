"""The figures about reviewers' answers on the people page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from annotation.adjudicating.services.adjudicate import decide_check
from annotation.core.lists import Viewer
from annotation.core.permissions import Verb
from annotation.projects.queries.members import MEMBERS, Answers
from tests.annotation.answering import say

if TYPE_CHECKING:
    from tests.annotation.cast import World


def test_each_check_counts_once_by_its_latest_answer_and_decisions_do_not(world: World) -> None:
    first, second, third = world.checks("alder")
    # The judge says yes, no and yes.
    say(first, world.rex, "no", ms=9000)
    say(first, world.rex, "yes", ms=2000)
    say(second, world.rex, "yes", ms=4000)
    say(third, world.rex, "no", withdrawn=True)
    decide_check(check=third, by=world.cleo, label="no")
    rows, _ = MEMBERS.look(Viewer(world.olga, world.project, frozenset(Verb)), {}).page()
    found = {row.user.username: vars(row)["answers"] for row in rows}
    assert found["rex"] == Answers(count=2, differ=0.5, seconds=3.0)
    assert found["cleo"] is None
