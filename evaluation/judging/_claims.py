"""Asking for a text's claims, and asking twice before believing that whole sentences hold none."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from evaluation.judging._asking import Answered, MakeCall, Question, ask, together
from evaluation.judging.protocol import Text
from evaluation.text._lengths import count_words, has_word_breaks
from evaluation.text._splitting import MIN_CLAUSE_CHARACTERS, MIN_CLAUSE_WORDS

_ASKS = ("?", "\uff1f", "\u061f")

_K = TypeVar("_K")
_A = TypeVar("_A")


def is_worded(content: str) -> bool:
    """Whether there is anything in it that could be claimed."""
    return any(character.isalnum() for character in content)


def holds_claims(text: Text) -> bool:
    """Whether some unit is long enough to claim something: four words, or eight characters without spaces.

    Questions claim nothing.
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
    """What each list of items got, as `ask`; a text whose units all got an empty list is asked about again.

    What the second reply says stands: where it too finds none, the text states nothing. Where it cannot be read, the
    units stay without an answer: none found would score as nothing to find.
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
    if content.rstrip().endswith(_ASKS):
        return False
    if has_word_breaks(content):
        return count_words(content) >= MIN_CLAUSE_WORDS
    return sum(map(str.isalnum, content)) >= MIN_CLAUSE_CHARACTERS
