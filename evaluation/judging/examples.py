"""Choosing examples of people's answers for the prompt of an LLM judge."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest

from evaluation._labels import Label
from evaluation.text import split_sentences
from evaluation.text._words import tokens

EXAMPLE_TOKENS = 1_500
"""The largest estimated number of tokens of all examples in a prompt."""
LONGEST_PASSAGE = 300
LONGEST_GUIDELINE = 2_000
"""The largest number of characters of an example's passage, and of the guideline."""
# The assumed number of bytes of a token (as in `_windows`).
_BYTES_PER_TOKEN = 3
_TOKENS_AROUND = 20


@dataclass(frozen=True, slots=True)
class Example:
    """A claim, a passage of the text, and people's answer."""

    claim: str
    passage: str
    label: Label
    reason: str = ""

    @property
    def tokens(self) -> int:
        """Estimate the number of tokens."""
        return _estimated(self.claim + self.passage + self.reason)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A claim with people's answer; `is_correction` is True if the judge's answer differed."""

    claim: str
    label: Label
    is_correction: bool


def choose_examples(candidates: Sequence[Candidate], *, most_tokens: int = EXAMPLE_TOKENS) -> list[int]:
    """Choose examples among the candidates and return their positions, in the order of the prompt.

    Examples with a label other than yes and examples with yes alternate until one kind runs out; then the rest follows.
    Within each kind, corrections of the judge come first, and otherwise the given order is kept. The choice ends when
    the estimated tokens of the next example would exceed `most_tokens`; each passage is counted at its greatest
    length. Only one example is chosen among equal claims with the same label.
    Example: for the candidates no, no and yes, all corrections, the result is 0, 2, 1.
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
    """Return the first examples that fit into `most_tokens` together."""
    kept: list[Example] = []
    for example in examples:
        most_tokens -= example.tokens
        if most_tokens < 0:
            break
        kept.append(example)
    return kept


def passage(claim: str, text: str, language: str = "en") -> str:
    """Return the sentences of a text that share the most words with a claim, in their order, cut to LONGEST_PASSAGE."""
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
