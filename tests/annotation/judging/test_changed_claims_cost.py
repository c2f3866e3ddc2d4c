"""What a judge may cost that is set to work by changes of claims, which people make who may start no run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from annotation.judging.services.start_run import start_run
from annotation.models import Claim, Judge, JudgeCall, Project, Run
from annotation.texts.services.change_claims import Changed, reword_claim
from tests.annotation.judging.doing import perform_all, run_to_end

if TYPE_CHECKING:
    from tests.annotation.cast import World
    from tests.llm_server import LLMServer


@pytest.fixture
def priced(world: World, llm_judge: Judge) -> Judge:
    """The deciding judge: 2 for a million prompt tokens, 8 for a million of replies of 100 tokens at most."""
    Judge.objects.filter(pk=llm_judge.pk).update(
        prompt_price=2.0, completion_price=8.0, max_tokens=100, concurrency=1
    )
    Project.objects.filter(pk=world.project.pk).update(deciding_judge=llm_judge)
    world.project.refresh_from_db()
    llm_judge.refresh_from_db()
    return llm_judge


def ordinary(world: World, judge: Judge, max_cost: float | None) -> Run:
    run = start_run(project=world.project, judge=judge, max_cost=max_cost, by=world.mona)
    perform_all(run)
    return run


def reworded(world: World, text: str) -> Changed:
    """Rex, who may start no run, rewords the second claim of "port"."""
    claim = Claim.objects.get(claim_set__summary=world.models["port"], claim_set__is_active=True, position=2)
    return reword_claim(claim=claim, by=world.rex, text=text)


def done(changed: Changed) -> Run:
    assert changed.run is not None
    perform_all(changed.run)
    return changed.run


def test_all_runs_that_changes_start_share_the_cap_of_the_last_one_that_somebody_started(
    world: World, priced: Judge, llm_server: LLMServer
) -> None:
    ordinary(world, priced, 1.0)
    first = done(reworded(world, "The wall is weak"))
    assert (first.max_cost, first.state) == (1.0, Run.State.FINISHED)
    assert first.cost > 0
    second = done(reworded(world, "The wall gives way"))
    assert second.max_cost == pytest.approx(1.0 - first.cost)
    third = reworded(world, "The wall is old")
    assert third.run is not None
    assert third.run.max_cost == pytest.approx(1.0 - first.cost - second.cost)


def test_where_it_is_used_up_the_claim_waits_for_the_next_run(
    world: World, priced: Judge, llm_server: LLMServer
) -> None:
    ordinary(world, priced, 1.0)
    first = done(reworded(world, "The wall is weak"))
    Run.objects.filter(pk=first.pk).update(cost=1.0)
    made = len(llm_server.calls)
    changed = reworded(world, "The wall gives way")
    assert changed.run is None
    assert changed.waits.endswith("is used up, so open checks wait for that run.")
    assert len(llm_server.calls) == made
    # Whoever may start one does, and from then on there is its cap.
    ordinary(world, priced, 2.0)
    again = reworded(world, "The wall is old")
    assert (again.waits, again.run and again.run.max_cost) == ("", 2.0)


def test_a_run_that_had_no_room_for_a_call_is_the_last_one(
    world: World, priced: Judge, llm_server: LLMServer
) -> None:
    run = ordinary(world, priced, 1.0)
    # Less than a reply of 100 tokens at 8 per million.
    Run.objects.filter(pk=run.pk).update(max_cost=0.0007)
    JudgeCall.objects.all().delete()
    first = done(reworded(world, "The wall is weak"))
    assert (first.state, first.cost) == (Run.State.STOPPED, 0.0)
    changed = reworded(world, "The wall gives way")
    assert changed.run is None
    assert "is used up" in changed.waits


def test_without_a_cap_there_is_none(world: World, priced: Judge, llm_server: LLMServer) -> None:
    ordinary(world, priced, None)
    changed = reworded(world, "The wall is weak")
    assert changed.run is not None
    assert (changed.run.max_cost, changed.waits) == (None, "")


def test_a_judge_that_costs_is_not_set_to_work_by_a_change_alone(
    world: World, priced: Judge, llm_server: LLMServer
) -> None:
    run = run_to_end(world.project, priced)
    Run.objects.filter(pk=run.pk).delete()
    changed = reworded(world, "The wall is weak")
    assert changed.run is None
    assert changed.waits.startswith(f"Nobody has started a run of {priced.name} here yet")
