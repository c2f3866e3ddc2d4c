"""The server finds a claim if the text contains all its words, and takes every sentence for one claim."""

import asyncio
from typing import Any

import pytest

from evaluation import (
    METRICS,
    EvaluationError,
    LexicalJudge,
    Limits,
    MoneyCap,
    OpenAIJudge,
    Price,
    SummaryEvaluation,
    completeness,
    evaluate_summaries,
    evaluate_summary,
    stream_evaluations,
)
from evaluation.judging.protocol import MemoryCallStore
from tests.evaluation.judging.conftest import JudgeMaker
from tests.evaluation.running.dams import corpus
from tests.llm_server import Call, Fault, LLMServer, faults

DOCUMENT = "It rained on Monday. The mayor left. Nobody asked why. The bridge stayed open."
# The document supports two of the summary's three claims, and the summary contains two of the document's four.
SUMMARY = "The mayor left. The bridge stayed open. It snowed."
ALL_METRICS = list(METRICS)


def test_scores_follow_from_the_verdicts(judge: OpenAIJudge) -> None:
    result = evaluate_summary(DOCUMENT, SUMMARY, judge=judge, metrics=ALL_METRICS, target_words=18)
    assert result["coverage"] == result["claim_coverage"] == 0.5
    assert (
        result["alignment"] == result["factual_consistency"] == result["faithfulness"] == pytest.approx(2 / 3)
    )
    # The harmonic mean of 1/2 and 2/3 is 4/7.
    assert result["factual_alignment"] == pytest.approx(4 / 7)
    # The server makes a question from each of the document's four sentences; the summary answers two with yes.
    assert result["question_coverage"] == 0.5
    assert result["summarization"] == 0.5
    assert result.passed is True
    # 9 words of 14 are a ratio of .643, more than twice the best ratio, so compression is 0; sentences are short.
    assert result["conciseness"] == pytest.approx(0.7 * 0.4 + 0.3 * 0.8)
    assert result["coherence"] == 0.8
    assert result["redundancy"] == 1.0
    # The topics are the document's first three words, "It", "rained" and "on"; the summary contains "It".
    assert result["topic_preservation"] == pytest.approx(1 / 3)
    assert result["brevity"] == 0.5
    assert result["completeness"] == completeness(DOCUMENT, SUMMARY).score


def test_one_summary_costs_three_calls_and_two_round_trips(judge: OpenAIJudge, llm_server: LLMServer) -> None:
    llm_server.latency = 0.3

    async def evaluate() -> None:
        # The first call of a judge is sent alone.
        await judge.check_source(["x"], _text())
        async for _ in stream_evaluations([(DOCUMENT, SUMMARY)], judge=judge):
            pass
        await judge.aclose()

    asyncio.run(evaluate())
    # Sequential calls would need three round trips.
    assert (len(llm_server.calls) - 1, llm_server.most_at_once) == (3, 2)


def _text() -> Any:
    from evaluation.judging.protocol import Text

    return Text.of(DOCUMENT)


def test_what_depends_on_the_document_alone_is_asked_once(judge: OpenAIJudge, llm_server: LLMServer) -> None:
    items = [(DOCUMENT, f"The mayor left. It was day {number}.") for number in range(5)]
    evaluate_summaries(items, judge=judge)
    assert len(llm_server.calls) == 1 + 2 * 5


def test_the_summary_answers_without_seeing_the_source(judge: OpenAIJudge, llm_server: LLMServer) -> None:
    evaluate_summary(DOCUMENT, SUMMARY, judge=judge, metrics=["question_coverage"])
    _, asked = llm_server.calls
    assert "rained on Monday?" in str(asked.question["questions"])
    assert asked.question["text"] == {
        "1": "The mayor left.",
        "2": "The bridge stayed open.",
        "3": "It snowed.",
    }


def test_claims_come_from_the_reference_where_there_is_one(judge: OpenAIJudge) -> None:
    result = evaluate_summary(
        DOCUMENT,
        SUMMARY,
        reference="The mayor left. It rained.",
        judge=judge,
        metrics=["coverage"],
        verbose=True,
    )
    assert result["coverage"] == 0.5
    assert result.details is not None
    assert [each.claim.text for each in result.details.reference_claims] == ["The mayor left", "It rained"]


