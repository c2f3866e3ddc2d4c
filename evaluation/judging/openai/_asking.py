"""Ask an LLM about a list of items, and ask once more about items without a usable answer."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from evaluation.judging.orchestration import together
from evaluation.judging.parsing import one_line
from evaluation.judging.prompts import Step
from evaluation.judging.protocol import Json, StoredCall, Text, is_of_this_pass, one_pass
from evaluation.text._lengths import count_words, has_word_breaks
from evaluation.text._splitting import MIN_CLAUSE_CHARACTERS, MIN_CLAUSE_WORDS

MOST_ASKINGS = 2
"""The largest number of times that one pass asks the same question (see `one_pass`)."""
MOST_ASKINGS_EVER = 40
"""The largest number of times that all passes together ask the same question."""
_LONGEST_REPORTED_REPLY = 200
_QUESTION_MARKS = ("?", "\uff1f", "\u061f")
_FINAL = frozenset({"refusal", "content_filter", "rejected"})
"""Finish reasons after which one pass does not ask again."""

_K = TypeVar("_K")
_A = TypeVar("_A")
_A_co = TypeVar("_A_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Answered(Generic[_A_co]):
    """The answer to one item, or None with a reason. `call` is the key of the stored call."""

    answer: _A_co | None
    reason: str
    call: str | None


@dataclass(frozen=True, slots=True)
class Question(Generic[_K, _A]):
    """The functions that ask about a list of items and read the reply.

    `parts` returns the parts of the prompt that the items need. `parse` reads the answers to items from a call;
    `fault_of` explains a missing answer.
    """

    step: Step
    compose: Callable[[Sequence[_K]], Json]
    parse: Callable[[StoredCall, Sequence[_K]], Mapping[_K, _A]]
    parts: Callable[[Sequence[_K]], Sequence[str]]
    fault_of: Callable[[str, Sequence[_K], _K], str]
    instruction: str = ""


MakeCall = Callable[[Step, Sequence[str], str, Json, int], Awaitable[StoredCall]]
"""Makes the call of a step with its parts, the user's instruction, the message and the number of the asking."""


@dataclass(frozen=True, slots=True)
class _Group(Generic[_K]):
    """The items of one call. `asking` is the number of the attempt, and `left` is the number of calls that this pass
    may still make.
    """

    items: Sequence[_K]
    asking: int
    left: int


async def ask(
    call: MakeCall, question: Question[_K, _A], items: Sequence[_K], first: int = 1
) -> dict[_K, Answered[_A]]:
    """Ask about items, and once more about items without a usable answer. Return the answer to each item.

    `first` is 2 if another question has already asked about the items; then this one asks only once. Stored
    replies of earlier passes are used first.
    """
    answered: dict[_K, Answered[_A]] = {}
    groups = [_Group(items, first, MOST_ASKINGS + 1 - first)] if items else []
    with one_pass():
        while groups:
            calls = await together([_asked(call, question, group) for group in groups])
            again: list[_Group[_K]] = []
            for group, reply in zip(groups, calls, strict=True):
                outcome = _read(question, group.items, reply)
                answered.update(outcome)
                again += _left_open(
                    group, reply, [item for item in group.items if outcome[item].answer is None]
                )
            groups = again
    return answered


def _left_open(group: _Group[_K], reply: StoredCall, missing: Sequence[_K]) -> list[_Group[_K]]:
    is_of_now = reply.finish_reason == "rejected" or is_of_this_pass(reply.key)
    left = group.left - is_of_now
    is_final = is_of_now and reply.finish_reason in _FINAL
    if not missing or is_final or not left or group.asking >= MOST_ASKINGS_EVER:
        return []
    middle = (len(missing) + 1) // 2 if reply.finish_reason == "length" else len(missing)
    return [_Group(some, group.asking + 1, left) for some in (missing[:middle], missing[middle:]) if some]


async def _asked(call: MakeCall, question: Question[_K, _A], group: _Group[_K]) -> StoredCall:
    items = group.items
    message = question.compose(items)
    return await call(question.step, question.parts(items), question.instruction, message, group.asking)


def _read(question: Question[_K, _A], items: Sequence[_K], call: StoredCall) -> dict[_K, Answered[_A]]:
    fault = _fault(call)
    answers: Mapping[_K, _A] = {} if fault else question.parse(call, items)
    key = None if call.finish_reason == "rejected" else call.key
    return {
        item: Answered(answers[item], "", key)
        if item in answers
        else Answered(None, f"{fault or question.fault_of(call.reply, items, item)}.", key)
        for item in items
    }


def _fault(call: StoredCall) -> str:
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


def holds_claims(text: Text) -> bool:
    """Return True if a unit can contain a claim: at least four words, or eight characters in a script without spaces.

    A question contains no claim.
    """
    return any(_is_sentence(content) for _, content in text.numbered_units())


async def ask_for_claims(
    call: MakeCall,
    work: Sequence[tuple[Question[_K, _A], Sequence[_K]]],
    text: Text,
    *,
    is_unit: Callable[[_K], bool],
    has_claims: Callable[[_A], bool],
) -> list[Mapping[_K, Answered[_A]]]:
    """Ask about each list of items with `ask`. If every unit has an empty list of claims although the text can contain
    claims, ask about the units again.

    A readable second answer to a unit replaces the first. If no second answer is readable, the units have no answer.
    """
    parts: list[Mapping[_K, Answered[_A]]] = [
        *await together([ask(call, question, items) for question, items in work])
    ]
    units = [[item for item in items if is_unit(item)] for _, items in work]
    answers = [part[item].answer for part, items in zip(parts, units, strict=True) for item in items]
    if any(answer is None or has_claims(answer) for answer in answers) or not holds_claims(text):
        return parts
    again = await together(
        [ask(call, question, items, first=2) for (question, _), items in zip(work, units, strict=True)]
    )
    found = any(answered.answer is not None for part in again for answered in part.values())
    return [
        {**part, **{item: each for item, each in new.items() if each.answer is not None or not found}}
        for part, new in zip(parts, again, strict=True)
    ]


def _is_sentence(content: str) -> bool:
    if content.rstrip().endswith(_QUESTION_MARKS):
        return False
    if has_word_breaks(content):
        return count_words(content) >= MIN_CLAUSE_WORDS
    return sum(map(str.isalnum, content)) >= MIN_CLAUSE_CHARACTERS
