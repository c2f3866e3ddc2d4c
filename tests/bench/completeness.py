"""Completeness of a summary of 80 words against a document of 600."""

import time

from evaluation.metrics._completeness import completeness
from tests.bench import Row
from tests.bench._texts import DOCUMENTS, document, summary

NAME = "completeness"
REPEATS = 5


def run() -> list[Row]:
    pairs = [(document(number), summary(number)) for number in range(DOCUMENTS)]
    times = [_once(pairs) for _ in range(REPEATS)]
    note = f"{DOCUMENTS} pairs of 600 and 80 words, the best of {REPEATS} rounds"
    return [
        Row("completeness of one pair", min(times) / len(pairs) * 1000, "ms", at_most=5, note=note),
        Row("the first round, which loads the dictionary", times[0] / len(pairs) * 1000, "ms"),
    ]


def _once(pairs: list[tuple[str, str]]) -> float:
    started = time.perf_counter()
    for source, short in pairs:
        completeness(source, short)
    return time.perf_counter() - started