def test_with_a_reference_coverage_is_the_mean_over_its_units(
    judge: OpenAIJudge, llm_server: LLMServer
) -> None:
    llm_server.claims_of = lambda unit: unit.rstrip(".").split(" and ")
    result = evaluate_summary(
        DOCUMENT,
        SUMMARY,
        reference="The mayor left and it hailed and it thundered. The bridge stayed open.",
        judge=judge,
        metrics=["coverage", "claim_coverage"],
    )
    # One of three claims of the first unit is yes, and the only claim of the second. So coverage is (1/3 + 1) / 2, and
    # claim coverage is 2 of 4.
    assert result["coverage"] == pytest.approx(2 / 3)
    assert result["claim_coverage"] == 0.5


def test_given_questions_are_answered_by_both_sides(judge: OpenAIJudge) -> None:
    result = evaluate_summary(
        DOCUMENT,
        SUMMARY,
        judge=judge,
        questions=["mayor left?", "rained on monday?", "snowed?"],
        metrics=["question_coverage"],
        verbose=True,
    )
    assert result["question_coverage"] == 0.5
    assert result.details is not None
    labels = [(each.source.label, each.summary.label) for each in result.details.questions]
    assert labels == [("yes", "yes"), ("yes", "no"), ("no", "yes")]


def test_without_questions_summarization_takes_claim_coverage(
    judge: OpenAIJudge, llm_server: LLMServer
) -> None:
    result = evaluate_summary(DOCUMENT, SUMMARY, judge=judge, n_questions=0, metrics=["summarization"])
    assert result["summarization"] == 0.5
    assert not any("n_questions" in call.question for call in llm_server.calls)


def test_scale_strict_and_threshold(judge: OpenAIJudge) -> None:
    def judged(**options: Any) -> tuple[float | None, bool | None]:
        result = evaluate_summary(DOCUMENT, SUMMARY, judge=judge, metrics=["summarization"], **options)
        return result["summarization"], result.passed

    assert judged(scale=10) == (5.0, True)
    assert judged(threshold=0.51) == (0.5, False)
    assert judged(strict=True) == (0.0, False)


def test_reasons_name_what_decided_and_cost_nothing(judge: OpenAIJudge, llm_server: LLMServer) -> None:
    result = evaluate_summary(DOCUMENT, SUMMARY, judge=judge)
    assert "2 of 3 claims of the summary are supported" in result.reasons["alignment"]
    assert '"It snowed" (missing: snowed)' in result.reasons["summarization"]
    assert len(llm_server.calls) == 3
    assert evaluate_summary(DOCUMENT, SUMMARY, judge=judge, include_reason=False).reasons == {}


def test_a_result_as_a_mapping_holds_counts_that_are_0_and_none_of_what_nobody_found_out(
    judge: OpenAIJudge, llm_server: LLMServer
) -> None:
    # The summary contains none of the document's four claims, and the document does not support the summary's claim.
    metrics = ["coverage", "alignment"]
    counts = {
        "reference_claims_count": 4,
        "claims_in_summary_count": 0,
        "summary_claims_count": 1,
        "supported_claims_count": 0,
    }
    result = evaluate_summary(DOCUMENT, "It snowed.", judge=judge, metrics=metrics)
    assert dict(result) == {"coverage": 0.0, "alignment": 0.0, **counts}
    assert (len(result), "supported_claims_count" in result) == (6, True)
    not_asked = evaluate_summary(DOCUMENT, "It snowed.", judge=judge, metrics=["coverage"])
    assert list(not_asked) == ["coverage", "reference_claims_count", "claims_in_summary_count"]
    assert "summary_claims_count" not in not_asked
    # Coverage is 0 by rule, and no claims were extracted.
    assert dict(evaluate_summary(DOCUMENT, "", judge=judge, metrics=metrics)) == {"coverage": 0.0}
    llm_server.where(lambda _: faults.text("Well, well."))
    assert dict(evaluate_summary("Another text.", "It snowed.", judge=judge, metrics=metrics)) == {}


