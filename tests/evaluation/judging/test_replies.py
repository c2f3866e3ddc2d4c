import json
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation import OpenAIJudge, SummaryEvaluation, evaluate_summary
from evaluation.judging import parsing
from evaluation.metrics import JUDGED
from tests.llm_server import Answer, LLMServer, faults

SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5))
SHAPES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["units", "unit", "claims", "claim", "answers", "id", "label", "questions", "question"]
            )
            | st.sampled_from(
                ["topics", "criteria", "value", "evidence", "reason", "probability", "verdicts"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@pytest.fixture(scope="module")
def server() -> Iterator[LLMServer]:
    with LLMServer() as running:
        yield running


@given(value=SHAPES)
def test_no_shape_of_json_breaks_the_parsers(value: Answer) -> None:
    reply = json.dumps(value)
    for label in parsing.parse_verdicts(reply, ["c1"], 3).values():
        assert label.label in ("yes", "no", "unsure")
    parsing.parse_aligned(reply, [1, 2], 2, 3)
    parsing.parse_questions(reply, 3)
    for fault in (
        parsing.answer_fault(reply, ["c1"], "c1"),
        parsing.unit_fault(reply, 1, 2),
        parsing.criterion_fault(reply, JUDGED, "coherence"),
        parsing.list_fault(reply, "topics"),
    ):
        assert fault.startswith("the reply ")
    parsing.parse_topics(reply)
    for rated in parsing.parse_criteria(reply, JUDGED, 3).values():
        assert 0 <= rated.value <= 1


def test_a_claim_without_a_readable_label_is_asked_about_alone(server: LLMServer) -> None:
    def unlabelled(answer: Answer) -> Answer:
        first, *others = answer["units"]
        return {"units": [{**first, "claims": [{**first["claims"][0], "label": "perhaps"}]}, *others]}

    server.always(None)
    server.then(faults.changed(unlabelled))
    before = len(server.calls)
    result = evaluate_summary(
        "It rained. The mayor left.",
        "The mayor left. It snowed.",
        judge=OpenAIJudge("m", server.base_url),
        metrics=["alignment"],
    )
    assert result["alignment"] == 0.5
    again = server.calls[before + 1].question
    assert again["claims"] == {"c1": "The mayor left"}
    assert len(server.calls) - before == 2


def test_a_draft_answers_nothing_that_the_final_answer_leaves_out(server: LLMServer) -> None:
    def drafted(reply: str) -> str:
        final = {"units": json.loads(reply)["units"][:1]}
        return "First draft: " + reply.replace('"no"', '"yes"') + " Final: " + json.dumps(final)

    server.always(None)
    server.then(faults.around(drafted))
    # The second unit is asked about again, and the source does not support its claim.
    assert aligned(server)["alignment"] == 0.5


@pytest.mark.parametrize(
    ("metric", "draft"),
    [
        ("topic_preservation", {"topics": ["weather", "football"]}),
        (
            "question_coverage",
            {"questions": [{"question": "Was it Monday?", "label": "yes", "evidence": [1]}]},
        ),
    ],
)
def test_a_list_drafted_otherwise_is_unscored_with_the_reason(
    server: LLMServer, metric: str, draft: Answer
) -> None:
    def scored(judge: OpenAIJudge) -> SummaryEvaluation:
        return evaluate_summary(
            "It rained. The mayor left.", "The mayor left.", judge=judge, metrics=[metric]
        )

    server.always(None)
    assert scored(OpenAIJudge("m", server.base_url))[metric] is not None
    server.always(faults.around(lambda reply: f"First draft: {json.dumps(draft)} Final: {reply}"))
    result = scored(OpenAIJudge("m", server.base_url))
    assert result[metric] is None
    assert "the reply lists nothing usable under" in result.reasons[metric]
    server.always(faults.around(lambda reply: f"{reply} Again: {reply}"))
    assert scored(OpenAIJudge("m", server.base_url))[metric] is not None


def test_labels_in_no_language_of_ours_are_unscored_with_the_reason(server: LLMServer) -> None:
    server.always(faults.around(lambda reply: reply.replace('"yes"', '"tak"').replace('"no"', '"jo"')))
    result = aligned(server)
    assert result["alignment"] is None
    reason = "Unscored: the reply labels it “tak”, which is none of yes, no, unsure."
    assert result.reasons["alignment"] == reason


def aligned(server: LLMServer) -> SummaryEvaluation:
    judge = OpenAIJudge("m", server.base_url)
    return evaluate_summary(
        "It rained. The mayor left.", "The mayor left. It snowed.", judge=judge, metrics=["alignment"]
    )


def test_aligned_claims_are_read_by_unit() -> None:
    reply = (
        '{"units": [{"unit": "1", "claims": [{"claim": "It rained.", "label": "Yes.", "evidence": ["2", 9]},'
        ' {"claim": "It hailed.", "label": "dunno"}]}, {"unit": 2, "claims": []}]}'
    )
    found = parsing.parse_aligned(reply, [1, 2], 2, 3)
    assert found == {1: (("It rained.", parsing.Answer("yes", None, (2,))), ("It hailed.", None)), 2: ()}


def test_a_claim_listed_twice_with_other_labels_has_none() -> None:
    reply = '{"units": [{"unit": 1, "claims": [{"claim": "A b", "label": "yes"}, {"claim": "A b", "label": "no"}]}]}'
    assert parsing.parse_aligned(reply, [1], 1, 3) == {1: (("A b", None),)}


def test_topics_are_read_once_each() -> None:
    assert parsing.parse_topics('{"topics": ["rain", "rain", 3, " ", "mayor"]}') == ("rain", "mayor")
    assert parsing.parse_topics("rain") == ()
