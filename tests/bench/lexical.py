"""Checks that the lexical judge answers in a second, the splitting of the summaries included.

With COVERDICT_DATA also how well its features hold on a corpus that they were not fitted to.
"""

import asyncio
import os
import time
from collections.abc import Iterator
from pathlib import Path

from evaluation.judging import LexicalJudge, Side, Text
from tests.bench import Row, _fit_lexical
from tests.bench._texts import DOCUMENTS, SYSTEMS, claims, document, summary

NAME = "lexical"
REPEATS = 5


def run() -> list[Row]:
    note = f"{DOCUMENTS} documents x {SYSTEMS} summaries of 80 words x 10 claims, the best of {REPEATS}"
    texts = [[summary(number, system) for system in range(SYSTEMS)] for number in range(DOCUMENTS)]
    sources = [[document(number)] * SYSTEMS for number in range(DOCUMENTS)]
    return [
        Row("checks against summaries", _rate(texts, "covered"), "per s", at_least=20_000, note=note),
        Row("checks against sources of 600 words", _rate(sources, "supported"), "per s"),
        *_across_corpora(),
    ]


def _across_corpora() -> Iterator[Row]:
    folder = os.environ.get("COVERDICT_DATA")
    for name, found in (
        _fit_lexical.across_corpora(_fit_lexical.corpora_of(Path(folder))).items() if folder else ()
    ):
        note = f"fitted to the other two; accuracy {found['accuracy']:.3f}, auc {found['auc']:.3f}"
        yield Row(f"{name}: Brier score", round(found["brier"], 3), "", note=note)
        yield Row(f"{name}: kappa", round(found["kappa"], 3), "", note=note)


def _rate(texts: list[list[str]], side: Side) -> float:
    return max(_once(texts, side) for _ in range(REPEATS))


def _once(texts: list[list[str]], side: Side) -> float:
    judge = LexicalJudge()
    asked_of = [claims(number) for number in range(len(texts))]

    async def answer_all() -> int:
        count = 0
        for asked, of_document in zip(asked_of, texts, strict=True):
            for content in of_document:
                count += len(await judge.check(asked, Text.of(content), side=side))
        return count

    started = time.process_time()
    count = asyncio.run(answer_all())
    return count / (time.process_time() - started)