def test_metrics_that_need_no_judge_ask_none(judge: OpenAIJudge, llm_server: LLMServer) -> None:
    result = evaluate_summary(
        DOCUMENT, SUMMARY, judge=judge, metrics=["redundancy", "brevity"], target_words=18
    )
    assert dict(result.scores) == {"redundancy": 1.0, "brevity": 0.5}
    assert llm_server.calls == []


def test_an_empty_summary_is_scored_by_rule(judge: OpenAIJudge, llm_server: LLMServer) -> None:
    result = evaluate_summary(DOCUMENT, " ", judge=judge, metrics=ALL_METRICS, target_words=5)
    assert result.flags == ("empty_summary",)
    assert [result[name] for name in ("coverage", "question_coverage", "brevity")] == [0.0, 0.0, 1.0]
    assert [result[name] for name in ("alignment", "summarization", "conciseness")] == [None] * 3
    assert llm_server.calls == []


@pytest.mark.parametrize(
    ("document", "reference", "reason"),
    [
        (DOCUMENT, "", "The reference is empty."),
        (DOCUMENT, " \n", "The reference is empty."),
        (DOCUMENT, "...", "The reference contains no words."),
        ("", None, "The document is empty."),
        ("?! \u2014 \U0001f642\U0001f642", None, "The document contains no words."),
    ],
)
def test_where_there_is_nothing_to_cover_there_is_no_coverage(
    judge: OpenAIJudge, document: str, reference: str | None, reason: str
) -> None:
    result = evaluate_summary(
        document, SUMMARY, reference=reference, judge=judge, metrics=["coverage", "claim_coverage"]
    )
    assert (result["coverage"], result["claim_coverage"], result.flags) == (None, None, ())
    assert result.reasons == {"coverage": reason, "claim_coverage": reason}


def test_a_blank_reference_costs_nothing_else_its_score(judge: OpenAIJudge) -> None:
    result = evaluate_summary(DOCUMENT, SUMMARY, reference="", judge=judge)
    assert (result["coverage"], result["question_coverage"] is None) == (None, False)
    assert result["summarization"] is not None


def emptied(answer: dict[str, Any]) -> dict[str, Any]:
    return answer | {"units": [{**unit, "claims": []} for unit in answer.get("units", [])]}


NO_CLAIMS = faults.changed(emptied)
"""Every unit is listed, and none has a claim."""


def test_a_text_asked_about_for_many_summaries_is_asked_about_twice_in_a_run(
    judge: OpenAIJudge, llm_server: LLMServer
) -> None:
    llm_server.always(faults.text("rubbish"))
    evaluate_summaries([(DOCUMENT, SUMMARY)] * 6, judge=judge, metrics=["alignment"])
    assert len(llm_server.calls) == 2


@pytest.mark.parametrize("limits", [Limits(), Limits(claims_per_call=1)], ids=["one call", "one a unit"])
def test_sentences_that_twice_hold_no_claim_state_nothing(
    judge_of: JudgeMaker, llm_server: LLMServer, limits: Limits
) -> None:
    llm_server.always(NO_CLAIMS)
    judge = judge_of(limits=limits)
    result = evaluate_summary(DOCUMENT, SUMMARY, judge=judge, metrics=["coverage", "alignment"])
    # The page of the coverage metric says "Score of 1.0 with 0 claims"; a summary without claims has no alignment.
    assert (result["coverage"], result["alignment"], result.flags) == (1.0, None, ("no_claims",))
    units = 4 + 3 if limits.claims_per_call == 1 else 2
    assert len(llm_server.calls) == 2 * units


def test_a_second_reply_that_cannot_be_read_confirms_nothing(
    judge: OpenAIJudge, llm_server: LLMServer
) -> None:
    llm_server.then(NO_CLAIMS, faults.text("rubbish"))
    result = evaluate_summary(DOCUMENT, SUMMARY, judge=judge, metrics=["coverage"])
    assert (result["coverage"], result.flags) == (None, ())


def test_sentences_without_any_claim_are_asked_about_once_more(
    judge: OpenAIJudge, llm_server: LLMServer
) -> None:
    llm_server.then(NO_CLAIMS)
    result = evaluate_summary(DOCUMENT, SUMMARY, judge=judge, metrics=["alignment"])
    assert result["alignment"] is not None
    assert len(llm_server.calls) == 2


