"""How far the words of a claim are found in a text: the features that the lexical judge weighs."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from evaluation.judging._words import Token, language_code, tokens
from evaluation.judging.protocol import Text

FEATURES = (
    "recall",
    "best_unit",
    "best_pair",
    "adjacent",
    "near",
    "order",
    "all_found",
    "words_missing",
    "numbers_missing",
    "names_missing",
    "number_contradicted",
    "name_contradicted",
    "negation_flipped",
    "claim_words",
    "text_words",
)
"""What is measured, in the order of `Overlap.features`. Shares lie in [0, 1] unless said otherwise.

recall: weight of the claim's words that stand anywhere in the text. best_unit, best_pair: in the one unit
that holds most, in that and the one that adds most. adjacent, near: the claim's neighbouring words that are
neighbours, or at most four words apart, in the text too. order: the longest run of the claim's words in the
same order in the best unit. all_found: 1 if no word is missing. words_missing: their number, 6 and more being
1. numbers_missing, names_missing: share of the claim's. number_contradicted, name_contradicted: 1 if one is
missing and the best unit, which says much of the claim, has others instead.
negation_flipped: 1 if units say nearly the same, but all deny what the claim affirms, or the reverse.
claim_words, text_words: logarithms of 1 + the numbers.
"""

# Names weigh less than they seem to: a text about the same people leaves them out or puts a pronoun in their
# place.
_KIND_WEIGHTS = {"number": 1.3, "name": 0.8, "content": 1.0}
# Longer words say more: a stand-in for rarity that needs no corpus and works in every language.
_LEAST_WORD_WEIGHT, _WEIGHT_PER_LETTER, _MOST_LETTERS = 0.6, 0.08, 8
_WINDOW = 4
_MOST_MISSING = 6
_MUCH_OF_IT, _NEARLY_THE_SAME = 0.6, 0.75
# Shares of the claim below which a unit shows nothing.
_LEAST_EVIDENCE, _LEAST_SECOND_EVIDENCE = 0.2, 0.15

_Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class _Statement:
    """A stretch of text as keys in order, with those that it denies."""

    words: tuple[Token, ...]
    keys: tuple[str, ...]
    denied: frozenset[str]
    numbers: frozenset[str]
    names: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Claim:
    statement: _Statement
    weights: tuple[tuple[Token, float], ...]
    total: float
    adjacent: tuple[_Pair, ...]
    near: tuple[_Pair, ...]


@dataclass(frozen=True, slots=True)
class _Prepared:
    units: tuple[_Statement, ...]
    units_of: dict[str, tuple[int, ...]]
    adjacent: frozenset[_Pair]
    near: frozenset[_Pair]
    words: int


@dataclass(frozen=True, slots=True)
class Overlap:
    """What a claim and a text have in common. `missing` are the claim's own words that the text lacks."""

    features: tuple[float, ...]
    evidence: tuple[int, ...]
    missing: tuple[str, ...]
    negation_flipped: bool


def overlap(claim: str, text: Text) -> Overlap | None:
    """The overlap of the claim with the text; None if the claim holds no word that could be compared."""
    code = language_code(text.language)
    ours = _claim(claim, code)
    if not ours.weights:
        return None
    theirs = _prepared(text)
    gains = _gains(ours.weights, theirs)
    best, flipped = _best_unit(gains, ours, theirs.units)
    found_elsewhere = [pair for pair in ours.weights if best not in theirs.units_of.get(pair[0].key, ())]
    added = _gains(found_elsewhere, theirs)
    second = max(range(len(added)), key=added.__getitem__)
    missing = [(token, weight) for token, weight in ours.weights if token.key not in theirs.units_of]
    unit = theirs.units[best]
    comparable = gains[best] >= _MUCH_OF_IT * ours.total
    recall = 1.0 - sum(weight for _, weight in missing) / ours.total
    features = (
        recall,
        gains[best] / ours.total,
        (gains[best] + added[second]) / ours.total,
        _share(ours.adjacent, theirs.adjacent, recall),
        _share(ours.near, theirs.near, recall),
        _common_order(ours.statement.keys, unit.keys) / len(ours.statement.keys),
        float(not missing),
        min(len(missing), _MOST_MISSING) / _MOST_MISSING,
        _missing_share("number", ours, missing),
        _missing_share("name", ours, missing),
        float(comparable and _is_replaced(ours.statement.numbers, unit.numbers, theirs)),
        float(comparable and _is_replaced(ours.statement.names, unit.names, theirs)),
        float(flipped),
        math.log1p(len(ours.weights)),
        math.log1p(theirs.words),
    )
    evidence = _evidence(best, second, gains[best] / ours.total, added[second] / ours.total)
    return Overlap(features, evidence, _surfaces(claim, [token for token, _ in missing]), flipped)


@lru_cache(maxsize=4096)
def _claim(claim: str, code: str) -> _Claim:
    statement = _statement(claim, code)
    distinct = {token.key: token for token in reversed(statement.words)}
    weights = tuple((token, _weight(token)) for token in reversed(distinct.values()))
    return _Claim(
        statement,
        weights,
        sum(weight for _, weight in weights),
        tuple(_neighbours(statement.keys, 1)),
        tuple(_neighbours(statement.keys, _WINDOW)),
    )


