"""A cascade: the dear judge is asked about what is risky alone, and what that costs and brings is known beforehand."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import pytest

from evaluation.errors import InvalidPercent
from evaluation.judging import LexicalJudge, OpenAIJudge, Price, Text, Verdict
from evaluation.judging.cascade import CascadeJudge
from evaluation.judging.protocol import CoverRequest, metered
from evaluation.statistics import cascade_frontier
from tests.llm_server import Call, Fault, LLMServer, faults

DOCUMENTS = 40
UNSURE = range(12)
WRONG = {*range(8), 20, 21}
"""The cheap judge is wrong on two thirds of what it is unsure of, and on 2 of the 28 others."""
CHEAP, DEAR = Price(1.0, 1.0), Price(10.0, 10.0)


def claim(number: int) -> str:
    """Every other one is true of its text."""
    return f"It {'rained' if number % 2 else 'snowed'} in town {number}"


def text(number: int) -> Text:
    return Text.of(f"It rained in town {number}.")


def truth(number: int) -> str:
    return "yes" if number % 2 else "no"


def cheap_rule(call: Call) -> Fault:
    number = int(re.findall(r"\d+", call.question["claims"][0]["claim"])[0])

    def change(answer: dict[str, Any]) -> dict[str, Any]:
        said = truth(number) if number not in WRONG else truth(number + 1)
        sure = 0.6 if number in UNSURE else 0.95
        chance = sure if said == "yes" else 1 - sure
        return {"verdicts": [{**answer["verdicts"][0], "label": said, "probability": chance}]}

    return faults.changed(change)


def answers_of(judge: OpenAIJudge | CascadeJudge) -> tuple[list[Verdict], float]:
    """What the judge answers to all checks, and what that cost."""

    async def everything() -> list[Verdict]:
        found = [(await judge.check([claim(number)], text(number)))[0] for number in range(DOCUMENTS)]
        await judge.aclose()
        return found

    with metered() as meter:
        return asyncio.run(everything()), meter.usage.cost


def error_of(verdicts: list[Verdict]) -> float:
    return sum(verdict.label != truth(number) for number, verdict in enumerate(verdicts)) / len(verdicts)


def test_spend_and_error_lie_on_the_frontier_drawn_beforehand() -> None:
    with LLMServer(usage=(1000, 0)) as low, LLMServer(usage=(1000, 0)) as high:
        low.where(cheap_rule)

        def pair() -> tuple[OpenAIJudge, OpenAIJudge]:
            return (
                OpenAIJudge("cheap", low.base_url, price=CHEAP),
                OpenAIJudge("dear", high.base_url, price=DEAR),
            )

        cheap, dear = pair()
        (first, low_cost), (second, high_cost) = answers_of(cheap), answers_of(dear)
        points = cascade_frontier(
            [verdict.label for verdict in first],
            [verdict.probability for verdict in first],
            [verdict.label for verdict in second],
            [truth(number) for number in range(DOCUMENTS)],  # type: ignore[misc]
            list(range(DOCUMENTS)),
            cheap_cost=low_cost / DOCUMENTS,
            dear_cost=high_cost / DOCUMENTS,
            shares=(0.0, 0.3, 1.0),
        )
        # Alone the cheap one is wrong on 10 of 40 for .001 a check, the dear one on none for .01 more.
        assert [(point.share, point.error.value) for point in points] == [
            (0.0, 0.25),
            (0.3, 0.05),
            (1.0, 0.0),
        ]
        assert [point.cost for point in points] == pytest.approx([0.001, 0.004, 0.011])
        made = len(high.calls)
        found, cost = answers_of(CascadeJudge(*pair(), risk=0.3))
        assert len(high.calls) - made == 12
        assert error_of(found) == points[1].error.value
        assert cost / DOCUMENTS == pytest.approx(points[1].cost)


def test_a_calibrator_says_where_it_was_wrong_before() -> None:
    # It is all but sure of yes, and people say no: with what they said it is risky, by itself it is not.
    sure = CascadeJudge(LexicalJudge(), LexicalJudge(), risk=0.3)
    warned = CascadeJudge(LexicalJudge(), LexicalJudge(), risk=0.3, calibrated=lambda _: 0.5)
    said = [Verdict("yes", 0.95), Verdict("no", 0.05), Verdict("no"), Verdict(None)]
    assert [sure._risk_of(verdict) for verdict in said] == pytest.approx([0.05, 0.05, 0.5, 1.0])
    assert [warned._risk_of(verdict) for verdict in said] == pytest.approx([0.5, 0.5, 0.5, 1.0])
    assert sure.signature != warned.signature
    assert sure.signature == CascadeJudge(LexicalJudge(), LexicalJudge(), risk=0.3).signature


def test_merged_questions_get_second_opinions_too() -> None:
    with LLMServer() as low, LLMServer() as high:
        low.always(
            faults.changed(
                lambda answer: {
                    name: [{**each, "label": "no", "probability": 0.4} for each in entries]
                    if name == "answers"
                    else entries
                    for name, entries in answer.items()
                }
            )
        )
        judge = CascadeJudge(OpenAIJudge("cheap", low.base_url), OpenAIJudge("dear", high.base_url))

        async def cover() -> Any:
            reading = await judge.cover_summary(
                CoverRequest(Text.of("It rained."), ("It rained", "It snowed"), ("Did it rain?",))
            )
            await judge.aclose()
            return reading

        reading = asyncio.run(cover())
        assert [verdict.label for verdict in reading.claims] == ["yes", "no"]
        assert len(high.calls) == 1
        assert judge.kind == "cascade"


def test_a_risk_is_a_share() -> None:
    with pytest.raises(InvalidPercent):
        CascadeJudge(LexicalJudge(), LexicalJudge(), risk=1.5)
