"""Checks of the lexical judge a second, with the texts and claims still to be split into words."""

import asyncio
from time import process_time

from evaluation.judging.lexical import LexicalJudge
from evaluation.judging.protocol import CoverRequest, Text
from tests.bench import Row
from tests.bench._texts import claims, document, summary

SETS, SYSTEMS = 60, 25
LEAST = 20_000


def run() -> list[Row]:
    # The first words load a dictionary.
    asyncio.run(LexicalJudge().check_source(claims(0), Text.of(document(0))))
    return [
        Row("claims in summaries of 4 sentences", asyncio.run(_covered()), "a second", at_least=LEAST),
        Row("claims in documents of 30 sentences, each claim once", asyncio.run(_supported()), "a second"),
    ]


async def _covered() -> float:
    judge = LexicalJudge()
    asked = [
        CoverRequest(Text.of(summary(number, system)), claims=tuple(claims(number)))
        for number in range(SETS)
        for system in range(SYSTEMS)
    ]
    start = process_time()
    readings = [await judge.cover_summary(request) for request in asked]
    return sum(len(reading.claims) for reading in readings) / (process_time() - start)


async def _supported() -> float:
    judge = LexicalJudge()
    sources = [Text.of(document(number)) for number in range(SETS)]
    asked = [
        (claims(100 * number + system), one)
        for number, one in enumerate(sources)
        for system in range(SYSTEMS)
    ]
    start = process_time()
    verdicts = [await judge.check_source(texts, source) for texts, source in asked]
    return sum(map(len, verdicts)) / (process_time() - start)
