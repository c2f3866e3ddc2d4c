"""The features of the lexical judge, which measure how much of a claim's words a text contains."""

import math
from collections.abc import Collection, Mapping, Sequence
from functools import cache, lru_cache
from itertools import chain
from operator import mul
from typing import NamedTuple

from evaluation.judging.protocol import Text
from evaluation.text._splitting import sentence_spans
from evaluation.text._word_lists import NEGATION_MARKS, sections
from evaluation.text._words import Token, every_token, key_of, language_code

LISTED = sections("evaluation.judging.lexical", "lexical.txt")
"""The lines of each section of lexical.txt, by the section's name."""
_WEIGHTS = {name: weights for name, *weights in map(str.split, LISTED["weights"])}
FEATURES = (*_WEIGHTS,)[:-1]
"""The names of the features, in the order of `Overlap.features`. Values are in [0, 1] unless stated otherwise.

The text contains a word of the claim if it contains the word's key. If it contains only a related word, it contains the
word by 0.6 (`_KINSHIP`). The best unit is the unit of the text that `_best_unit` chooses. Only `sequence` and
`every_word` count function words.

- recall: the share, by weight, of the claim's words that the text contains
- best_unit: the share, by weight, of the claim's words that the best unit contains
- sequence: the share of the claim's words in the longest common subsequence with the best unit
- every_word: the share of all words of the claim, including function words, that the text contains
- last_word: 1 if the best unit contains the claim's last word, 0.6 if it contains only a related word, otherwise 0
- numbers_found: the share, by weight, of the claim's numbers that the text contains; recall if the claim has no number
- sequence_to_end: sequence times last_word
- words_missing: the number of content words that the text lacks, also as related words, divided by 5, at most 1
- number_contradicted: 1 if the text lacks a number of the claim, and a unit that contains much of the claim has another
  number beside the same word; otherwise 0
- word_opposed: 1 if the best unit contains much of the claim, and has the opposite of a claim's word that it lacks;
  otherwise 0
- negation_flipped: 1 if some units contain nearly all words of the claim, and each of these units negates what the
  claim affirms, or the reverse; otherwise 0
- text_words: ln(1 + number of content words of the text)
"""
COVERED, SUPPORTED = (tuple(float(of[side]) for of in _WEIGHTS.values()) for side in (0, 1))
"""The weights of the features, then the intercept, for both sides of a check."""

_KINSHIP = 0.6
# Longer words have more weight in every language. Rarity would be the better weight, but needs a corpus.
_LEAST_WEIGHT, _WEIGHT_PER_LETTER, _MOST_LETTERS = 0.6, 0.08, 8
_EVERYDAY_WEIGHT = 0.6
# Long words of every language count as related if this many first letters are equal.
_SAME_BEGINNING = 5
_SHORTEST_RELATED = 6
_MOST_MISSING = 5
_DENIED_WORDS = 2
_SOME_OF_IT, _NEARLY_ALL = 0.4, 0.85
# Used instead of _NEARLY_ALL in languages that are compared by pairs of characters. There a negation also changes the
# pairs next to it, so fewer pairs can be equal.
_NEARLY_ALL_PAIRS = 0.75
# Two statements have nearly the same words if they share at least this part of the words from the first to the last
# shared word.
_NEARLY_THE_SAME = 0.6
# The best unit is evidence only if it contains at least the first of these shares of the claim's weight. A second unit
# is evidence only if the words that it adds have at least the second share.
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


class Part(NamedTuple):
    """One sentence of a claim, prepared without the compared text. The kin of a word is the key that it shares with
    related words (see `_kin`).

    - `order`: by key, a bit mask of the key's positions among all words of the sentence, including function words
    - `words`: the distinct words of the sentence; `weights` and `kin` have their weights and kins, in the same order
    - `numbers`: by position in `words` of a number, its share of the weight of all numbers
    - `opposites`: the words that have opposites, each with the keys of its opposites
    - `total`: the sum of the weights
    """

    statement: Statement
    order: Mapping[str, int]
    words: tuple[Token, ...]
    weights: tuple[float, ...]
    kin: tuple[str, ...]
    numbers: Mapping[int, float]
    opposites: tuple[tuple[Token, Collection[str]], ...]
    total: float


class Prepared(NamedTuple):
    """A text prepared for comparisons with claims.

    - `holders`, `kin_holders`: by key and by kin (see `Part`), the indices of the units that contain the key or kin
    - `every_key`: the keys of all words of the text, including function words
    - `words`: the number of content words, names and numbers of the text
    """

    units: tuple[Statement, ...]
    holders: Mapping[str, Collection[int]]
    kin_holders: Mapping[str, Collection[int]]
    every_key: frozenset[str]
    words: int


class Overlap(NamedTuple):
    """The comparison of a sentence of a claim with a text.

    `missing` are words of the sentence that the text lacks. `is_exact` is True if the text contains every word
    literally.
    """

    features: tuple[float, ...]
    evidence: tuple[int, ...]
    missing: tuple[str, ...]
    is_exact: bool
    negation_flipped: bool
    opposed: str


