"""Asking a list of items of an LLM: read what is usable, ask once more for what is not, say why where it stays so."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from evaluation.judging.errors import BudgetSpent
from evaluation.judging.parsing import one_line
from evaluation.judging.prompts import Step
from evaluation.judging.protocol import Json, StoredCall, is_of_this_pass, one_pass

MOST_ASKINGS = 2
"""How often one pass asks the same thing (see `one_pass`)."""
MOST_ASKINGS_EVER = 40
"""How often all passes together do: what no reply ever answered is not paid for without end."""
_LONGEST_REPORTED_REPLY = 200
_FINAL = frozenset({"refusal", "content_filter", "rejected"})
"""Finish reasons that asking the same thing again at once would only repeat."""

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

    `parts` are those of a merged prompt that the items need; `lacking` says what is wrong with a reply that
    can be read and answers nothing.
    """

    step: Step
    compose: Callable[[Sequence[_K]], Json]
    parse: Callable[[str, Sequence[_K]], Mapping[_K, _A]]
    parts: Callable[[Sequence[_K]], Sequence[str]] = _no_parts
    instruction: str = ""
    lacking: str = "the reply holds no answer in the form asked for"


MakeCall = Callable[[Step, Sequence[str], str, Json, int], Awaitable[StoredCall]]
"""Makes the call of a step with its parts, the user's instruction, the message and the number of asking."""


@dataclass(frozen=True, slots=True)
class _Group(Generic[_K]):
    """Items that are asked about together, which asking this is, counted from 1, and how often this pass may ask."""

    items: Sequence[_K]
    asking: int
    left: int


async def ask(
    call: MakeCall, question: Question[_K, _A], items: Sequence[_K], first: int = 1
) -> dict[_K, Answered[_A]]:
    """Each item's answer. Items without a usable one are asked about again, once.

    `first` 2 is for items that another question left open: they are asked about once. What the store holds of
    earlier passes is read first, asking by asking, and usable answers are taken from it.
    """
    with one_pass():
        return await _ask(call, question, items, first)


async def _ask(
    call: MakeCall, question: Question[_K, _A], items: Sequence[_K], first: int
) -> dict[_K, Answered[_A]]:
    answered: dict[_K, Answered[_A]] = {}
    groups = [_Group(items, first, MOST_ASKINGS + 1 - first)] if items else []
    while groups:
        calls = await together([_asked(call, question, group) for group in groups])
        again: list[_Group[_K]] = []
        for group, reply in zip(groups, calls, strict=True):
            outcome = _read(question, group.items, reply)
            answered.update(outcome)
            again += _left_open(group, reply, [item for item in group.items if outcome[item].answer is None])
        groups = again
    return answered


def _left_open(group: _Group[_K], reply: StoredCall, missing: Sequence[_K]) -> list[_Group[_K]]:
    """What is to be asked again after this reply."""
    is_of_now = reply.finish_reason == "rejected" or is_of_this_pass(reply.key)
    left = group.left - is_of_now
    is_final = is_of_now and reply.finish_reason in _FINAL
    if not missing or is_final or not left or group.asking >= MOST_ASKINGS_EVER:
        return []
    groups = _halves(missing) if reply.finish_reason == "length" else [missing]
    return [_Group(items, group.asking + 1, left) for items in groups]


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


async def _asked(call: MakeCall, question: Question[_K, _A], group: _Group[_K]) -> StoredCall:
    items = group.items
    message = question.compose(items)
    return await call(question.step, question.parts(items), question.instruction, message, group.asking)


def _read(question: Question[_K, _A], items: Sequence[_K], call: StoredCall) -> dict[_K, Answered[_A]]:
    fault = _fault(call)
    answers: Mapping[_K, _A] = {} if fault else question.parse(call.reply, items)
    missing = fault or ("the reply does not answer this one" if answers else question.lacking)
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
            return f"the server gave no answer: {said}"
        case "not a completion":
            return f"the server's answer was not a chat completion{f': {said}' if said else ''}"
    return "" if call.reply.strip() else "the reply was empty"


def _halves(items: Sequence[_K]) -> list[Sequence[_K]]:
    middle = (len(items) + 1) // 2
    return [half for half in (items[:middle], items[middle:]) if half]
