"""Examples of people's answers that an LLM judge is told before it checks claims: which, and in which words."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from evaluation._labels import Label
from evaluation.text import split_sentences
from evaluation.text._words import tokens

EXAMPLE_TOKENS = 1_500
"""Tokens of all examples of a prompt together, at most."""
LONGEST_PASSAGE = 300
LONGEST_GUIDELINE = 2_000
"""Characters of a text that stand with a claim, and of the guideline that is told with the examples."""
MOST_LOOKED_AT = 400
"""So many candidates are compared with each other; what the judge got wrong comes first."""
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
    language: str = "en"
    words: frozenset[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "words", frozenset(token.key for token in tokens(self.claim, self.language)))


def choose_examples(candidates: Sequence[Candidate], *, most_tokens: int = EXAMPLE_TOKENS) -> list[int]:
    """The places of the candidates to tell a judge, the most telling first.

    Yes and not yes in turn, as long as there are both; of each what the judge got wrong before what it got right. Among
    these the claim that is most like what it gets wrong and least like those chosen already, by shared words. As many
    as fit into the tokens with a passage each, and no claim twice with one label. The same candidates in the same order
    give the same places.
    Example: of two corrections "The mill burned" and "The mill burned down" to no and one "Rain fell" to yes, the
    first and the last come before the second.
    """
    left = sorted(range(len(candidates)), key=lambda place: not candidates[place].is_correction)[
        :MOST_LOOKED_AT
    ]
    wrong = [candidates[place] for place in left if candidates[place].is_correction]
    typical = {place: _mean_alike(candidates[place], wrong) for place in left}
    chosen: list[int] = []
    room = most_tokens
    while left:
        told = [candidates[place].label == "yes" for place in chosen]
        wants_yes = 2 * sum(told) < len(told)
        of_label = [place for place in left if (candidates[place].label == "yes") == wants_yes] or left
        best = max(
            of_label,
            key=lambda place: (
                candidates[place].is_correction,
                typical[place]
                - max((_alike(candidates[place], candidates[one]) for one in chosen), default=0.0),
            ),
        )
        room -= _estimated(candidates[best].claim) + LONGEST_PASSAGE // _BYTES_PER_TOKEN
        if room < 0:
            break
        chosen.append(best)
        told_now = (candidates[best].claim, candidates[best].label)
        left = [place for place in left if (candidates[place].claim, candidates[place].label) != told_now]
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


def _alike(one: Candidate, other: Candidate) -> float:
    either = one.words | other.words
    return len(one.words & other.words) / len(either) if either else 0.0


def _mean_alike(one: Candidate, others: Sequence[Candidate]) -> float:
    return sum(_alike(one, other) for other in others) / len(others) if others else 0.0
