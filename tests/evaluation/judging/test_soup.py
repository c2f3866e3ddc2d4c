"""Random bytes and odd answers as replies."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from evaluation import Limits, OpenAIJudge, Price, SummaryEvaluation, evaluate_summary
from evaluation.judging.openai._transport import _retry_after
from tests.llm_server import Fault, LLMServer, faults

pytestmark = pytest.mark.slow

DOCUMENT = "It rained on Monday. The mayor left."
SUMMARY = "The mayor left."
METRICS = ("coverage", "alignment", "question_coverage", "coherence", "summarization")
QUIET = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])

NOISE = st.one_of(
    st.binary(max_size=200),
    st.text(max_size=200).map(lambda text: text.encode("utf-8", "surrogatepass")),
    st.text(alphabet='{}[]":,truefalsn0123456789 \\', max_size=200).map(str.encode),
)
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5))
ODD = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["message", "code", "param", "type", "error", "choices", "content", "usage", "x"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=8,
)
# Statuses that do not end the run, unlike refused keys.
STATUS = st.sampled_from([200, 201, 206, 400, 408, 409, 413, 422, 425, 429, 500, 502, 503, 529, 599])
HEADERS = st.dictionaries(
    st.sampled_from(
        ["Content-Type", "Content-Encoding", "Retry-After", "Location", "Set-Cookie", "Date", "X"]
    ),
    st.sampled_from(["gzip", "br", "deflate", "text/html; charset=none", "0", "nan", "-1", "Mon, 99 Foo"])
    | st.text(alphabet=st.characters(min_codepoint=32, max_codepoint=126), max_size=20),
    max_size=3,
)
LABELS = st.sampled_from(["yes", "no", "unsure", "Yes.", True, "supported", None, 1])
NO_ID = st.sampled_from(["", "c0", "c99", "u1", "x", "yes", "beauty", None, 0, ["c1"], {"id": "c1"}])
NO_UNIT = st.sampled_from([0, -1, 77, 1.5, "77", "one", None, True, [1]])
ENTRIES = st.fixed_dictionaries(
    {},
    optional={
        "id": NO_ID,
        "unit": NO_UNIT,
        "label": LABELS,
        "value": st.sampled_from([0.5, "0.5", "50%"]),
        "claims": st.lists(
            st.just("The mayor left")
            | st.fixed_dictionaries({"claim": st.just("It rained"), "label": LABELS}),
            max_size=2,
        ),
        "reason": st.text(max_size=5),
    },
)
ANSWERS = st.dictionaries(
    st.sampled_from(["units", "answers", "verdicts", "criteria", "claims", "questions", "topics"]),
    st.lists(ENTRIES, max_size=3) | ENTRIES,
    max_size=3,
)


@pytest.fixture(scope="module")
def server() -> Iterator[LLMServer]:
    with LLMServer() as running:
        yield running


def evaluated(server: LLMServer, fault: Fault | None) -> SummaryEvaluation:
    server.always(fault)
    judge = OpenAIJudge(
        "m",
        server.base_url,
        "sk-test-4711",
        limits=Limits(timeout_seconds=5, max_attempts=1, max_wait_seconds=0),
        price=Price(2.0, 8.0),
    )
    return evaluate_summary(
        DOCUMENT, SUMMARY, judge=judge, metrics=METRICS, questions=["Did it rain?"], verbose=True
    )


@pytest.fixture(scope="module")
def right(server: LLMServer) -> SummaryEvaluation:
    return evaluated(server, None)


def assert_unscored(result: SummaryEvaluation) -> None:
    assert set(result.scores.values()) == {None}
    assert result.passed is None
    assert all(result.reasons[name].strip() for name in METRICS)
    assert result.details is not None
    judged = [*result.details.reference_claims, *result.details.summary_claims]
    assert all(each.verdict.label is None for each in judged)
    assert all(each.source.label is None for each in result.details.questions)


@QUIET
@given(noise=NOISE)
@example(noise=b"HTTP/1.1 200 OK\r\n\r\n{}")
@example(noise=b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n{}")
@example(noise=b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}")
@example(noise=b"HTTP/1.1 999999 OK\r\n\r\n")
@example(noise=b"HTTP/9.9 200 OK\r\nContent-Length: -1\r\n\r\n")
@example(noise=b"HTTP/1.1 101 Switching\r\n\r\n")
def test_bytes_instead_of_a_response_are_unscored(server: LLMServer, noise: bytes) -> None:
    assert_unscored(evaluated(server, faults.wire(noise)))


@QUIET
@given(noise=NOISE | ODD.map(lambda value: json.dumps(value).encode()), status=STATUS, headers=HEADERS)
def test_any_body_under_any_status_is_unscored(
    server: LLMServer, noise: bytes, status: int, headers: dict[str, str]
) -> None:
    assert_unscored(evaluated(server, Fault(raw_body=noise, status=status, headers=headers)))


@QUIET
@given(content=NOISE.map(lambda noise: noise.decode("utf-8", "replace")) | ANSWERS.map(json.dumps))
def test_any_content_that_answers_nothing_asked_is_unscored(server: LLMServer, content: str) -> None:
    assert_unscored(evaluated(server, faults.text(content)))


@QUIET
@given(
    before=st.text(alphabet="{[\"' \n`ab:", max_size=30), after=st.text(alphabet="}]\"' \n`ab:", max_size=30)
)
def test_whatever_stands_around_an_answer_changes_no_label(
    server: LLMServer, right: SummaryEvaluation, before: str, after: str
) -> None:
    found = evaluated(server, Fault(content=lambda text: f"{before}{text}{after}"))
    for name in METRICS:
        assert found[name] in (right[name], None)


@QUIET
@given(start=st.floats(0, 1), end=st.floats(0, 1))
def test_a_piece_of_an_answer_never_becomes_another_answer(
    server: LLMServer, right: SummaryEvaluation, start: float, end: float
) -> None:
    found = evaluated(
        server, Fault(content=lambda text: text[int(start * len(text)) : int(end * len(text)) + 1])
    )
    assert right.details is not None
    assert found.details is not None
    labels = {each.claim: each.verdict.label for each in right.details.summary_claims}
    for each in found.details.summary_claims:
        assert each.verdict.label in (labels[each.claim], None)


@QUIET
@given(usage=ODD | st.dictionaries(st.sampled_from(["prompt_tokens", "completion_tokens"]), ODD))
@example(usage={"prompt_tokens": 10**400, "completion_tokens": 10**4000})
@example(usage={"prompt_tokens": -5, "completion_tokens": True})
@example(usage={"prompt_tokens": float("nan"), "completion_tokens": 1e300})
def test_whatever_a_server_says_of_its_tokens_the_answer_counts(
    server: LLMServer, right: SummaryEvaluation, usage: Any
) -> None:
    found = evaluated(server, faults.completion(lambda completion: {**completion, "usage": usage}))
    assert found.scores == right.scores
    assert 0 <= found.usage.cost < float("inf")


@given(
    value=st.text(max_size=40)
    | st.text(alphabet="0123456789.:+- ,GMTFriNov", max_size=40)
    | st.from_regex(r"[A-Z][a-z]{2}, \d{1,3} [A-Z][a-z]{2} \d{1,9} \d{1,3}:\d{1,3}:\d{1,3} ([+-]\d{1,9}|GMT)")
)
@example("9" * 400)
@example("1_0")
@example("inf")
def test_any_retry_after_is_a_pause_or_none(value: str) -> None:
    seconds = _retry_after({"retry-after": value})
    assert seconds is None or seconds >= 0
