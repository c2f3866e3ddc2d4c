"""Asking a list of items of an LLM: read what is usable, ask once more for what is not, say why where it stays so."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from evaluation.judging.errors import BudgetSpent
from evaluation.judging.parsing import one_line
from evaluation.judging.prompts import Step
from evaluation.judging.protocol import Json, StoredCall

MOST_ASKINGS = 2
_LONGEST_REPORTED_REPLY = 200
_FINAL = frozenset({"refusal", "content_filter", "rejected"})
"""Finish reasons that asking the same thing again would only repeat."""

_K = TypeVar("_K")
_A = TypeVar("_A")
_A_co = TypeVar("_A_co", covariant=True)
_R = TypeVar("_R")


@dataclass(frozen=True, slots=True)
class Answered(Generic[_A_co]):
    """What one item of a question got: an answer, or the reason for none."""

    answer: _A_co | None
    reason: str
    call: str | None


def _no_parts(_: object) -> Sequence[str]:
    return ()


@dataclass(frozen=True, slots=True)
class Question(Generic[_K, _A]):
    """How a list of items is asked about, whatever they are.

    `parts` are those of a merged prompt that the items need.
    """

    step: Step
    compose: Callable[[Sequence[_K]], Json]
    parse: Callable[[str, Sequence[_K]], Mapping[_K, _A]]
    parts: Callable[[Sequence[_K]], Sequence[str]] = _no_parts
    instruction: str = ""


MakeCall = Callable[[Step, Sequence[str], str, Json, int], Awaitable[StoredCall]]
"""Makes the call of a step with its parts, the user's instruction, the message and the number of asking."""


async def ask(
    call: MakeCall, question: Question[_K, _A], items: Sequence[_K], first: int = 1
) -> dict[_K, Answered[_A]]:
    """Each item's answer. Items without a usable one are asked about again, once.

    `first` 2 is for items that another question left open: they are asked about once.
    """
    answered: dict[_K, Answered[_A]] = {}
    groups: list[Sequence[_K]] = [items] if items else []
    for asking in range(first, MOST_ASKINGS + 1):
        calls = await together([_asked(call, question, group, asking) for group in groups])
        again: list[Sequence[_K]] = []
        for group, reply in zip(groups, calls, strict=True):
            outcome = _read(question, group, reply)
            answered.update(outcome)
            if reply.finish_reason in _FINAL:
                continue
            missing = [item for item in group if outcome[item].answer is None]
            again.extend(
                _halves(missing) if reply.finish_reason == "length" else [missing] if missing else []
            )
        groups = again
    return answered


async def together(work: Sequence[Coroutine[None, None, _R]]) -> list[_R]:
    """Every result, in order; at the first failure the rest is cancelled, so that nothing is left running.

    Where one has no money left the others end first: what they have asked for is paid, and is kept.
    """
    if len(work) == 1:
        return [await work[0]]
    stopped: list[BudgetSpent] = []

    async def ended(each: Coroutine[None, None, _R]) -> list[_R]:
        try:
            return [await each]
        except BudgetSpent as failure:
            stopped.append(failure)
            return []

    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(ended(each)) for each in work]
    except BaseExceptionGroup as failures:
        raise failures.exceptions[0] from None
    if stopped:
        raise stopped[0]
    return [result for task in tasks for result in task.result()]


async def _asked(call: MakeCall, question: Question[_K, _A], items: Sequence[_K], asking: int) -> StoredCall:
    parts = question.parts(items)
    return await call(question.step, parts, question.instruction, question.compose(items), asking)


def _read(question: Question[_K, _A], items: Sequence[_K], call: StoredCall) -> dict[_K, Answered[_A]]:
    fault = _fault(call)
    answers: Mapping[_K, _A] = {} if fault else question.parse(call.reply, items)
    missing = fault or (
        "the reply does not answer this one" if answers else "the reply holds no answer in the form asked for"
    )
    key = None if call.finish_reason == "rejected" else call.key
    return {
        item: Answered(answers[item], "", key) if item in answers else Answered(None, f"{missing}.", key)
        for item in items
    }


def _fault(call: StoredCall) -> str:
    """Why a reply cannot be read at all, or nothing."""
    said = one_line(call.reply, _LONGEST_REPORTED_REPLY).rstrip(".")
    match call.finish_reason:
        case "length":
            return "the reply was cut off before its end (finish_reason length)"
        case "refusal":
            return f"the judge refused: {said}"
        case "content_filter":
            return "the provider's content filter withheld the reply"
        case "rejected":
            return f"the server rejected the request: {said}"
        case "not a completion":
            return f"the server's answer was not a chat completion{f': {said}' if said else ''}"
    return "" if call.reply.strip() else "the reply was empty"


def _halves(items: Sequence[_K]) -> list[Sequence[_K]]:
    middle = (len(items) + 1) // 2
    return [half for half in (items[:middle], items[middle:]) if half]