def test_a_unit_without_claims_among_others_is_an_answer(judge: OpenAIJudge, llm_server: LLMServer) -> None:
    llm_server.claims_of = lambda unit: [unit] if "mayor" in unit else []
    result = evaluate_summary(DOCUMENT, SUMMARY, judge=judge, metrics=["alignment"])
    assert result.counts["summary_claims"] == 1
    assert len(llm_server.calls) == 1


@pytest.mark.parametrize("character", ["\x00", "\ud800", "\u202e", "\ufffe", "\x1b"])
def test_no_character_breaks_an_evaluation(judge: OpenAIJudge, character: str) -> None:
    for each in (judge, LexicalJudge()):
        result = evaluate_summary(
            f"{DOCUMENT} It {character} hailed.",
            f"The mayor left. It hailed {character}.",
            judge=each,
            questions=[f"Did it hail{character}?"],
            custom_instruction=f"Be strict{character}.",
        )
        assert result["alignment"] is not None


def test_usage_is_what_was_paid_now(judge_of: JudgeMaker) -> None:
    store = MemoryCallStore()
    judge = judge_of(store=store, price=Price(prompt=1.0, completion=2.0))
    first = evaluate_summary(DOCUMENT, SUMMARY, judge=judge)
    assert first.usage.calls == 3
    assert first.usage.prompt_tokens == sum(call.prompt_tokens or 0 for call in store.calls)
    assert first.usage.cost == pytest.approx(
        (first.usage.prompt_tokens + 2 * first.usage.completion_tokens) / 1_000_000
    )
    again = evaluate_summary(DOCUMENT, SUMMARY, judge=judge)
    assert again.usage.calls == 0
    assert again.scores == first.scores


@pytest.mark.slow
def test_results_stand_in_order_and_arrive_as_they_finish(judge: OpenAIJudge, llm_server: LLMServer) -> None:
    llm_server.where(lambda call: faults.slow(0.4) if "Dam 0 " in str(call.question) else None)
    arrived: list[int] = []
    results = evaluate_summaries(corpus(6), judge=judge, on_result=lambda at, _: arrived.append(at))
    assert [result.key for result in results] == [str(number) for number in range(6)]
    assert sorted(arrived) == list(range(6))
    assert arrived[-1] == 0


def test_a_part_that_fails_leaves_the_other_parts_scored(judge: OpenAIJudge, llm_server: LLMServer) -> None:
    llm_server.where(lambda call: faults.refusal() if "summary" in call.question else None)
    result = evaluate_summary(
        DOCUMENT, SUMMARY, judge=judge, metrics=["coverage", "alignment", "summarization"]
    )
    assert (result["coverage"], result["alignment"], result["summarization"]) == (0.5, None, None)
    assert "refused" in result.reasons["alignment"]
    assert "refused" in result.reasons["summarization"]


def test_a_second_run_makes_no_calls_and_a_cut_one_pays_for_the_rest(
    judge_of: JudgeMaker, llm_server: LLMServer
) -> None:
    store, items = MemoryCallStore(), corpus(6)
    evaluate_summaries(items[:3], judge=judge_of(store=store))
    assert len(llm_server.calls) == 9
    evaluate_summaries(items, judge=judge_of(store=store))
    assert len(llm_server.calls) == 18
    evaluate_summaries(items, judge=judge_of(store=store))
    assert len(llm_server.calls) == 18


def test_a_money_cap_stops_cleanly_and_can_be_resumed(judge_of: JudgeMaker, llm_server: LLMServer) -> None:
    store, items = MemoryCallStore(), corpus(8)
    limits = Limits(concurrency=1, max_tokens=100)
    price = Price(prompt=1000.0, completion=1000.0)
    # A call of about 150 tokens, with 100 more reserved for its reply, costs at most about .25.
    cap = MoneyCap(2.0)
    cut = evaluate_summaries(items, judge=judge_of(store=store, limits=limits, price=price, budget=cap))
    stopped = [result for result in cut if None in result.scores.values()]
    assert 0 < len(stopped) < 8
    assert "money cap of 2" in stopped[-1].reasons["alignment"]
    assert 0 < cap.spent <= 2.0
    made = len(llm_server.calls)
    whole = evaluate_summaries(items, judge=judge_of(store=store, limits=limits, price=price))
    assert all(None not in result.scores.values() for result in whole)
    assert len(llm_server.calls) == 24
    assert made < 24


