from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from annotation.accounts.tokens import make_token
from annotation.judging.queries.runs import run_progress
from annotation.models import Judge, Rating, Verdict
from evaluation.client import Coverdict, Run, RunEnded
from tests.annotation.judging.doing import judge_to_end, run_to_end
from tests.annotation.judging.services.test_judge_many import project_of
from tests.llm_server import faults

if TYPE_CHECKING:
    from pytest_django.live_server_helper import LiveServer

    from tests.annotation.cast import World
    from tests.llm_server import Call, LLMServer

WORDS = faults.text("Well, well.")


def asks_about_summaries(call: Call) -> bool:
    return bool(call.question.keys() & {"questions", "criteria", "topics", "claims"})


@pytest.mark.parametrize(
    ("metrics", "answers"),
    # There are four summaries, each with one rating or one share of topics.
    [(["coherence"], 4), (["conciseness", "redundancy"], 4), (["topic_preservation"], 4)],
)
def test_a_run_for_what_is_no_verdict_fails_too(
    world: World, llm_judge: Judge, llm_server: LLMServer, metrics: list[str], answers: int
) -> None:
    llm_server.where(lambda call: WORDS if asks_about_summaries(call) else None)
    run = run_to_end(world.project, llm_judge, metrics)
    progress = run_progress(run)
    assert (run.state, progress.failed, progress.outcome) == ("failed", 0, "unusable")
    assert (progress.unscored, progress.usable) == (answers, 0)
    assert run.stop_reason.startswith("No answer was usable. Most common reason: ")


def test_questions_that_no_summary_answers_fail_although_the_source_answers_them(
    world: World, llm_judge: Judge, llm_server: LLMServer
) -> None:
    # The source's answers come with the generated questions.
    llm_server.where(lambda call: WORDS if "questions" in call.question else None)
    run = run_to_end(world.project, llm_judge, ["question_coverage"])
    assert (run.state, run_progress(run).usable) == ("failed", 0)


def test_a_judge_that_fails_in_the_same_way_again_fails_again_and_says_why(
    world: World, llm_judge: Judge, llm_server: LLMServer
) -> None:
    llm_server.where(lambda call: WORDS if "claims" in call.question else None)
    first = run_to_end(world.project, llm_judge)
    told = Verdict.objects.count()
    second = run_to_end(world.project, llm_judge)
    # The same failure is not stored again.
    assert Verdict.objects.count() == told
    assert (first.state, second.state) == ("failed", "failed")
    assert second.stop_reason == first.stop_reason


def test_one_text_that_is_refused_for_good_does_not_fail_every_later_run(
    world: World, llm_judge: Judge, llm_server: LLMServer
) -> None:
    llm_server.where(
        lambda call: faults.refusal("No.") if "repair is planned" in str(call.question) else None
    )
    run_to_end(world.project, llm_judge, ["coherence"])
    assert Rating.objects.filter(judge=llm_judge, value=None).exists()
    again = run_to_end(world.project, llm_judge, ["coherence"])
    progress = run_progress(again)
    assert (again.state, progress.usable, progress.unscored > 0) == ("finished", 0, True)


def test_a_known_judge_that_gives_nothing_usable_to_something_else_fails(
    world: World, llm_judge: Judge, llm_server: LLMServer
) -> None:
    assert run_to_end(world.project, llm_judge).state == "finished"
    llm_server.always(WORDS)
    assert run_to_end(world.project, llm_judge, ["coverage", "coherence"]).state == "failed"


def test_a_run_goes_on_where_ratings_fail_and_questions_do_not(
    llm_judge: Judge, llm_server: LLMServer
) -> None:
    # Each of twelve sets has an unusable rating; ten sets in a row without any usable answer would stop the run.
    llm_server.always(
        faults.changed(lambda answer: answer | ({"criteria": []} if "criteria" in answer else {}))
    )
    run = judge_to_end(project_of(12), llm_judge, ["question_coverage", "coherence"])
    progress = run_progress(run)
    assert (run.state, progress.unscored >= 12, progress.usable > 0) == ("finished", True, True)


def test_the_api_says_that_it_failed_and_the_library_raises(
    world: World, llm_judge: Judge, llm_server: LLMServer, live_server: LiveServer
) -> None:
    llm_server.always(WORDS)
    run = run_to_end(world.project, llm_judge, ["coherence"])
    with Coverdict(live_server.url, make_token(person=world.mona)[1], progress=False) as server:
        project = server.project("harbour")
        facts = server.ask("GET", f"projects/harbour/runs/{run.public_id}/")
        assert (facts["state"], facts["progress"]["usable"]) == ("failed", 0)
        with pytest.raises(RunEnded, match=r"The run ended as failed\. No answer was usable\."):
            Run(project, facts).wait()
