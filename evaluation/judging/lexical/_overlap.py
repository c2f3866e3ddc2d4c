"""The features of the lexical judge: shared words, contradicted numbers and negations, and length."""

import math
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from itertools import chain, pairwise
from typing import NamedTuple

from evaluation.judging.protocol import Text
from evaluation.text._splitting import sentence_spans
from evaluation.text._word_lists import NEGATION_MARKS, sections
from evaluation.text._words import Token, every_token, language_code

LISTED = sections("evaluation.judging.lexical", "lexical.txt")
"""The lines of each section of lexical.txt, by the section's name."""
_WEIGHTS = [map(float, line.split()[1:]) for line in LISTED["weights"]]
COVERED, SUPPORTED = zip(*_WEIGHTS, strict=True)
"""The weights of the features, in the order of `Overlap.features`, then the intercept, for both sides of a check."""

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
    """A unit, or a sentence of a claim.

    - `words`: its content words, names and numbers in order
    - `every_key`: the keys of all words, including function words; `places`: by key, its places as bits
    - `denied`: the keys of negated words
    """

    text: str
    words: tuple[Token, ...]
    every_key: tuple[str, ...]
    places: Mapping[str, int]
    denied: frozenset[str]


class Prepared(NamedTuple):
    """A text prepared for comparisons with claims.

    - `holders`: by key, the indices of the units that contain the key
    - `every_key`: the keys of all words of the text, including function words
    - `words`: the number of content words, names and numbers of the text
    - `nearly_all`: the share of a statement's words from which a unit says nearly the same
    """

    units: tuple[Statement, ...]
    holders: Mapping[str, Collection[int]]
    every_key: frozenset[str]
    words: int
    nearly_all: float


class Overlap(NamedTuple):
    """The comparison of a sentence of a claim with a text.

    `missing` are words of the sentence that the text lacks. The values of `features` are in [0, 1] unless stated
    otherwise. The best unit is the unit of the text that `_best_unit` chooses. Only `sequence`, `sequence_to_end` and
    `every_word` count function words.

    - recall: the share of the claim's words that the text contains
    - best_unit: the share of the claim's words that the best unit contains
    - sequence: the share of the claim's words in the longest common subsequence with the best unit
    - every_word: the share of all words of the claim, including function words, that the text contains
    - sequence_to_end: sequence if the best unit contains the claim's last word, otherwise 0
    - words_missing: the number of content words that the text lacks, divided by 5, at most 1
    - number_contradicted: 1 if the text lacks a number of the claim, and a unit that contains much of the claim has
      another number beside the same word; otherwise 0
    - negation_flipped: 1 if some units contain nearly all words of the claim, and each of these units negates what the
      claim affirms, or the reverse; otherwise 0
    - text_words: ln(1 + number of content words, names and numbers of the text)
    """

    features: tuple[float, ...]
    evidence: tuple[int, ...]
    missing: Sequence[Token]
    negation_flipped: bool


@lru_cache(maxsize=4096)
def sentences(claim: str, language: str) -> tuple[Statement, ...]:
    """Return the sentences of a claim that have a comparable word."""
    code = language_code(language)
    made = (_statement(span.of(claim), code) for span in sentence_spans(claim, language))
    return tuple(statement for statement in made if statement.words)


@lru_cache(maxsize=64)
def prepared(text: Text) -> Prepared:
    """Prepare a text for comparisons."""
    code = language_code(text.language)
    units = tuple(_statement(content, code) for _, content in text.numbered_units())
    # Use dictionaries instead of sets to keep the order of the units.
    holders: dict[str, dict[int, None]] = {}
    for index, unit in enumerate(units):
        for word in unit.words:
            holders.setdefault(word.key, {})[index] = None
    every_key = frozenset(chain.from_iterable(unit.places for unit in units))
    nearly_all = _NEARLY_ALL_PAIRS if code in NEGATION_MARKS else _NEARLY_ALL
    return Prepared(units, holders, every_key, sum(len(unit.words) for unit in units), nearly_all)


