import asyncio
import json

import pytest

from evaluation.judging import OpenAIJudge
from evaluation.judging.parsing import expected_values, parse_criteria
from evaluation.judging.protocol import CoverRequest, Rating, Text
from evaluation.metrics import Criterion
from tests.evaluation.judging.conftest import JudgeMaker
from tests.llm_server import Answer, LLMServer, faults

TONE = Criterion("tone", "Is the tone neutral?", (1, 5))
TEN = Criterion("ten", "How clear is it?", (1, 10))
PART = Criterion("part", "Which part is clear?", "percent")


def rated(judge: OpenAIJudge, criterion: Criterion = TONE, summary: str = "The mayor left.") -> Rating:
    request = CoverRequest(Text.of(summary), criteria=(criterion,))
    return asyncio.run(judge.cover_summary(request)).ratings[criterion.name]


def test_the_expected_value_is_renormalised_over_the_scale(
    judge_of: JudgeMaker, llm_server: LLMServer
) -> None:
    llm_server.chances = {"4": 0.5, " 4": 0.1, "5": 0.2, "9": 0.1, "fair": 0.1}
    # 4 has .6 and 5 has .2; 9 is off the scale: (4 * .6 + 5 * .2) / .8 = 3.4 / .8.
    found = rated(judge_of())
    assert (found.value, found.expected) == (4, pytest.approx(4.25))
    assert llm_server.calls[-1].body["top_logprobs"] == 20


@pytest.mark.parametrize("is_named", [True, False])
def test_a_server_that_refuses_them_is_asked_without(
    judge_of: JudgeMaker, llm_server: LLMServer, *, is_named: bool
) -> None:
    llm_server.chances = {"4": 1.0}
    if is_named:
        llm_server.refuses = ("logprobs",)
    else:
        llm_server.where(lambda call: faults.status(400, "No.") if "logprobs" in call.body else None)
    judge = judge_of()
    assert (rated(judge).value, rated(judge, summary="It rained.").expected) == (4, None)
    # The refusal is remembered: the second summary takes one call.
    assert ["logprobs" in call.body for call in llm_server.calls] == [True, False, False]


@pytest.mark.parametrize(
    ("criterion", "chances", "expected"),
    [
        (TONE, [{"4": 0.6, "5": 0.2}], 4.25),
        # A token "1" may be the beginning of 10, unless the server joins digits.
        (TEN, [{"9": 0.5, "8": 0.5}], None),
        (TEN, [{"10": 0.5, "8": 0.5}], 9.0),
        (PART, [{"80": 0.75, "60": 0.25}], 75.0),
        # In turn: the value has several tokens, the number of values is wrong, the value is off the scale.
        (TONE, [{}], None),
        (TONE, [{"4": 1.0}, {"4": 1.0}], None),
        (TONE, [{"9": 1.0}], None),
    ],
)
def test_an_unclear_token_has_no_expected_value(
    criterion: Criterion, chances: list[dict[str, float]], expected: float | None
) -> None:
    reply = json.dumps({"criteria": [{"id": "r1", "value": int(next(iter(chances[0]), "4"))}]})
    found = expected_values(reply, json.dumps(chances), {"r1": criterion})
    assert found.get("r1") == pytest.approx(expected)


def test_probabilities_of_a_value_in_the_thinking_are_ignored() -> None:
    draft, answer = ({"criteria": [{"id": "r1", "value": value}]} for value in (2, "5: fully"))
    criterion = Criterion("tone", "Is it neutral?", (1, 5), points=((5, "5: fully"),))
    reply = f"<think>{json.dumps(draft)}</think>{json.dumps(answer)}"
    assert parse_criteria(reply, {"r1": criterion}, 1)["r1"].value == 5
    assert expected_values(reply, '[{"2": 1.0}]', {"r1": criterion}) == {}


def test_a_token_that_holds_more_than_the_value_has_no_probabilities(
    judge_of: JudgeMaker, llm_server: LLMServer
) -> None:
    def broken(completion: Answer) -> Answer:
        choice = completion["choices"][0]
        text = choice["message"]["content"] + " 4"
        choice["message"]["content"] = text
        listed = [{"token": "4", "logprob": 0.0}]
        ends = [{"token": text[:-1]}, {"token": "4", "top_logprobs": listed}]
        choice["logprobs"] = {"content": ends}
        return completion

    llm_server.always(faults.completion(broken))
    assert (rated(judge_of()).value, rated(judge_of()).expected) == (4, None)


@pytest.mark.parametrize("told", [None, 1, [None], [{"token": 1}], [{"token": "}"}], [{}]])
def test_hostile_log_probabilities_are_ignored(
    judge_of: JudgeMaker, llm_server: LLMServer, told: object
) -> None:
    def broken(completion: Answer) -> Answer:
        completion["choices"][0]["logprobs"] = {"content": told}
        return completion

    llm_server.always(faults.completion(broken))
    assert (rated(judge_of()).value, rated(judge_of()).expected) == (4, None)


@pytest.mark.parametrize(
    "listed",
    [
        *(None, 1, "4", [1], [{"token": "4"}]),
        *([{"token": "4", "logprob": logprob}] for logprob in (float("nan"), -(10**400), 10**400)),
    ],
)
def test_a_token_without_probabilities_has_no_expected_value(
    judge_of: JudgeMaker, llm_server: LLMServer, listed: object
) -> None:
    def broken(completion: Answer) -> Answer:
        tokens = completion["choices"][0]["logprobs"]["content"]
        tokens[:] = [{**each, "top_logprobs": listed} for each in tokens]
        return completion

    llm_server.chances = {"4": 1.0}
    llm_server.always(faults.completion(broken))
    assert (rated(judge_of()).value, rated(judge_of()).expected) == (4, None)
