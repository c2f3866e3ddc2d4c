"""The numbers that the automatic peers compute, where they are arithmetic; needs the recorded vectors.

COVERDICT_VECTORS names the folder of `completeness.jsonl` and `score.jsonl`. Every vector is either computed
alike or named below with the reason why not; one that is named and computed alike fails too.
"""

import json
import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from evaluation import (
    EvaluationError,
    alignment,
    claim_coverage,
    factual_alignment,
    question_coverage,
    summarization,
)
from evaluation._labels import Label
from evaluation.judging.parsing import read_label
from evaluation.metrics._completeness import completeness

STOP_WORDS = "counts stop words, which its page leaves out"
NO_ELEMENTS = "finds no element outside the Latin script, so that unrelated texts score 1"
CANNED = "canned answers: shows only that the input is not looked at"

COMPLETENESS_LEFT_OUT = {
    "seed_fox": STOP_WORDS,
    "seed_cat": STOP_WORDS,
    "seed_tesla": STOP_WORDS,
    "short_ai_vs_ais": STOP_WORDS,
    "number_words": STOP_WORDS,
    "contradiction": STOP_WORDS,
    "camel_split_input": "folds case first and never splits camelCase",
    "cjk_unrelated": NO_ELEMENTS,
    "cyrillic": NO_ELEMENTS,
    "korean_hangul_nfd": NO_ELEMENTS,
    "null_input": "an error here too, of our own type",
    "number_input": "an error here too, of our own type",
}
SCORE_LEFT_OUT = {
    ("deepeval", "unsure_claim"): "an error there, since it knows no such verdict; not supported here",
    ("deepeval", "all_out_of_vocab"): "an error there; two unscored claims, so no score, here",
    ("deepeval", "no_claims_full_coverage"): "no claims score 0 there; here there is nothing to score",
    ("deepeval", "no_claims"): "no claims score 0 there; here there is nothing to score",
    ("deepeval", "more_verdicts_than_claims"): "verdicts on claims that do not exist count there",
    (
        "deepeval",
        "answers_length_mismatch",
    ): "an error there; the question without an answer is unscored here",
    ("deepeval", "more_answers_than_questions"): "an error there; answers to no question are left out here",
    ("deepeval", "verbose_yes"): '"Yes, it does." counts as yes there; here a label stands alone',
    ("deepeval", "summary_idk"): 'an answer "Yes." counts as no there',
    ("deepeval", "threshold_none"): "a threshold is always set here",
    ("deepeval", "empty_summary"): "an error there; an empty summary has a score by rule here",
    ("deepeval", "none_summary"): "an error there and here",
    ("mastra", "yes_dot"): 'a verdict "yes." counts as no there',
    ("mastra", "scale_0"): "a scale of 0 is refused here",
    ("mastra", "fewer_answers"): "an error there; questions without an answer are unscored here",
    ("mastra", "empty_summary"): CANNED,
    ("assert-llm-tools", "cov_not_supported_phrase"): '"not supported" counts as supported there',
    ("assert-llm-tools", "cov_preamble_shifts"): "a preamble shifts all verdicts there",
    (
        "assert-llm-tools",
        "claim_parse_number_eaten",
    ): "two of four claims vanish there before they are counted",
    ("assert-llm-tools", "cons_not_unsupported"): '"not supported" counts as supported there',
    ("assert-llm-tools", "fa_zero_summary_claims"): "a KeyError there, null here",
    ("assert-llm-tools", "faithfulness_extra_lines_over_1"): "exceeds 1 there",
    ("assert-llm-tools", "empty_summary"): CANNED,
    ("assert-llm-tools", "unknown_metric"): "an error of the options, not a number",
}
WORDS: dict[str, Label] = {
    "supported": "yes",
    "unsupported": "no",
    "not present": "no",
    "borderline": "unsure",
    "idk": "unsure",
}
"""What the peers' own words mean; others are read as any judge's."""


def vectors(name: str) -> list[dict[str, Any]]:
    folder = os.environ.get("COVERDICT_VECTORS")
    if not folder:
        pytest.skip("COVERDICT_VECTORS does not name the folder of the peers' vectors")
    return [json.loads(line) for line in (Path(folder) / name).read_text(encoding="utf-8").splitlines()]


def labels(words: Sequence[str], count: int | None = None) -> list[Label | None]:
    """One label for each of so many claims or questions: what is missing is unscored, what is too much no answer."""
    found = [WORDS.get(word.strip().lower()) or read_label(word) for word in words]
    count = len(found) if count is None else count
    return [*found, *[None] * (count - len(found))][:count]


def rounded(value: float) -> float:
    """To two decimals with halves up, as JavaScript's Math.round."""
    return math.floor(value * 100 + 0.5) / 100


def test_completeness() -> None:
    differing = {
        vector["id"]
        for vector in vectors("completeness.jsonl")
        if "error" in vector
        or completeness(vector["input"], vector["output"]).score != pytest.approx(vector["score"])
    }
    assert differing == set(COMPLETENESS_LEFT_OUT)


def of_deepeval(vector: dict[str, Any]) -> None:
    given, options = vector["given"], vector["options"]
    asked = len(given.get("questions", ())) or None
    result = summarization(
        alignment(labels(given["verdicts"], given.get("n_claims"))),
        question_coverage(labels(given["original"], asked), labels(given["summary"], asked)),
        threshold=options.get("threshold", 0.5),
        strict=options.get("strict_mode", False),
    )
    assert (result.score, result.passed) == (pytest.approx(vector["score"]), vector["success"])


def of_mastra(vector: dict[str, Any]) -> None:
    given = vector["given"]
    scale = vector["options"].get("scale", 1)
    asked = len(given["questions"])
    source: list[Label | None] = ["yes"] * asked
    coverage = question_coverage(source, labels(given["answers"], asked))
    claims = len(given["claims"]) if "claims" in given else None
    result = summarization(alignment(labels(given["verdicts"], claims)), coverage, scale=scale)
    assert result.score is not None
    assert rounded(result.score) == pytest.approx(vector["score"])


def of_assert(vector: dict[str, Any]) -> None:
    given, result = vector["given"], vector["result"]

    def judged(lines: str, replies: str) -> list[Label | None]:
        claims = given[lines]
        count = None if claims is None else sum(bool(line) for line in claims)
        return labels(given[replies] or (), count)

    of_source = judged("source_claim_lines", "coverage_reply")
    of_summary = judged("summary_claim_lines", "consistency_reply")
    coverage, consistency = claim_coverage(of_source), alignment(of_summary)
    ours = {
        "coverage": coverage,
        "factual_consistency": consistency,
        "factual_alignment": factual_alignment(coverage, consistency),
        "reference_claims_count": len(of_source),
        "claims_in_summary_count": of_source.count("yes"),
        "summary_claims_count": len(of_summary),
        "supported_claims_count": of_summary.count("yes"),
    }
    known = {name: value for name, value in result.items() if name in ours}
    assert known
    assert {name: ours[name] for name in known} == pytest.approx(known)


COMPUTE = {"deepeval": of_deepeval, "mastra": of_mastra, "assert-llm-tools": of_assert}


def is_computed_alike(vector: dict[str, Any]) -> bool:
    if "error" in vector:
        return False
    try:
        COMPUTE[vector["peer"]](vector)
    except (AssertionError, EvaluationError, KeyError, TypeError):
        return False
    return True


def test_scores() -> None:
    found = vectors("score.jsonl")
    differing = {(vector["peer"], vector["id"]) for vector in found if not is_computed_alike(vector)}
    assert differing == set(SCORE_LEFT_OUT)
    assert len(found) - len(differing) >= 35