def overlap(ours: Statement, theirs: Prepared) -> Overlap:
    """Compare a sentence of a claim with a prepared text."""
    total, held = len(ours.words), theirs.holders.get
    units = [held(word.key, ()) for word in ours.words]
    gains = [0] * len(theirs.units)
    for unit in chain.from_iterable(units):
        gains[unit] += 1
    missing = [word for word, own in zip(ours.words, units, strict=True) if not own]
    kinds = [word.kind for word in missing]
    best, is_flipped = _best_unit(gains, ours, theirs)
    added = [0] * len(theirs.units)
    for unit in chain.from_iterable(own for own in units if best not in own):
        added[unit] += 1
    # In a tie, take the first unit of the text.
    second = added.index(max(added))
    sequence = _common_order(ours, theirs.units[best].every_key) / len(ours.every_key)
    features = (
        1 - len(missing) / total,
        gains[best] / total,
        sequence,
        sum(map(theirs.every_key.__contains__, ours.every_key)) / len(ours.every_key),
        sequence if best in units[-1] else 0.0,
        min(kinds.count("content"), _MOST_MISSING) / _MOST_MISSING,
        float("number" in kinds and _has_other_number(ours, gains, theirs)),
        float(is_flipped),
        math.log1p(theirs.words),
    )
    evidence = {best, second} if added[second] >= _LEAST_SECOND_EVIDENCE * total else {best}
    shown = sorted([unit + 1 for unit in evidence]) if gains[best] >= _LEAST_EVIDENCE * total else ()
    return Overlap(features, tuple(shown), missing, is_flipped)


def _statement(content: str, code: str) -> Statement:
    tokens = tuple(every_token(content, code))
    every_key = tuple(token.key for token in tokens)
    words = tuple(token for token in tokens if token.kind not in ("negation", "function"))
    places: dict[str, int] = {}
    for place, key in enumerate(every_key):
        places[key] = places.get(key, 0) | 1 << place
    denied: set[str] = set()
    reach = 0
    for token in tokens:
        # Assume that a negation applies to the words after it: "did not resign", "no data was lost", "没有盈利".
        if token.kind == "negation":
            reach = _DENIED_WORDS
        elif reach and token.kind != "function":
            denied.add(token.key)
            reach -= 1
    if reach == _DENIED_WORDS and words:
        denied.add(words[-1].key)
    return Statement(content, words, every_key, places, frozenset(denied))


def _best_unit(gains: Sequence[int], ours: Statement, theirs: Prepared) -> tuple[int, bool]:
    """Return the unit with the most words of the claim, if possible one with nearly all words that does not negate it.

    The second value is True if some units have nearly all words of the claim, and all of these units negate it.
    """
    most, enough = max(gains), theirs.nearly_all * len(ours.words)
    alike = [index for index, gain in enumerate(gains) if gain >= enough] if most >= enough else []
    agreeing = [index for index in alike if not _is_flipped(ours, theirs.units[index])]
    best = max(agreeing or alike, key=gains.__getitem__, default=gains.index(most))
    return best, bool(alike) and not agreeing


def _is_flipped(ours: Statement, theirs: Statement) -> bool:
    """Return True if one statement negates shared words and the other does not, and both have nearly the same words."""
    if not (ours.denied or theirs.denied):
        return False
    both = ours.places.keys() & theirs.places.keys()
    if ours.denied.isdisjoint(both) == theirs.denied.isdisjoint(both):
        return False
    shared = [place for place, word in enumerate(theirs.words) if word.key in both]
    return len(shared) >= _NEARLY_THE_SAME * (shared[-1] + 1 - shared[0])


def _has_other_number(ours: Statement, gains: Sequence[int], theirs: Prepared) -> bool:
    """Return True if a unit with a part of the claim has another number where the claim has a missing number.

    The place is recognised by an equal word beside both numbers.
    """
    counted = {word for number, word in _counted(ours) if number not in theirs.holders}
    return any(
        number not in ours.places and word in counted
        for unit, gain in enumerate(gains)
        if gain >= _SOME_OF_IT * len(ours.words)
        for number, word in _counted(theirs.units[unit])
    )


def _counted(statement: Statement) -> list[tuple[str, str]]:
    """Pair the keys of numbers with the keys of the words beside them."""
    beside = [*pairwise(statement.words), *pairwise(statement.words[::-1])]
    return [(one.key, other.key) for one, other in beside if one.kind == "number"]


def _common_order(ours: Statement, others: Sequence[str]) -> int:
    """Return the length of the longest common subsequence of all keys.

    Source: Hyyrö, "Bit-parallel LCS-length computation revisited", 2004.
    """
    row = every = (1 << len(ours.every_key)) - 1
    for found in filter(None, map(ours.places.get, others)):
        matches = row & found
        row = (row + matches) | (row - matches)
    # Sums carry beyond the last key.
    return len(ours.every_key) - (row & every).bit_count()
