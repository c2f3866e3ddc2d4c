"""The numbers that the automatic peers compute, where they are arithmetic; needs the recorded vectors.

COVERDICT_VECTORS names the folder of `completeness.jsonl` and `score.jsonl`. Every vector is either computed
alike or named below with the reason why not.
"""

import json
import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from evaluation import alignment, claim_coverage, factual_alignment, question_coverage, summarization
from evaluation._completeness import completeness
from evaluation._labels import Label

STOP_WORDS = "counts stop words, which its page leaves out"
NO_ELEMENTS = "finds no element outside the Latin script, so that unrelated texts score 1"
MISSING_VERDICTS = "fewer verdicts than claims: missing ones are unscored, not passed"
PARSING = "reads lines of prose; an answer must name its claim here"

COMPLETENESS_LEFT_OUT = {
    "seed_fox": STOP_WORDS,
    "seed_cat": STOP_WORDS,
    "seed_tesla": STOP_WORDS,
    "short_ai_vs_ais": STOP_WORDS,
    "number_words": STOP_WORDS,
    "contradiction": STOP_WORDS,
    "names": STOP_WORDS,
    "camel_split_input": "folds case first and never splits camelCase",
    "cjk_unrelated": NO_ELEMENTS,
    "cyrillic": NO_ELEMENTS,
    "korean_hangul_nfd": NO_ELEMENTS,
    "null_input": "an error here too, of our own type",
    "number_input": "an error here too, of our own type",
}
SCORE_LEFT_OUT = {
    ("deepeval", "unsure_claim"): "an unknown word for a verdict is an error there, unsure here",
    ("deepeval", "all_out_of_vocab"): "an unknown word for a verdict is an error there, unscored here",
    ("deepeval", "no_claims_full_coverage"): "no claims score 0 there; here there is nothing to score",
    ("deepeval", "no_claims"): "no claims score 0 there; here there is nothing to score",
    ("deepeval", "fewer_verdicts_than_claims"): MISSING_VERDICTS,
    ("deepeval", "more_verdicts_than_claims"): "verdicts on claims that do not exist count there",
    ("deepeval", "fewer_answers_than_questions_both"): "unanswered questions vanish there",
    ("deepeval", "answers_length_mismatch"): "an error there; unanswered questions are unscored here",
    ("deepeval", "more_answers_than_questions"): "an error there; surplus answers are refused here",
    ("deepeval", "verbose_yes"): PARSING,
    ("deepeval", "summary_idk"): 'an answer "Yes." counts as no there',
    ("deepeval", "threshold_none"): "a threshold is always set here",
    ("deepeval", "empty_summary"): "an error there; an empty summary has a score by rule here",
    ("deepeval", "none_summary"): "an error there and here",
    ("mastra", "yes_dot"): 'a verdict "yes." counts as no there',
    ("mastra", "scale_0"): "a scale of 0 is refused here",
    ("mastra", "fewer_verdicts_than_claims"): MISSING_VERDICTS,
    ("mastra", "fewer_answers"): "an error there; unanswered questions are unscored here",
    ("mastra", "empty_summary"): "canned answers: shows only that the input is not looked at",
    ("assert-llm-tools", "cov_extra_lines_cut"): PARSING,
    ("assert-llm-tools", "cov_not_supported_phrase"): '"not supported" counts as supported there',
    ("assert-llm-tools", "cov_preamble_shifts"): "a preamble shifts all verdicts there",
    ("assert-llm-tools", "claim_parse_number_eaten"): "claims lose their first digits there",
    ("assert-llm-tools", "cons_not_unsupported"): '"not supported" counts as supported there',
    ("assert-llm-tools", "fa_zero_summary_claims"): "a KeyError there, null here",
    ("assert-llm-tools", "faithfulness_extra_lines_over_1"): "exceeds 1 there",
    ("assert-llm-tools", "empty_summary"): "canned answers: shows only that the input is not looked at",
    ("assert-llm-tools", "unknown_metric"): "an error of the options, not a number",
}
LABELS: dict[str, Label] = {
    "yes": "yes",
    "no": "no",
    "supported": "yes",
    "unsupported": "no",
    "borderline": "unsure",
    "idk": "unsure",
    "unsure": "unsure",
}


def vectors(name: str) -> list[dict[str, Any]]:
    folder = os.environ.get("COVERDICT_VECTORS")
    if not folder:
        pytest.skip("COVERDICT_VECTORS does not name the folder of the peers' vectors")
    return [json.loads(line) for line in (Path(folder) / name).read_text(encoding="utf-8").splitlines()]


def labels(words: Sequence[str]) -> list[Label | None]:
    return [LABELS[word.strip().lower()] for word in words]


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
    result = summarization(
        alignment(labels(given["verdicts"])),
        question_coverage(labels(given["original"]), labels(given["summary"])),
        threshold=options.get("threshold", 0.5),
        strict=options.get("strict_mode", False),
    )
    assert (result.score, result.passed) == (pytest.approx(vector["score"]), vector["success"])


def of_mastra(vector: dict[str, Any]) -> None:
    given = vector["given"]
    scale = vector["options"].get("scale", 1)
    source: list[Label | None] = ["yes"] * len(given["questions"])
    coverage = question_coverage(source, labels(given["answers"]))
    result = summarization(alignment(labels(given["verdicts"])), coverage, scale=scale)
    assert result.score is not None
    assert rounded(result.score) == pytest.approx(vector["score"])


def of_assert(vector: dict[str, Any]) -> None:
    given, result = vector["given"], vector["result"]
    claims = [line for line in given["source_claim_lines"] or () if line]
    coverage = claim_coverage(labels(given["coverage_reply"] or ())[: len(claims)])
    consistency = alignment(labels(given["consistency_reply"] or ()))
    ours = {
        "coverage": coverage,
        "factual_consistency": consistency,
        "factual_alignment": factual_alignment(coverage, consistency),
    }
    known = {name: value for name, value in result.items() if name in ours}
    assert known
    assert {name: ours[name] for name in known} == pytest.approx(known)


COMPUTE = {"deepeval": of_deepeval, "mastra": of_mastra, "assert-llm-tools": of_assert}


def test_scores() -> None:
    found = vectors("score.jsonl")
    computed = [vector for vector in found if (vector["peer"], vector["id"]) not in SCORE_LEFT_OUT]
    for vector in computed:
        try:
            COMPUTE[vector["peer"]](vector)
        except (AssertionError, KeyError) as error:
            pytest.fail(f"{vector['peer']} {vector['id']}: {error!r}")
    assert len(computed) >= 30
    assert set(SCORE_LEFT_OUT) <= {(vector["peer"], vector["id"]) for vector in found}