@lru_cache(maxsize=4096)
def parts(claim: str, language: str) -> tuple[tuple[str, Part], ...]:
    """Return the sentences of a claim that have a comparable word, each with its prepared part."""
    code = language_code(language)
    sentences = [span.of(claim) for span in sentence_spans(claim, language)]
    made = ((sentence, _part(_statement(sentence, code))) for sentence in sentences)
    return tuple((sentence, part) for sentence, part in made if part.words)


@lru_cache(maxsize=64)
def prepared(text: Text) -> Prepared:
    """Prepare a text for comparisons. The most recent results are cached."""
    code = language_code(text.language)
    units = tuple(_statement(content, code) for _, content in text.numbered_units())
    # Use dictionaries instead of sets to keep the order of the units.
    holders: dict[str, dict[int, None]] = {}
    kin_holders: dict[str, dict[int, None]] = {}
    for index, unit in enumerate(units):
        for key in unit.keys:
            holders.setdefault(key, {})[index] = None
            if kin := _kin(key, code):
                kin_holders.setdefault(kin, {})[index] = None
    every_key = frozenset(chain.from_iterable(unit.every_key for unit in units))
    return Prepared(units, holders, kin_holders, every_key, sum(len(unit.keys) for unit in units))


def overlap(sentence: str, part: Part, theirs: Prepared) -> Overlap:
    """Compare a sentence of a claim, prepared by `parts`, with a prepared text."""
    ours, words, total = part.statement, part.words, part.total
    gains = [0.0] * len(theirs.units)
    shares: list[float] = []
    units = [theirs.holders.get(word.key, ()) for word in words]
    for own, weight, kin in zip(units, part.weights, part.kin, strict=True):
        akin = theirs.kin_holders.get(kin, ())
        for unit in own:
            gains[unit] += weight
        if len(akin) > len(own):
            for unit in akin:
                gains[unit] += 0.0 if unit in own else weight * _KINSHIP
        shares.append(1.0 if own else _KINSHIP if akin else 0.0)
    missing = [word for word, share in zip(words, shares, strict=True) if not share]
    best, is_flipped = _best_unit(gains, part, theirs.units)
    text, gain = theirs.units[best], gains[best] / total
    second, added = _second_unit(part, units, best)
    opposed = _opposed(part, text.keys) if gain >= _SOME_OF_IT else None
    recall = sum(map(mul, part.weights, shares)) / total
    sequence = _common_order(part, text.every_key) / len(ours.every_key)
    last_word = 1.0
    if best not in units[-1]:
        last_word = _KINSHIP if best in theirs.kin_holders.get(part.kin[-1], ()) else 0.0
    features = (
        recall,
        min(gain, 1.0),
        sequence,
        sum(map(theirs.every_key.__contains__, ours.every_key)) / len(ours.every_key),
        last_word,
        sum([part.numbers[place] * shares[place] for place in part.numbers]) if part.numbers else recall,
        sequence * last_word,
        min(sum([word.kind == "content" for word in missing]), _MOST_MISSING) / _MOST_MISSING,
        float(bool(missing) and _has_other_number(part, missing, gains, theirs.units)),
        float(opposed is not None),
        float(is_flipped),
        math.log1p(theirs.words),
    )
    evidence = {best, second} if added >= _LEAST_SECOND_EVIDENCE * total else {best}
    return Overlap(
        features,
        tuple(sorted([unit + 1 for unit in evidence])) if gain >= _LEAST_EVIDENCE else (),
        _surfaces(sentence, missing),
        all(units),
        is_flipped,
        sentence[opposed.start : opposed.end] if opposed else "",
    )


