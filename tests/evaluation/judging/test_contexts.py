import asyncio
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation import Limits, OpenAIJudge
from evaluation.judging import check_claims, extract_claims
from evaluation.judging._windows import json_bytes, pieces_bytes, windows
from evaluation.judging.errors import UnusableReply
from evaluation.judging.protocol import CoverRequest, DocumentRequest, Side, Text
from evaluation.metrics import JUDGED
from tests.evaluation.judging.conftest import JudgeMaker
from tests.llm_server import Call, LLMServer, faults

# A context of 2000 tokens less 400 for the reply leaves 1600, with three bytes per token.
NARROW = Limits(context_tokens=2000, max_tokens=400)
MOST_BYTES = (2000 - 400) * 3


def sentences(count: int, of: str = "town") -> list[str]:
    return [f'Sentence "{number}" tells of {of} {number}.' for number in range(count)]


LAST = 'Sentence "159"'


def text(count: int, of: str = "town") -> Text:
    return Text.of(" ".join(sentences(count, of)))


SHORT, LONG = 3, 160
"""Numbers of sentences that fit easily, or fill the context twice."""


@pytest.fixture(params=[("json_schema", "json_object"), ()], ids=["schema", "plain text"])
def narrow(request: pytest.FixtureRequest, judge_of: JudgeMaker, llm_server: LLMServer) -> OpenAIJudge:
    llm_server.formats = request.param
    return judge_of(limits=NARROW)


def sent_bytes(call: Call) -> int:
    told = sum(len(message["content"].encode()) for message in call.body["messages"])
    return told + json_bytes(call.body.get("response_format", ""))


def assert_all_fit(server: LLMServer) -> None:
    assert server.calls
    assert max(map(sent_bytes, server.calls)) <= MOST_BYTES


def units_shown(server: LLMServer, field: str) -> set[int]:
    return {int(number) for call in server.calls for number in call.question.get(field, {})}


def assert_claims_of(found: Iterator[str], *contents: str) -> None:
    assert sorted(found) == sorted(content.rstrip(".") for content in contents)


@pytest.mark.parametrize("source", [SHORT, LONG])
@pytest.mark.parametrize("reference", [None, SHORT, LONG])
@pytest.mark.parametrize("questions", [SHORT, LONG])
def test_a_document_is_read_whole(
    narrow: OpenAIJudge, llm_server: LLMServer, source: int, reference: int | None, questions: int
) -> None:
    asked = tuple(f"{content[:-1]}?" for content in sentences(questions))
    request = DocumentRequest(
        text(source),
        None if reference is None else text(reference, "river"),
        claims=True,
        questions=asked,
        n_questions=4,
        topics=True,
    )
    reading = asyncio.run(narrow.read_document(request))
    assert_all_fit(llm_server)
    assert reading.faults == {}
    claimed = sentences(source) if reference is None else sentences(reference, "river")
    assert_claims_of((claim.text for claim in reading.claims or ()), *claimed)
    answers = {question.text: question.answer.label for question in reading.questions or ()}
    # Question i asks about sentence i of the text, if that exists.
    assert [answers[each] for each in asked] == ["yes" if at < source else "no" for at in range(questions)]
    assert units_shown(llm_server, "text") == set(range(1, source + 1))


def test_a_reference_that_fits_beside_its_source_costs_no_call(
    judge_of: JudgeMaker, llm_server: LLMServer
) -> None:
    request = DocumentRequest(text(SHORT), text(SHORT, "river"), claims=True, n_questions=2)
    asyncio.run(judge_of(limits=NARROW).read_document(request))
    assert len(llm_server.calls) == 1


def test_a_long_reference_takes_a_call_for_each_window(judge_of: JudgeMaker, llm_server: LLMServer) -> None:
    request = DocumentRequest(text(SHORT), text(LONG, "river"), claims=True, n_questions=2)
    many = Limits(context_tokens=2000, max_tokens=400, claims_per_call=1000)
    asyncio.run(judge_of(limits=many).read_document(request))
    of_reference = [call.question for call in llm_server.calls if "reference" in call.question]
    # Every unit is in one window, and the source needs one more call.
    assert sorted(int(number) for asked in of_reference for number in asked["reference"]) == [
        *range(1, LONG + 1)
    ]
    assert not any("text" in asked for asked in of_reference)
    assert len(llm_server.calls) == len(of_reference) + 1


