"""Runs in a project's own words: they are what is sent, and calls are found again by them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from annotation.judging.queries.prompts import own_versions_of
from annotation.judging.services.judges import judge_by_name
from annotation.judging.services.save_prompt import save_prompt
from annotation.models import Judge, JudgeCall, Project, PromptVersion, Verdict
from evaluation.judging.prompts import PROMPTS
from tests.annotation.judging.doing import add_document_set, run_to_end

if TYPE_CHECKING:
    from tests.llm_server import LLMServer

ELM = "The mill burned down at night. Nobody was hurt."
COVERED = "Say of every claim whether the text says it. $parts$custom_instruction"
WORDS = f"Say of every claim whether the text says it. {PROMPTS['cover_summary'].parts['claims'].instruction}"


@pytest.fixture
def project(db: None) -> Project:
    made = Project.objects.create(slug="mill", name="Mill study")
    add_document_set(
        made,
        external_id="a",
        documents=["The mill burned down at night. Nobody was hurt. A new one opens in June."],
        reference=ELM,
        peers={"elm": ELM, "fir": "Rain fell."},
    )
    return made


def reword(
    judge: Judge, project: Project, step: str = "cover_summary", system: str = COVERED, **parts: str
) -> PromptVersion:
    """A version that the judge uses beside those that it has."""
    row = save_prompt(project=project, step=step, by=None, system=system, parts=parts)
    judge.prompts.add(row)
    return row


def told(llm_server: LLMServer) -> list[str]:
    return [call.body["messages"][0]["content"] for call in llm_server.calls]


def test_own_words_are_sent_and_kept_with_the_call(
    project: Project, llm_judge: Judge, llm_server: LLMServer
) -> None:
    reword(llm_judge, project)
    run_to_end(project, llm_judge)
    words = WORDS
    # One text's claims are taken in the built-in words, two summaries are checked in the project's own.
    assert sorted(told(llm_server)) == sorted(
        [words, words, PROMPTS["read_document"].render(parts=["reference_claims"])]
    )
    version = PROMPTS["cover_summary"].reworded(system=COVERED).version
    kept = JudgeCall.objects.filter(step="cover_summary").values_list("prompt_version", flat=True)
    assert set(kept) == {version}
    assert all(version in name for name in Verdict.objects.values_list("origin_name", flat=True))


def test_a_second_run_in_the_same_words_makes_no_call(
    project: Project, llm_judge: Judge, llm_server: LLMServer
) -> None:
    reword(llm_judge, project)
    run_to_end(project, llm_judge)
    made, verdicts = len(llm_server.calls), Verdict.objects.count()
    run_to_end(project, llm_judge)
    assert (len(llm_server.calls), Verdict.objects.count()) == (made, verdicts)


def test_new_words_are_asked_anew_and_going_back_costs_nothing(
    project: Project, llm_judge: Judge, llm_server: LLMServer
) -> None:
    made = []
    run_to_end(project, llm_judge)
    made.append(len(llm_server.calls))
    reword(llm_judge, project)
    run_to_end(project, llm_judge)
    made.append(len(llm_server.calls))
    llm_judge.prompts.clear()
    run_to_end(project, llm_judge)
    made.append(len(llm_server.calls))
    # Claims of one reference and two checks; then the two checks in new words; then nothing.
    assert made == [3, 5, 5]
    # Each verdict is written again under the words that it was given in: 2 claims of 2 summaries, three times.
    assert Verdict.objects.count() == 12
    assert len(set(Verdict.objects.values_list("origin_name", flat=True))) == 2


def test_each_member_of_a_panel_is_asked_in_its_own_words(
    project: Project, llm_judge: Judge, llm_server: LLMServer
) -> None:
    other = Judge.objects.create(name="other", kind="openai", model="other", base_url=llm_server.base_url)
    panel = Judge.objects.create(name="three", kind="panel")
    panel.members.set([judge_by_name("lexical"), llm_judge, other])
    row = reword(llm_judge, project)
    run = run_to_end(project, panel)
    own = [call for call in llm_server.calls if "claims" in call.question]
    words = {(call.body["model"], call.body["messages"][0]["content"]) for call in own}
    assert ("scripted", WORDS) in words
    assert ("other", PROMPTS["cover_summary"].render(parts=["claims"])) in words
    assert own_versions_of(run) == [row]


def test_merged_steps_are_told_in_own_words(
    project: Project, llm_judge: Judge, llm_server: LLMServer
) -> None:
    reword(llm_judge, project, "align_summary", "Align, please. $parts")
    reword(
        llm_judge,
        project,
        "read_document",
        "Read, please. $parts",
        reference_claims="Take atomic claims of the reference.",
        n_questions="Make questions.",
    )
    reword(llm_judge, project, "cover_summary", "Cover, please. $parts")
    run = run_to_end(project, llm_judge, ["summarization", "question_coverage"])
    assert run.state == "finished"
    started = sorted(words.split(",")[0] for words in told(llm_server))
    # One document, two summaries.
    assert started == ["Align", "Align", "Cover", "Cover", "Read"]
    read = next(words for words in told(llm_server) if words.startswith("Read"))
    assert read == "Read, please. Take atomic claims of the reference. Make questions."
