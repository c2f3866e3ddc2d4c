"""The worked examples on the pages of the metrics.

Sources: the pages of coverage (Assert LLM Tools), SummarizationMetric (Mastra), SummarizationMetric (DeepEval) and
CompletenessMetric (Kastrax).
"""

from collections.abc import Mapping, Sequence

import pytest

from evaluation import (
    OpenAIJudge,
    SummaryEvaluation,
    completeness,
    evaluate_summary,
)
from tests.llm_server import Answer, Call, Fault, LLMServer, faults

CAT = (
    "The cat is black and sleeps on the windowsill during sunny afternoons. "
    "It enjoys watching birds and occasionally naps in the garden."
)
CAT_SUMMARY = "The black cat sleeps by the window."
CAT_CLAIMS = {
    "The cat is black": "yes",
    "The cat sleeps on the windowsill during sunny afternoons": "yes",
    "The cat enjoys watching birds": "no",
    "The cat occasionally naps in the garden": "no",
}
FIRM = (
    "The company was founded in 1995 by John Smith. It started with 10 employees and grew to 500 by 2020. "
    "The company is based in Seattle."
)
FIRM_SUMMARY = "Founded in 1995 by John Smith, the company grew from 10 to 500 employees by 2020."
CARS = (
    "The electric car company Tesla was founded in 2003 by Martin Eberhard and Marc Tarpenning. Elon Musk joined "
    "in 2004 as the largest investor and became CEO in 2008. The company's first car, the Roadster, was launched "
    "in 2008."
)
CARS_SUMMARY = (
    "Tesla, founded by Elon Musk in 2003, revolutionized the electric car industry starting with the Roadster "
    "in 2008."
)


class Page:
    """A rule for the scripted server, which then gives the answers that a page reports.

    - `claims`: the claims of each unit of the reference
    - `own_claims`: the summary's claims, each with its label
    - `covered`, `source`: the labels of claims and questions by their text, from the summary and from the source; the
      label of other texts is no. A text with a second unit is the source.
    """

    def __init__(
        self,
        *,
        claims: Sequence[Sequence[str]] = (),
        own_claims: Mapping[str, str] | None = None,
        covered: Mapping[str, str] | None = None,
        source: Mapping[str, str] | None = None,
    ) -> None:
        self.claims = claims
        self.own_claims = own_claims or {}
        self.covered = covered or {}
        self.source = source or {}

    def __call__(self, call: Call) -> Fault:
        return faults.changed(lambda _: self._answer(call))

    def _answer(self, call: Call) -> Answer:
        question = call.question
        if "summary" in question:
            claims = [{"claim": claim, "label": label} for claim, label in self.own_claims.items()]
            return {"units": [{"unit": 1, "claims": claims}]}
        asked = {**question.get("claims", {}), **question.get("questions", {})}
        of_source = bool(question.get("text", {}).get("2"))
        labels = self.source if of_source else self.covered
        units = [{"unit": at, "claims": list(listed)} for at, listed in enumerate(self.claims, start=1)]
        answers = [
            {"id": identity, "label": labels.get(text, "no"), "evidence": [1], "reason": f"as to {text}"}
            for identity, text in asked.items()
        ]
        return {"units": units, "answers": answers}


def assert_found(result: SummaryEvaluation, scores: Mapping[str, float]) -> None:
    assert {name: result[name] for name in scores} == pytest.approx(scores)


def test_coverage_is_the_share_of_the_reference_s_claims(judge: OpenAIJudge, llm_server: LLMServer) -> None:
    first, second, third, fourth = CAT_CLAIMS
    llm_server.where(Page(claims=[[first, second], [third, fourth]], covered=CAT_CLAIMS))
    result = evaluate_summary(
        CAT, CAT_SUMMARY, judge=judge, metrics=["coverage", "claim_coverage"], verbose=True
    )
    # The summary covers 2 of the reference's 4 claims.
    assert_found(result, {"coverage": 0.5, "claim_coverage": 0.5})
    assert (result.counts["reference_claims"], result.counts["reference_claims_yes"]) == (4, 2)
    told = {each.claim.text: each.verdict for each in result.details.reference_claims}
    assert {text: verdict.label for text, verdict in told.items()} == CAT_CLAIMS
    assert all(verdict.evidence == (1,) for verdict in told.values())
    assert all(verdict.reason == f"as to {text}" for text, verdict in told.items())


