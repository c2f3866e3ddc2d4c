"""Examples of people's answers that an LLM judge is told before it checks claims: which, and in which words."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest

from evaluation._labels import Label
from evaluation.text import split_sentences
from evaluation.text._words import tokens

EXAMPLE_TOKENS = 1_500
"""Tokens of all examples of a prompt together, at most."""
LONGEST_PASSAGE = 300
LONGEST_GUIDELINE = 2_000
"""Characters of a text that stand with a claim, and of the guideline that is told with the examples."""
# Fewer than any tokeniser needs on average, as for texts that are cut.
_BYTES_PER_TOKEN = 3
_TOKENS_AROUND = 20


@dataclass(frozen=True, slots=True)
class Example:
    """A claim, the passage that decides it, and what people answered."""

    claim: str
    passage: str
    label: Label
    reason: str = ""

    @property
    def tokens(self) -> int:
        """About how many tokens it takes."""
        return _estimated(self.claim + self.passage + self.reason)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A claim that people answered, and whether the judge had answered otherwise."""

    claim: str
    label: Label
    is_correction: bool


def choose_examples(candidates: Sequence[Candidate], *, most_tokens: int = EXAMPLE_TOKENS) -> list[int]:
    """The places of the candidates to tell a judge.

    Yes and not yes in turn, as long as there are both; of each what the judge got wrong before what it got right, in
    the order given. As many as fit into the tokens with a passage each, and no claim twice with one label.
    Example: of two corrections "The mill burned" and "The mill burned down" to no and one "Rain fell" to yes, the
    first and the last come before the second.
    """
    distinct = {(one.claim, one.label): place for place, one in reversed(list(enumerate(candidates)))}
    places = sorted(distinct.values(), key=lambda place: (not candidates[place].is_correction, place))
    yes = [place for place in places if candidates[place].label == "yes"]
    others = [place for place in places if candidates[place].label != "yes"]
    chosen: list[int] = []
    for place in chain.from_iterable(zip_longest(others, yes)):
        if place is not None:
            most_tokens -= _estimated(candidates[place].claim) + LONGEST_PASSAGE // _BYTES_PER_TOKEN
            if most_tokens < 0:
                break
            chosen.append(place)
    return chosen


def within(examples: Sequence[Example], most_tokens: int = EXAMPLE_TOKENS) -> list[Example]:
    """The first of them, as many as fit into the tokens."""
    kept: list[Example] = []
    for example in examples:
        most_tokens -= example.tokens
        if most_tokens < 0:
            break
        kept.append(example)
    return kept


def passage(claim: str, text: str, language: str = "en") -> str:
    """The sentences of a text that share most words with a claim, in their order, as many as stand with an example."""
    asked = {token.key for token in tokens(claim, language)}
    sentences = split_sentences(text, language)
    shared = [len(asked & {token.key for token in tokens(sentence, language)}) for sentence in sentences]
    kept: list[int] = []
    room = LONGEST_PASSAGE
    for place in sorted(range(len(sentences)), key=lambda place: -shared[place]):
        room -= len(sentences[place]) + 1
        if kept and (room < 0 or not shared[place]):
            break
        kept.append(place)
    return " ".join(sentences[place] for place in sorted(kept))[:LONGEST_PASSAGE]


def _estimated(text: str) -> int:
    return len(text.encode()) // _BYTES_PER_TOKEN + _TOKENS_AROUND
