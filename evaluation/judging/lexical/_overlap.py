"""The features of the lexical judge: shared words, contradicted numbers and negations, and length."""

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

from evaluation.judging.protocol import Text
from evaluation.text._splitting import sentence_spans
from evaluation.text._word_lists import NEGATION_MARKS, sections
from evaluation.text._words import Token, every_token, language_code

LISTED = sections("evaluation.judging.lexical", "lexical.txt")
"""The lines of each section of lexical.txt, by the section's name."""
_WEIGHTS = {name: weights for name, *weights in map(str.split, LISTED["weights"])}
FEATURES = (*_WEIGHTS,)[:-1]
"""The names of the features, in the order of `Overlap.features`. Values are in [0, 1] unless stated otherwise.

The best unit is the unit of the text that `_best_unit` chooses. Only `sequence`, `sequence_to_end` and `every_word`
count function words.

- recall: the share of the claim's words that the text contains
- best_unit: the share of the claim's words that the best unit contains
- sequence: the share of the claim's words in the longest common subsequence with the best unit
- every_word: the share of all words of the claim, including function words, that the text contains
- sequence_to_end: sequence if the best unit contains the claim's last word, otherwise 0
- words_missing: the number of content words that the text lacks, divided by 5, at most 1
- number_contradicted: 1 if the text lacks a number of the claim, and a unit that contains much of the claim has another
  number beside the same word; otherwise 0
- negation_flipped: 1 if some units contain nearly all words of the claim, and each of these units negates what the
  claim affirms, or the reverse; otherwise 0
- text_words: ln(1 + number of content words, names and numbers of the text)
"""
COVERED, SUPPORTED = (tuple(float(of[side]) for of in _WEIGHTS.values()) for side in (0, 1))
"""The weights of the features, then the intercept, for both sides of a check."""

_MOST_MISSING = 5
_DENIED_WORDS = 2
_SOME_OF_IT, _NEARLY_ALL = 0.4, 0.85
# Used instead of _NEARLY_ALL in Chinese and Japanese, where a negation also changes the pairs of characters next to it.
_NEARLY_ALL_PAIRS = 0.75
# Two statements have nearly the same words if they share at least this part of the words from the first to the last
# shared word.
_NEARLY_THE_SAME = 0.6
# The best unit is evidence only if it contains at least the first of these shares of the claim's words. A second unit
# is evidence only if it adds at least the second share.
_LEAST_EVIDENCE, _LEAST_SECOND_EVIDENCE = 0.2, 0.15


class Statement(NamedTuple):
    """A unit or sentence: its content words, names and numbers in order, their keys, and the keys of negated words.

    `every_key` also has the function words; `code` is the code of the language.
    """

    words: tuple[Token, ...]
    keys: tuple[str, ...]
    every_key: tuple[str, ...]
    denied: frozenset[str]
    code: str


class Prepared(NamedTuple):
    """A text prepared for comparisons with claims.

    - `holders`: by key, the indices of the units that contain the key
    - `every_key`: the keys of all words of the text, including function words
    - `words`: the number of content words, names and numbers of the text
    """

    units: tuple[Statement, ...]
    holders: Mapping[str, Collection[int]]
    every_key: frozenset[str]
    words: int


class Overlap(NamedTuple):
    """The comparison of a sentence of a claim with a text.

    `missing` are words of the sentence that the text lacks.
    """

    features: tuple[float, ...]
    evidence: tuple[int, ...]
    missing: tuple[str, ...]
    negation_flipped: bool


@lru_cache(maxsize=4096)
def sentences(claim: str, language: str) -> tuple[tuple[str, Statement], ...]:
    """Return the sentences of a claim that have a comparable word, each with its statement."""
    code = language_code(language)
    spans = [span.of(claim) for span in sentence_spans(claim, language)]
    made = ((sentence, _statement(sentence, code)) for sentence in spans)
    return tuple((sentence, statement) for sentence, statement in made if statement.words)


@lru_cache(maxsize=64)
def prepared(text: Text) -> Prepared:
    """Prepare a text for comparisons."""
    code = language_code(text.language)
    units = tuple(_statement(content, code) for _, content in text.numbered_units())
    # Use dictionaries instead of sets to keep the order of the units.
    holders: dict[str, dict[int, None]] = {}
    for index, unit in enumerate(units):
        for key in unit.keys:
            holders.setdefault(key, {})[index] = None
    every_key = frozenset(chain.from_iterable(unit.every_key for unit in units))
    return Prepared(units, holders, every_key, sum(len(unit.keys) for unit in units))