def test_an_error_in_the_callers_own_code_stops_the_run(judge: OpenAIJudge, llm_server: LLMServer) -> None:
    llm_server.latency = 0.05

    def refuse(position: int, result: SummaryEvaluation) -> None:
        raise RuntimeError(f"no room for {position}: {result.key}")

    with pytest.raises(RuntimeError, match="no room"):
        evaluate_summaries(corpus(50), judge=judge, on_result=refuse)
    assert len(llm_server.calls) < 150


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"metrics": ["rouge"]}, "Unknown metrics: rouge"),
        ({"metrics": "coverage"}, "write \\['coverage'\\]"),
        ({"metrics": []}, "No metrics"),
        ({"questions": "Why?"}, "list of questions"),
        ({"metrics": None}, "metrics is a list of names, got None"),
        ({"metrics": 5}, "metrics is a list of names, got 5"),
        ({"metrics": [5]}, "Unknown metrics: 5"),
        ({"questions": [" "]}, "Question 1 is empty"),
        ({"n_questions": -1}, "whole number of 0 to 100, got -1"),
        ({"n_questions": "5"}, "whole number of 0 to 100, got '5'"),
        ({"n_questions": 2.5}, "whole number of 0 to 100, got 2.5"),
        ({"n_questions": True}, "whole number of 0 to 100, got True"),
        ({"n_questions": 10**6}, "whole number of 0 to 100, got 1000000"),
        ({"scale": 0}, "above 0"),
        ({"scale": "10"}, "above 0, got '10'"),
        ({"threshold": 1.5}, "0 to 1"),
        ({"threshold": "x"}, "0 to 1, got 'x'"),
        ({"strict": "no"}, "strict must be True or False"),
        ({"verbose": 1}, "verbose must be True or False"),
        ({"custom_instruction": 5}, "custom_instruction must be a text or None, got 5"),
        ({"include_reason": "llm"}, "include_reason"),
    ],
)
def test_options_that_cannot_be_are_refused(options: dict[str, Any], reason: str) -> None:
    with pytest.raises(EvaluationError, match=reason):
        evaluate_summary(DOCUMENT, SUMMARY, judge=LexicalJudge(), **options)


def labelled_once(call: Call) -> Fault:
    def answered(answer: dict[str, Any]) -> dict[str, Any]:
        for entry in answer.get("units", ()):
            for claim in entry["claims"]:
                if isinstance(claim, dict) and entry["unit"] != 1:
                    claim["label"] = "perhaps"
        # In a repeated request, the summary's claims follow the source.
        first = [] if list(call.question) == ["text", "claims"] else ["c1"]
        answer["answers"] = [each for each in answer.get("answers", ()) if each["id"] in first]
        return answer

    return faults.changed(answered)


def test_what_is_mostly_unscored_has_no_score_a_flag_and_a_reason(
    judge_of: JudgeMaker, llm_server: LLMServer
) -> None:
    llm_server.where(labelled_once)
    summary = "It rained on Monday. The mayor left. Nobody asked why."
    metrics = ["coverage", "claim_coverage", "alignment", "factual_alignment", "summarization"]
    result = evaluate_summary(DOCUMENT, summary, judge=judge_of(), metrics=metrics, n_questions=0)
    assert set(result.scores.values()) == {None}
    assert result.flags == ("mostly_unscored",)
    assert result.reasons["alignment"].startswith("1 of 3 claims of the summary are scored, less than")
    assert result.reasons["coverage"].startswith("1 of 4 claims of the document are scored, less than")


def test_a_smaller_least_share_lets_it_stand_and_flags_it(
    judge_of: JudgeMaker, llm_server: LLMServer
) -> None:
    llm_server.where(labelled_once)
    result = evaluate_summary(
        DOCUMENT, "It rained on Monday.", judge=judge_of(), metrics=["coverage"], least_scored=0
    )
    assert (result["coverage"], result.flags) == (1.0, ("mostly_unscored",))
