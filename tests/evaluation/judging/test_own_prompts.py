"""Prompts in a user's own words: what is allowed, which version they have, and that they are what is sent."""

from __future__ import annotations

import json
from dataclasses import replace
from string import Template

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.judging import (
    CoverRequest,
    DocumentRequest,
    JudgeSettings,
    Limits,
    MemoryCallStore,
    OpenAIJudge,
    Text,
    check_claims,
)
from evaluation.judging import _sync as sync
from evaluation.judging.errors import UnusablePrompt
from evaluation.judging.prompts import LONGEST_PART, LONGEST_SYSTEM, PROMPTS, Prompt, Step
from tests.evaluation.judging.conftest import JudgeMaker
from tests.llm_server import LLMServer

CHECK: Step = "cover_summary"
READ: Step = "read_document"
OWN = "Mark. $parts Money is in $$.$custom_instruction\nAnswer as told."
COVERED = PROMPTS[CHECK].parts["claims"].instruction


def own(step: Step = CHECK, system: str = OWN) -> dict[Step, Prompt]:
    return {step: PROMPTS[step].reworded(system=system)}


# Versions


def test_the_version_follows_from_the_words() -> None:
    # sha256 of ["Mark each claim.\n$custom_instruction",{}], by sha256sum: e780667b46c5...
    prompt = PROMPTS["explain"].reworded(system="Mark each claim.\n$custom_instruction")
    assert prompt.version == "1+e780667b"
    assert prompt.is_reworded


@pytest.mark.parametrize("step", list(PROMPTS))
def test_the_built_in_words_have_the_built_in_version(step: Step) -> None:
    built_in = PROMPTS[step]
    # A browser sends other line ends and drops the first one; a form strips what stands around.
    sent = built_in.system.strip().replace("\n", "\r\n")
    parts = {name: words.strip() for name, words in built_in.part_words.items()}
    assert built_in.reworded(system=sent, parts=parts) == built_in
    assert not built_in.is_reworded


def test_a_reworded_part_alone_makes_a_new_version() -> None:
    prompt = PROMPTS[READ].reworded(parts={"topics": "Name the topics."})
    assert prompt.version.startswith("1+")
    assert prompt.system == PROMPTS[READ].system
    assert "Name the topics." in prompt.render(parts=["topics"])


# What is allowed


def test_no_server_template_language_is_understood() -> None:
    hostile = "{{ settings.SECRET_KEY }} {% load x %} {0.__class__} %(s)s `id` <script>"
    assert PROMPTS["explain"].reworded(system=hostile).render() == hostile


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("Mark $evil.", "unknown placeholders: evil. Known: custom_instruction, parts"),
        ("Mark ${x}.", "unknown placeholders: x"),
        ("Mark $Custom_Instruction.", "unknown placeholders: Custom_Instruction"),
        ("Costs $5.", "lone '\\$'; write '\\$\\$'"),
        ("Ends in $", "lone"),
        ("${custom_instruction", "lone"),
        (" \r\n ", "needs words"),
        ("x" * (LONGEST_SYSTEM + 1), "takes 8001 characters; at most 8000"),
        ("Mark\x00 it.", "control character U\\+0000 at position 5"),
        ("Mark \x1b[2J", "control character U\\+001B"),
        ("Mark \ud800", "control character U\\+D800"),
        ("$parts $custom_instruction and ${custom_instruction}", "2 times; once is enough"),
    ],
)
def test_words_that_a_step_cannot_be_told_in_are_refused(words: str, reason: str) -> None:
    with pytest.raises(UnusablePrompt, match=reason) as refused:
        PROMPTS[CHECK].reworded(system=words)
    assert "cover_summary" in str(refused.value)
    assert refused.value.part == ""


@pytest.mark.parametrize(("words", "times"), [("Read.", 0), ("$parts $parts", 2), ("$$parts", 0)])
def test_a_step_that_is_told_in_parts_holds_them_once(words: str, times: int) -> None:
    with pytest.raises(UnusablePrompt, match=f"must hold \\$parts once.* {times} times"):
        PROMPTS[READ].reworded(system=words)


@pytest.mark.parametrize(
    ("part", "words", "reason"),
    [
        ("claims", "Take $custom_instruction.", "unknown placeholders: custom_instruction. It may hold none"),
        ("claims", "For $5.", "lone"),
        ("claims", "", "needs words"),
        ("claims", "x" * (LONGEST_PART + 1), "at most 2000"),
        ("claims", "a\x07", "U\\+0007"),
        ("no-such", "Words.", "no part 'no-such'.* it has: claims, reference_claims"),
    ],
)
def test_a_part_is_held_to_the_same_and_named(part: str, words: str, reason: str) -> None:
    with pytest.raises(UnusablePrompt, match=reason) as refused:
        PROMPTS[READ].reworded(parts={part: words})
    assert refused.value.part == part