def _part(statement: Statement) -> Part:
    code = statement.code
    words = tuple({token.key: token for token in reversed(statement.words)}.values())[::-1]
    order: dict[str, int] = {}
    for place, key in enumerate(statement.every_key):
        order[key] = order.get(key, 0) | 1 << place
    weights, opposites = tuple(_weight(token.key, code) for token in words), _opposites(code)
    numbers = {place: weights[place] for place, token in enumerate(words) if token.kind == "number"}
    return Part(
        statement,
        order,
        words,
        weights,
        tuple(_kin(token.key, code) if token.kind != "number" else "" for token in words),
        {place: weight / sum(numbers.values()) for place, weight in numbers.items()},
        tuple((token, opposites[token.key]) for token in words if token.key in opposites),
        sum(weights),
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


@cache
def _groups(section: str, code: str) -> list[list[str]]:
    """Return the keys of the words on each line of a section; languages other than English have none."""
    return [[key_of(word, code) for word in line.split()] for line in LISTED[section] if code == "en"]


@cache
def _words_of(section: str, code: str) -> frozenset[str]:
    return frozenset(chain.from_iterable(_groups(section, code)))


@cache
def _alike(code: str) -> dict[str, str]:
    return {key: f"={line[0]}" for line in reversed(_groups("alike", code)) for key in line}


@cache
def _opposites(code: str) -> dict[str, set[str]]:
    opposites: dict[str, set[str]] = {}
    for group in _groups("opposed", code):
        for key in group:
            opposites.setdefault(key, set()).update(group)
    return opposites


def _weight(key: str, code: str) -> float:
    weight = _LEAST_WEIGHT + _WEIGHT_PER_LETTER * min(len(key), _MOST_LETTERS)
    return weight * _EVERYDAY_WEIGHT if key in _words_of("everyday", code) else weight


@lru_cache(maxsize=1 << 16)
def _kin(key: str, code: str) -> str:
    """Return the key that a word shares with related words: the key of its line in the word list, or its first
    letters.

    A word without related words has "".
    """
    is_long = len(key) >= _SHORTEST_RELATED and key.isalpha()
    return _alike(code).get(key, key[:_SAME_BEGINNING] if is_long else "")


def _best_unit(gains: Sequence[float], part: Part, units: Sequence[Statement]) -> tuple[int, bool]:
    """Return the unit with the most words of the claim, if possible one with nearly all words that does not negate it.

    The second value is True if some units have nearly all words of the claim, and all of these units negate it.
    """
    is_paired = part.statement.code in NEGATION_MARKS
    enough = (_NEARLY_ALL_PAIRS if is_paired else _NEARLY_ALL) * part.total
    alike = [index for index, gain in enumerate(gains) if gain >= enough]
    agreeing = [index for index in alike if not _is_flipped(part.statement, units[index])]
    return max(agreeing or alike or range(len(gains)), key=gains.__getitem__), bool(alike) and not agreeing


def _is_flipped(ours: Statement, theirs: Statement) -> bool:
    """Return True if one statement negates shared words and the other does not, and both have nearly the same words."""
    if not (ours.denied or theirs.denied):
        return False
    both = frozenset(ours.keys) & frozenset(theirs.keys)
    if ours.denied.isdisjoint(both) == theirs.denied.isdisjoint(both):
        return False
    shared = [place for place, key in enumerate(theirs.keys) if key in both]
    stretch = theirs.keys[max(shared[0] - 1, 0) : shared[-1] + 1]
    if len(shared) < _NEARLY_THE_SAME * (shared[-1] + 1 - shared[0]):
        return False
    # A word such as "suspended" may express the negation. Then the statements do not contradict each other.
    return _words_of("denying", ours.code).isdisjoint(frozenset(ours.keys) ^ frozenset(stretch))


def _second_unit(part: Part, units: Sequence[Collection[int]], best: int) -> tuple[int, float]:
    added = {best: 0.0}
    for own, weight in zip(units, part.weights, strict=True):
        for unit in () if best in own else own:
            added[unit] = added.get(unit, 0.0) + weight
    # In a tie, take the first unit of the text.
    second = max(sorted(added), key=added.__getitem__)
    return second, added[second]


def _beside(words: Sequence[Token], place: int) -> Sequence[Token]:
    return (*words[max(place - 1, 0) : place], *words[place + 1 : place + 2])


def _has_other_number(
    part: Part, missing: Sequence[Token], gains: Sequence[float], units: Sequence[Statement]
) -> bool:
    """Return True if a unit with a part of the claim has another number where the claim has a missing number.

    The place is recognised by an equal word beside both numbers.
    """
    words, keys, _, _, _ = part.statement
    numbers = [keys.index(word.key) for word in missing if word.kind == "number"]
    beside = {word.key for place in numbers for word in _beside(words, place)}
    return bool(beside) and any(
        word.kind == "number" and word.key not in keys and any(one.key in beside for one in _beside(unit.words, place))
        for unit, gain in zip(units, gains, strict=True)
        if gain >= _SOME_OF_IT * part.total
        for place, word in enumerate(unit.words)
    )  # fmt: skip


def _opposed(part: Part, theirs: Collection[str]) -> Token | None:
    ours = part.statement.keys
    for word, others in part.opposites:
        if word.key not in theirs and any(key in others and key not in ours for key in theirs):
            return word
    return None


def _common_order(part: Part, others: Sequence[str]) -> int:
    """Return the length of the longest common subsequence.

    Source: Hyyrö, "Bit-parallel LCS-length computation revisited", 2004.
    """
    length = len(part.statement.every_key)
    row = every = (1 << length) - 1
    for places in filter(None, map(part.order.get, others)):
        matches = row & places
        row = ((row + matches) | (row - matches)) & every
    return length - row.bit_count()


def _surfaces(claim: str, missing: Sequence[Token]) -> tuple[str, ...]:
    places: list[list[int]] = []
    for _, _, start, end in sorted(missing, key=lambda token: token.start):
        if places and start < places[-1][1]:
            places[-1][1] = max(places[-1][1], end)
        else:
            places.append([start, end])
    return tuple(claim[start:end] for start, end in places)