@lru_cache(maxsize=64)
def _prepared(text: Text) -> _Prepared:
    code = language_code(text.language)
    units = tuple(_statement(content, code) for _, content in text.numbered_units())
    units_of: dict[str, list[int]] = {}
    for index, unit in enumerate(units):
        for key in dict.fromkeys(unit.keys):
            units_of.setdefault(key, []).append(index)
    return _Prepared(
        units,
        {key: tuple(indices) for key, indices in units_of.items()},
        frozenset(pair for unit in units for pair in _neighbours(unit.keys, 1)),
        frozenset(pair for unit in units for pair in _neighbours(unit.keys, _WINDOW)),
        sum(len(unit.keys) for unit in units),
    )


def _statement(content: str, code: str) -> _Statement:
    words: list[Token] = []
    denied: set[str] = set()
    denial: Token | None = None
    for token in tokens(content, code):
        if token.kind == "negation":
            denial = token
            continue
        # What is denied is taken to be the next word: "did not resign", "no survivors", "没有盈利".
        if denial is not None and token.start >= denial.end:
            denied.add(token.key)
            denial = None
        words.append(token)
    if denial is not None and words:
        denied.add(words[-1].key)
    return _Statement(
        tuple(words),
        tuple(token.key for token in words),
        frozenset(denied),
        frozenset(token.key for token in words if token.kind == "number"),
        frozenset(token.key for token in words if token.kind == "name"),
    )


def _weight(token: Token) -> float:
    letters = min(len(token.key), _MOST_LETTERS)
    return _KIND_WEIGHTS[token.kind] * (_LEAST_WORD_WEIGHT + _WEIGHT_PER_LETTER * letters)


def _neighbours(keys: Sequence[str], reach: int) -> Iterable[_Pair]:
    for place, key in enumerate(keys):
        for other in keys[place + 1 : place + 1 + reach]:
            yield key, other


def _gains(weights: Iterable[tuple[Token, float]], theirs: _Prepared) -> list[float]:
    """The weight of the given words that each unit holds."""
    gains = [0.0] * len(theirs.units)
    for token, weight in weights:
        for index in theirs.units_of.get(token.key, ()):
            gains[index] += weight
    return gains


def _best_unit(gains: Sequence[float], ours: _Claim, units: Sequence[_Statement]) -> tuple[int, bool]:
    """The unit that holds most of the claim, and whether all that say nearly the same say the opposite."""
    alike = [index for index, gain in enumerate(gains) if gain >= _NEARLY_THE_SAME * ours.total]
    agreeing = [index for index in alike if not _is_flipped(ours.statement, units[index])]
    best = max(agreeing or range(len(gains)), key=gains.__getitem__)
    return best, bool(alike) and not agreeing


def _share(pairs: Sequence[_Pair], known: frozenset[_Pair], otherwise: float) -> float:
    if not pairs:
        return otherwise
    return sum(pair in known for pair in pairs) / len(pairs)


def _missing_share(kind: str, ours: _Claim, missing: Sequence[tuple[Token, float]]) -> float:
    of_kind = sum(token.kind == kind for token, _ in ours.weights)
    return sum(token.kind == kind for token, _ in missing) / of_kind if of_kind else 0.0


def _is_replaced(ours: frozenset[str], theirs: frozenset[str], text: _Prepared) -> bool:
    """Whether one of ours stands nowhere in the text while the unit has others that are not ours."""
    return any(key not in text.units_of for key in ours) and not theirs <= ours


def _is_flipped(ours: _Statement, theirs: _Statement) -> bool:
    both = frozenset(ours.keys) & frozenset(theirs.keys)
    return bool((ours.denied ^ theirs.denied) & both)


def _common_order(keys: Sequence[str], others: Sequence[str]) -> int:
    """Length of the longest common subsequence.

    Source: Hyyrö, "Bit-parallel LCS-length computation revisited", 2004.
    """
    places: dict[str, int] = {}
    for place, key in enumerate(keys):
        places[key] = places.get(key, 0) | 1 << place
    every = (1 << len(keys)) - 1
    row = every
    for other in others:
        matches = row & places.get(other, 0)
        row = ((row + matches) | (row - matches)) & every
    return len(keys) - row.bit_count()


def _evidence(best: int, second: int, best_share: float, second_share: float) -> tuple[int, ...]:
    if best_share < _LEAST_EVIDENCE:
        return ()
    units = {best, second} if second_share >= _LEAST_SECOND_EVIDENCE else {best}
    return tuple(sorted(unit + 1 for unit in units))


def _surfaces(claim: str, missing: Sequence[Token]) -> tuple[str, ...]:
    """The missing pieces as they stand in the claim, overlapping ones joined."""
    places: list[list[int]] = []
    for token in sorted(missing, key=lambda token: token.start):
        if places and token.start < places[-1][1]:
            places[-1][1] = max(places[-1][1], token.end)
        else:
            places.append([token.start, token.end])
    return tuple(claim[start:end] for start, end in places)