@given(st.text(max_size=60), st.text(max_size=30))
def test_any_text_is_refused_or_told_as_it_stands(words: str, wish: str) -> None:
    try:
        prompt = PROMPTS["explain"].reworded(system=words)
    except UnusablePrompt:
        return
    template = Template(prompt.system)
    assert set(template.get_identifiers()) == {"custom_instruction"}
    # Without placeholders the words come out with each "$$" as a "$", and nothing else is done to them.
    if "custom_instruction" not in words:
        plain = words.replace("\r\n", "\n").replace("\r", "\n").strip()
        assert prompt.render().strip() == plain.replace("$$", "$")
    if wish.strip():
        assert wish.strip() in prompt.render(wish)


# Giving them to a judge


@pytest.mark.parametrize(
    "forged",
    [replace(PROMPTS[CHECK], parts={}), replace(PROMPTS[CHECK], parts=PROMPTS[READ].parts)],
)
def test_a_prompt_that_asks_for_another_form_of_reply_is_refused(forged: Prompt) -> None:
    with pytest.raises(JudgeSettings, match="another form of reply"):
        OpenAIJudge("m", prompts={CHECK: forged})


def test_own_words_are_what_is_sent(judge_of: JudgeMaker, llm_server: LLMServer) -> None:
    judge = judge_of(prompts=own(), custom_instruction="Mind $this.")
    assert [verdict.label for verdict in check_claims(["It rained"], "It rained.", judge=judge)] == ["yes"]
    assert llm_server.calls[0].body["messages"][0]["content"] == (
        f"Mark. {COVERED} Money is in $.\nThe user of this evaluation adds:\nMind $this.\n\nAnswer as told."
    )


def test_a_merged_step_is_told_in_own_words(judge_of: JudgeMaker, llm_server: LLMServer) -> None:
    prompt = PROMPTS[READ].reworded(
        system="Just data. $parts", parts={"claims": "List atomic claims.", "topics": "Give main topics."}
    )
    judge = judge_of(prompts={READ: prompt})
    request = DocumentRequest(Text.of("It rained."), claims=True, topics=True)
    reading = sync.run(sync.closing(judge, judge.read_document(request)))
    assert reading.claims is not None
    told = llm_server.calls[0].body["messages"][0]["content"]
    assert told == "Just data. List atomic claims. Give main topics."


def test_new_words_are_asked_anew_and_old_ones_are_found(judge_of: JudgeMaker, llm_server: LLMServer) -> None:
    store = MemoryCallStore()
    made = []
    for prompts in ({}, own(), {}, own()):
        check_claims(["It rained"], "It rained.", judge=judge_of(store=store, prompts=prompts))
        made.append(len(llm_server.calls))
    assert made == [1, 2, 2, 2]
    assert [call.prompt_version for call in store.calls] == [PROMPTS[CHECK].version, own()[CHECK].version]


def test_the_signature_follows_from_the_words(judge_of: JudgeMaker) -> None:
    plain, reworded, again = judge_of(), judge_of(prompts=own()), judge_of(prompts=own())
    assert reworded.signature == again.signature != plain.signature
    assert own()[CHECK].version in reworded.signature
    assert judge_of(prompts=dict(PROMPTS)).signature == plain.signature


def test_where_no_schema_is_known_own_words_are_followed_by_it(
    judge_of: JudgeMaker, llm_server: LLMServer
) -> None:
    llm_server.formats = ()
    check_claims(["It rained"], "It rained.", judge=judge_of(prompts=own()))
    told = llm_server.calls[-1].body["messages"][0]["content"]
    words, _, schema = told.partition("\nAnswer with JSON only, of this schema: ")
    assert words == f"Mark. {COVERED} Money is in $.\nAnswer as told."
    assert json.loads(schema) == PROMPTS[CHECK].schema_of(["claims"])


def test_longer_words_leave_less_room_for_texts(judge_of: JudgeMaker, llm_server: LLMServer) -> None:
    text = Text.of(" ".join(f"Sentence number {number} says little." for number in range(120)))
    limits = Limits(max_tokens=100, context_tokens=2600)
    calls = []
    for prompts in ({}, own("cover_summary", "$parts" + " Mind every word." * 400)):
        judge = judge_of(limits=limits, prompts=prompts)
        sync.run(sync.closing(judge, judge.cover_summary(CoverRequest(text, ("It rained",)))))
        calls.append(len(llm_server.calls))
    assert calls[1] - calls[0] > calls[0]