def test_the_page_s_own_loops_run_over_a_result(judge: OpenAIJudge, llm_server: LLMServer) -> None:
    first, second, third, fourth = CAT_CLAIMS
    llm_server.where(Page(claims=[[first, second], [third, fourth]], covered=CAT_CLAIMS))
    metrics = evaluate_summary(CAT, CAT_SUMMARY, judge=judge, metrics=["coverage"], verbose=True)
    assert [f"{metric}: {score:.4f}" for metric, score in metrics.items()] == [
        "coverage: 0.5000",
        "reference_claims_count: 4.0000",
        "claims_in_summary_count: 2.0000",
    ]
    assert metrics["reference_claims_count"] - metrics["claims_in_summary_count"] == 2
    assert "claims_analysis" in metrics
    assert [(each["claim"], each["is_covered"]) for each in metrics["claims_analysis"]] == [
        (claim, label == "yes") for claim, label in CAT_CLAIMS.items()
    ]
    assert metrics.verbose_text() == (
        "Coverage: 0.5000\n"
        "Reference claims: 4\n"
        "Claims in summary: 2\n"
        "Missing claims: 2\n"
        "\n"
        "Detailed Claim Analysis:\n"
        "1. ✓ COVERED: The cat is black\n"
        "2. ✓ COVERED: The cat sleeps on the windowsill during sunny afternoons\n"
        "3. ✗ MISSING: The cat enjoys watching birds\n"
        "4. ✗ MISSING: The cat occasionally naps in the garden"
    )


def test_a_result_without_a_score_leaves_it_out_of_its_items(judge: OpenAIJudge) -> None:
    result = evaluate_summary(CAT, "", judge=judge, metrics=["alignment", "completeness"])
    assert dict(result) == {"completeness": 0.0}
    assert (result["alignment"], "claims_analysis" in result) == (None, False)
    assert result.verbose_text() == "Alignment: unscored\nCompleteness: 0.0000"


def test_a_reference_that_states_nothing_is_covered(judge: OpenAIJudge, llm_server: LLMServer) -> None:
    # The page says "Score of 1.0 with 0 claims"; here the summary gets a flag, so that averages can ignore it.
    llm_server.where(Page(claims=[[], []]))
    asked = "Where did the cat sit down? And who saw it there?"
    result = evaluate_summary(asked, CAT_SUMMARY, judge=judge, metrics=["coverage"])
    assert (result["coverage"], result.flags) == (1.0, ("no_claims",))


def test_summarization_is_the_lower_of_alignment_and_coverage(
    judge: OpenAIJudge, llm_server: LLMServer
) -> None:
    # The page scores alignment .5 and coverage .75, and takes the lower of the two.
    questions = [
        "Was Tesla founded in 2003?",
        "Was its first car the Roadster?",
        "Was the Roadster launched in 2008?",
        "Did Elon Musk join in 2004?",
    ]
    llm_server.where(
        Page(
            own_claims={
                "Tesla was founded by Elon Musk": "no",
                "Tesla was founded in 2003": "yes",
                "Tesla revolutionized the electric car industry": "unsure",
                "The Roadster came in 2008": "yes",
            },
            source=dict.fromkeys(questions, "yes"),
            covered=dict.fromkeys(questions[:3], "yes"),
        )
    )
    result = evaluate_summary(
        CARS,
        CARS_SUMMARY,
        judge=judge,
        metrics=["alignment", "question_coverage", "summarization"],
        questions=questions,
        scale=10,
    )
    # 2 of 4 claims, where unsure counts as no, and 3 of 4 questions; the scale multiplies only the result.
    assert_found(result, {"alignment": 0.5, "question_coverage": 0.75, "summarization": 5.0})
    assert result.passed is True
    assert "Tesla was founded by Elon Musk" in result.reasons["summarization"]


def test_a_summary_that_leaves_out_one_of_four_is_wholly_aligned(
    judge: OpenAIJudge, llm_server: LLMServer
) -> None:
    claims = ["The company was founded in 1995", "John Smith founded it", "It grew from 10 to 500 by 2020"]
    questions = ["Founded in 1995?", "Founded by John Smith?", "500 employees by 2020?", "Based in Seattle?"]
    llm_server.where(
        Page(
            own_claims=dict.fromkeys(claims, "yes"),
            source=dict.fromkeys(questions, "yes"),
            covered=dict.fromkeys(questions[:3], "yes"),
        )
    )
    result = evaluate_summary(
        FIRM, FIRM_SUMMARY, judge=judge, metrics=["alignment", "summarization"], questions=questions
    )
    assert_found(result, {"alignment": 1.0, "summarization": 0.75})


def test_a_summary_in_other_order_has_most_elements() -> None:
    found = completeness(
        "Explain how photosynthesis works in plants using sunlight, water, and carbon dioxide.",
        "Plants use sunlight to convert water and carbon dioxide into glucose through photosynthesis.",
    )
    # The elements are explain, photosynthesis, work, plants, use, sunlight, water, carbon, dioxide; two are missing.
    assert found.score == pytest.approx(7 / 9)
    assert found.missing_elements == ("explain", "work")