def overlap(sentence: str, ours: Statement, theirs: Prepared) -> Overlap:
    """Compare a sentence of a claim with a prepared text."""
    total = len(ours.words)
    units = [theirs.holders.get(key, ()) for key in ours.keys]
    gains = Counter(chain.from_iterable(units))
    missing = [word for word, own in zip(ours.words, units, strict=True) if not own]
    best, is_flipped = _best_unit(gains, ours, theirs.units)
    # In a tie, take the first unit of the text.
    added = Counter(chain.from_iterable(own for own in units if best not in own))
    second = min(added, key=lambda unit: (-added[unit], unit), default=best)
    sequence = _common_order(ours.every_key, theirs.units[best].every_key) / len(ours.every_key)
    features = (
        1 - len(missing) / total,
        gains[best] / total,
        sequence,
        sum(map(theirs.every_key.__contains__, ours.every_key)) / len(ours.every_key),
        sequence if best in units[-1] else 0.0,
        min(sum([word.kind == "content" for word in missing]), _MOST_MISSING) / _MOST_MISSING,
        float(bool(missing) and _has_other_number(ours, missing, gains, theirs.units)),
        float(is_flipped),
        math.log1p(theirs.words),
    )
    evidence = {best, second} if added[second] >= _LEAST_SECOND_EVIDENCE * total else {best}
    return Overlap(
        features,
        tuple(sorted([unit + 1 for unit in evidence])) if gains[best] >= _LEAST_EVIDENCE * total else (),
        _surfaces(sentence, missing),
        is_flipped,
    )


def _statement(content: str, code: str) -> Statement:
    words: list[Token] = []
    every_key: list[str] = []
    denied: set[str] = set()
    denial = reach = 0
    for token in every_token(content, code):
        key, kind, start, end = token
        every_key.append(key)
        if kind == "function":
            continue
        if kind == "negation":
            denial, reach = end, _DENIED_WORDS
            continue
        # Assume that a negation applies to the words after it: "did not resign", "no data was lost", "没有盈利".
        if reach and start >= denial:
            denied.add(key)
            reach -= 1
        words.append(token)
    if reach == _DENIED_WORDS and words:
        denied.add(words[-1].key)
    return Statement(
        tuple(words), tuple([token.key for token in words]), tuple(every_key), frozenset(denied), code
    )


def _best_unit(gains: Counter[int], ours: Statement, units: Sequence[Statement]) -> tuple[int, bool]:
    """Return the unit with the most words of the claim, if possible one with nearly all words that does not negate it.

    The second value is True if some units have nearly all words of the claim, and all of these units negate it.
    """
    enough = (_NEARLY_ALL_PAIRS if ours.code in NEGATION_MARKS else _NEARLY_ALL) * len(ours.words)
    alike = [index for index in sorted(gains) if gains[index] >= enough]
    agreeing = [index for index in alike if not _is_flipped(ours, units[index])]
    best = max(agreeing or alike or sorted(gains), key=gains.__getitem__, default=0)
    return best, bool(alike) and not agreeing


def _is_flipped(ours: Statement, theirs: Statement) -> bool:
    """Return True if one statement negates shared words and the other does not, and both have nearly the same words."""
    if not (ours.denied or theirs.denied):
        return False
    both = frozenset(ours.keys) & frozenset(theirs.keys)
    if ours.denied.isdisjoint(both) == theirs.denied.isdisjoint(both):
        return False
    shared = [place for place, key in enumerate(theirs.keys) if key in both]
    return len(shared) >= _NEARLY_THE_SAME * (shared[-1] + 1 - shared[0])


def _beside(words: Sequence[Token], place: int) -> Sequence[Token]:
    return (*words[max(place - 1, 0) : place], *words[place + 1 : place + 2])


def _has_other_number(
    ours: Statement, missing: Sequence[Token], gains: Counter[int], units: Sequence[Statement]
) -> bool:
    """Return True if a unit with a part of the claim has another number where the claim has a missing number.

    The place is recognised by an equal word beside both numbers.
    """
    numbers = [ours.keys.index(word.key) for word in missing if word.kind == "number"]
    beside = {word.key for place in numbers for word in _beside(ours.words, place)}
    return bool(beside) and any(
        word.kind == "number" and word.key not in ours.keys and any(one.key in beside for one in _beside(words, place))
        for unit, gain in gains.items()
        if gain >= _SOME_OF_IT * len(ours.words)
        for words in [units[unit].words]
        for place, word in enumerate(words)
    )  # fmt: skip


def _common_order(ours: Sequence[str], others: Sequence[str]) -> int:
    """Return the length of the longest common subsequence.

    Source: Hyyrö, "Bit-parallel LCS-length computation revisited", 2004.
    """
    places: dict[str, int] = {}
    for place, key in enumerate(ours):
        places[key] = places.get(key, 0) | 1 << place
    row = every = (1 << len(ours)) - 1
    for found in filter(None, map(places.get, others)):
        matches = row & found
        row = ((row + matches) | (row - matches)) & every
    return len(ours) - row.bit_count()


def _surfaces(claim: str, missing: Sequence[Token]) -> tuple[str, ...]:
    places: list[list[int]] = []
    for _, _, start, end in sorted(missing, key=lambda token: token.start):
        if places and start < places[-1][1]:
            places[-1][1] = max(places[-1][1], end)
        else:
            places.append([start, end])
    return tuple(claim[start:end] for start, end in places)
