"""What an evaluation costs at a service that answers after 200 ms: calls, prompt characters, and time.

The server runs in a process of its own and answers as scripted. The texts are made up: facts with numbers
between stretches of filler, of which the server takes the facts for claims. The limit is what no program
could beat: round trips that wait for each other, or all calls through the slots allowed.
"""

import multiprocessing
import random
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection

from evaluation.judging import Limits, MemoryCallStore, OpenAIJudge
from evaluation.running import SummaryInput, evaluate_summaries
from tests.bench import Row
from tests.llm_server import Call, Fault, LLMServer, faults

NAME = "call_plan"
LATENCY = 0.2
ROUND_TRIPS = 2
AT_ONCE = 64
METRICS = ("alignment", "coverage", "question_coverage", "summarization")
FILLER_TEXT = (
    "the council met again in autumn and discussed the papers while several residents described the harbour "
    "the bridges the school and the slow rebuilding of the upper dam after a winter of storms"
)
FILLER = FILLER_TEXT.split()
CREWS = ("Ash", "Elm", "Maple", "Willow")
FACTS = 10
FACTS_SUMMARISED = 5


@dataclass(frozen=True)
class Work:
    """Documents, and so many systems that each summarise all of them."""

    documents: int
    systems: int

    def items(self) -> list[SummaryInput]:
        """The summaries, document by document."""
        return [
            SummaryInput(document, _summary(facts, number, system))
            for number in range(self.documents)
            for facts, document in [_document(number)]
            for system in range(self.systems)
        ]


def run() -> list[Row]:
    small, large = Work(20, 1), Work(100, 25)
    return [
        *_measure(small, "20 documents, 1 system", calls=60, characters=200_000, seconds=1.1),
        *_measure(large, "100 documents, 25 systems", calls_per_summary=2.2, ratio=1.5),
    ]


def claims_of(unit: str) -> list[str]:
    """The scripted judge's claims: the main clause of a unit that holds a number."""
    return [" ".join(unit.split()[:9])] if any(character.isdigit() for character in unit) else []


def _measure(
    work: Work,
    what: str,
    *,
    calls: float | None = None,
    characters: float | None = None,
    seconds: float | None = None,
    calls_per_summary: float | None = None,
    ratio: float | None = None,
) -> list[Row]:
    items, store = work.items(), MemoryCallStore()
    with scripted_server() as (address, counts):
        judge = OpenAIJudge("scripted", address, limits=Limits(concurrency=AT_ONCE), store=store)
        # The first call of a process imports the client, once in its life.
        evaluate_summaries([("It rained in 1999.", "It rained.")], judge=judge, metrics=METRICS)
        made_before, characters_before = counts()
        started = time.perf_counter()
        results = evaluate_summaries(items, judge=judge, metrics=METRICS)
        took = time.perf_counter() - started
        made, characters_sent = counts()
        made, characters_sent = made - made_before, characters_sent - characters_before
        evaluate_summaries(items, judge=judge, metrics=METRICS)
        made_again = counts()[0] - made - made_before
    unscored = sum(value is None for result in results for value in result.scores.values())
    limit = max(ROUND_TRIPS * LATENCY, made / AT_ONCE * LATENCY)
    return [
        Row(f"{what}: calls", made, "calls", at_most=calls),
        Row(f"{what}: calls per summary", made / len(items), "calls", at_most=calls_per_summary),
        Row(f"{what}: prompt characters", characters_sent, "characters", at_most=characters),
        Row(
            f"{what}: wall time", took, "s", at_most=seconds, note=f"{AT_ONCE} calls at once, store included"
        ),
        Row(
            f"{what}: wall time over limit", took / limit, "times", at_most=ratio, note=f"limit {limit:.2f} s"
        ),
        Row(f"{what}: scores that are null", unscored, "scores", at_most=0),
        Row(f"{what}: calls of a second run", made_again, "calls", at_most=0),
    ]


@contextmanager
def scripted_server(latency: float = LATENCY, faults: float = 0.0) -> "Iterator[tuple[str, Counts]]":
    """A scripted server in a process of its own, its address and a way to ask what it has counted.

    A share of the calls, `faults`, goes wrong: half of them with a status of 500, half with a broken line.
    """
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs, latency, faults), daemon=True)
    process.start()
    try:
        yield ours.recv(), Counts(ours)
    finally:
        ours.send("stop")
        process.join(10)


@dataclass(frozen=True)
class Counts:
    """Asks the server for the calls and the prompt characters that it has seen."""

    connection: Connection

    def __call__(self) -> tuple[int, int]:
        self.connection.send("count")
        calls, characters, *_ = self.connection.recv()
        return calls, characters

    def most_at_once(self) -> int:
        """How many calls were under way at the same time at most."""
        self.connection.send("count")
        return int(self.connection.recv()[2])

    def paid_twice(self) -> int:
        """How many calls were answered although the same had been answered before."""
        self.connection.send("count")
        return int(self.connection.recv()[3])


def _serve(connection: Connection, latency: float, share: float) -> None:
    chance, answered = random.Random(1), Counter[str]()

    def fault(call: Call) -> Fault | None:
        if chance.random() < share:
            return faults.status(500) if chance.random() < 0.5 else faults.reset()
        answered[str(call.body["messages"])] += 1
        return None

    with LLMServer(latency=latency, claims_of=claims_of) as server:
        server.where(fault)
        connection.send(server.base_url)
        while connection.recv() == "count":
            characters = sum(call.prompt_characters for call in server.calls)
            twice = answered.total() - len(answered)
            connection.send((len(server.calls), characters, server.most_at_once, twice))


def _document(number: int) -> tuple[list[str], str]:
    """A document of about 600 words, and its facts."""
    chosen = random.Random(number)
    facts = [
        f"Dam {number}-{fact} was finished in {1980 + fact} by crew {chosen.choice(CREWS)} "
        f"at a price of {chosen.randint(2, 90)} million crowns."
        for fact in range(FACTS)
    ]
    return facts, " ".join(f"{fact} {_filler(chosen, 46)}" for fact in facts)


def _summary(facts: list[str], number: int, system: int) -> str:
    """A summary of about 90 words."""
    chosen = random.Random(f"{number}/{system}")
    return " ".join([*chosen.sample(facts, FACTS_SUMMARISED), _filler(chosen, 13)])


def _filler(chosen: random.Random, words: int) -> str:
    return " ".join(chosen.choice(FILLER) for _ in range(words)).capitalize() + "."
