import pytest

from evaluation import EvaluationError, LexicalJudge, OpenAIJudge, SummaryInput, evaluate_summaries
from evaluation.errors import InvalidLabel, InvalidWeight
from evaluation.running import GivenClaim
from tests.llm_server import LLMServer, faults

DOCUMENT = "It rained on Monday. The mayor left. Nobody asked why. The bridge stayed open."
SUMMARY = "The mayor left."


def item(**given: object) -> SummaryInput:
    return SummaryInput(DOCUMENT, SUMMARY, reference="The mayor left. It rained.", **given)  # type: ignore[arg-type]


def test_people_decide_what_they_have_answered_and_the_judge_the_rest(
    judge: OpenAIJudge, llm_server: LLMServer
) -> None:
    claims = [
        GivenClaim("The mayor left", weight=3.0),
        GivenClaim("It rained", "yes"),
        GivenClaim("A flood", "no"),
    ]
    (result,) = evaluate_summaries([item(claims=claims)], judge=judge, metrics=["coverage", "claim_coverage"])
    # The judge finds the first claim, of weight 3; people say yes and no to the others: (3 + 1) / 5, and 2 of 3.
    assert result.scores == {"coverage": pytest.approx(0.8), "claim_coverage": pytest.approx(2 / 3)}
    (call,) = llm_server.calls
    assert "The mayor left" in str(call.question)
    assert "flood" not in str(call.question)


def test_claims_of_the_summary_are_held_against_the_document(
    judge: OpenAIJudge, llm_server: LLMServer
) -> None:
    claims = [GivenClaim("The mayor left"), GivenClaim("It snowed"), GivenClaim("The mayor fled", "yes")]
    (result,) = evaluate_summaries([item(summary_claims=claims)], judge=judge, metrics=["alignment"])
    assert result.scores == {"alignment": pytest.approx(2 / 3)}
    assert len(llm_server.calls) == 1


def test_where_people_have_answered_everything_nobody_is_asked(
    judge: OpenAIJudge, llm_server: LLMServer
) -> None:
    (result,) = evaluate_summaries(
        [item(claims=[GivenClaim("Anything", "unsure")], summary_claims=[GivenClaim("Else", "yes")])],
        judge=judge,
        metrics=["coverage", "alignment", "factual_alignment"],
    )
    assert result.scores == {"coverage": 0.0, "alignment": 1.0, "factual_alignment": 0.0}
    assert llm_server.calls == []


def test_a_judge_that_fails_takes_no_answer_of_people_away(judge: OpenAIJudge, llm_server: LLMServer) -> None:
    llm_server.always(faults.status(500))
    claims = [GivenClaim("One", "yes"), GivenClaim("Two", "no"), GivenClaim("Three")]
    (result,) = evaluate_summaries(
        [item(claims=claims, summary_claims=claims)],
        judge=judge,
        metrics=["coverage", "alignment", "coherence"],
    )
    # One of the two scored claims is yes; the third is unscored with a reason.
    assert result.scores == {"coverage": 0.5, "alignment": 0.5, "coherence": None}
    assert result.counts["reference_claims_unscored"] == result.counts["summary_claims_unscored"] == 1
    assert "could not be asked" in result.reasons["coherence"]


def test_a_summary_without_given_claims_gets_those_of_its_reference_beside_one_with() -> None:
    with_claims, without = evaluate_summaries(
        [item(claims=[GivenClaim("A flood came", "no")]), item()], judge=LexicalJudge(), metrics=["coverage"]
    )
    assert (with_claims["coverage"], without["coverage"]) == (0.0, 0.5)


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"text": " "}, EvaluationError),
        ({"text": "It rained", "label": "perhaps"}, InvalidLabel),
        ({"text": "It rained", "weight": -1.0}, InvalidWeight),
    ],
)
def test_a_given_claim_says_something(given: dict[str, object], error: type[Exception]) -> None:
    with pytest.raises(error):
        GivenClaim(**given)  # type: ignore[arg-type]


def test_claims_are_a_list_of_given_ones() -> None:
    (result,) = evaluate_summaries([item(claims=["It rained"])], judge=LexicalJudge(), metrics=["coverage"])
    assert "GivenClaim" in result.reasons["coverage"]