def test_a_lost_window_of_the_reference_loses_its_claims_as_a_whole(
    judge_of: JudgeMaker, llm_server: LLMServer
) -> None:
    llm_server.where(lambda call: faults.refusal() if LAST in str(call.question) else None)
    request = DocumentRequest(text(SHORT), text(LONG, "river"), claims=True, n_questions=2)
    reading = asyncio.run(judge_of(limits=NARROW).read_document(request))
    assert reading.claims is None
    assert "refused" in reading.faults["claims"]
    assert len(reading.questions or ()) == 2


@pytest.mark.parametrize("source", [SHORT, LONG])
@pytest.mark.parametrize("summary", [SHORT, LONG])
def test_a_summary_is_aligned_whole(
    narrow: OpenAIJudge, llm_server: LLMServer, source: int, summary: int
) -> None:
    found = asyncio.run(narrow.align_summary(text(source), text(summary)))
    assert_all_fit(llm_server)
    assert_claims_of((judged.claim.text for judged in found), *sentences(summary))
    labels = [judged.verdict.label for judged in found]
    assert labels == ["yes" if at < source else "no" for at in range(summary)]


def test_a_long_summary_whose_last_window_is_refused_has_no_claims(
    judge_of: JudgeMaker, llm_server: LLMServer
) -> None:
    llm_server.where(lambda call: faults.refusal() if LAST in str(call.question) else None)
    with pytest.raises(UnusableReply):
        asyncio.run(judge_of(limits=NARROW).align_summary(text(SHORT), text(LONG)))


@pytest.mark.parametrize("summary", [SHORT, LONG])
@pytest.mark.parametrize("asked", [SHORT, LONG])
def test_a_summary_is_covered_whole(
    narrow: OpenAIJudge, llm_server: LLMServer, summary: int, asked: int
) -> None:
    contents = tuple(sentences(asked))
    request = CoverRequest(
        text(summary), contents, contents[:9], contents[:2], "Mind the towns." * 20, (JUDGED["coherence"],)
    )
    reading = asyncio.run(narrow.cover_summary(request))
    assert_all_fit(llm_server)
    assert [verdict.label for verdict in reading.claims] == [
        "yes" if at < summary else "no" for at in range(asked)
    ]
    assert (len(reading.questions), len(reading.topics)) == (min(asked, 9), 2)
    assert reading.ratings["coherence"].value == pytest.approx(0.8)
    assert units_shown(llm_server, "text") == set(range(1, summary + 1))


@pytest.mark.parametrize("side", ["covered", "supported"])
def test_long_lists_against_long_texts_are_checked(
    narrow: OpenAIJudge, llm_server: LLMServer, side: Side
) -> None:
    verdicts = check_claims(sentences(LONG), text(LONG // 2), judge=narrow, side=side)
    assert_all_fit(llm_server)
    assert [verdict.label for verdict in verdicts] == ["yes"] * 80 + ["no"] * 80


def test_a_text_without_sentences_is_read_whole(narrow: OpenAIJudge, llm_server: LLMServer) -> None:
    words = [f"w{number}" for number in range(3000)]
    extract_claims(Text.of(" ".join(words)), judge=narrow)
    assert_all_fit(llm_server)
    answered = [call for call in llm_server.calls if call.format in ("text", *llm_server.formats)]
    shown = {content: None for call in answered for content in call.question["text"].values()}
    # Windows are sent concurrently, in any order.
    assert sorted(" ".join(shown).split()) == sorted(words)


@given(
    st.lists(st.text(min_size=1, max_size=60).filter(str.strip), min_size=1, max_size=8), st.integers(40, 400)
)
def test_no_window_is_larger_than_its_room(contents: list[str], room: int) -> None:
    for pieces in windows(Text.of(". ".join(contents)), room):
        assert pieces_bytes(pieces) <= room
        assert json_bytes({str(number): content for number, content in pieces}) <= room


@given(st.text(min_size=1, max_size=500), st.integers(40, 200))
def test_no_letter_of_a_text_is_lost(content: str, room: int) -> None:
    shown = "".join(piece for pieces in windows(Text(content), room) for _, piece in pieces)
    assert "".join(shown.split()) == "".join(content.split())
