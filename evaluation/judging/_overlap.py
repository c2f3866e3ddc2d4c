"""How far the words of a claim are found in a text: the features that the lexical judge weighs."""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import chain, combinations
from operator import itemgetter
from typing import NamedTuple

from evaluation.judging._related_words import ALIKE, DENYING, EVERYDAY, OPPOSED
from evaluation.judging.protocol import Text
from evaluation.text._function_words import NEGATION_MARKS
from evaluation.text._splitting import sentence_spans
from evaluation.text._words import Token, every_token, key_of, language_code

FEATURES = (
    "recall",
    "rare_recall",
    "best_unit",
    "best_pair",
    "sequence",
    "every_word",
    "near",
    "towards_end",
    "last_word",
    "ends_together",
    "numbers_found",
    "sequence_to_end",
    "words_missing",
    "names_missing",
    "number_contradicted",
    "name_contradicted",
    "word_opposed",
    "negation_flipped",
    "claim_words",
    "text_words",
)
"""What is measured, in the order of `Overlap.features`. Shares lie in [0, 1] unless said otherwise.

A word of the claim is found where the text has its key, and partly found (`_KINSHIP`) where the text only has
a related word. Function words count in `sequence` and `every_word` alone.

recall: weight of the claim's words that stand anywhere in the text. rare_recall: the same, but a word that
the text repeats weighs less, for the text's topic is easily hit. best_unit, best_pair: in the one unit that
holds most, in that and the one that adds most. sequence: the longest run of the claim's words, gaps allowed,
in the same order in the best unit. every_word: share of all the claim's words that the text has. near: pairs
of the claim's words, at most `_WINDOW` apart, that are as near each other in the text. towards_end: recall
that weighs words the more the later they stand, for what a claim adds tends to stand there. last_word: how
far the last word is found in the best unit. ends_together: 1 if one unit has both the first and the last.
numbers_found: share of the claim's numbers, or recall where it has none. sequence_to_end: sequence times
last_word. words_missing: number of words of content without even a related one, 5 and more being 1.
names_missing: share of the claim's names. number_contradicted: 1 if one is missing and a unit that says some
of the claim has another beside the same word. name_contradicted: 1 if one is missing and the best unit, which
says much of the claim, has others instead. word_opposed: 1 if the best unit has the opposite
of a word that it lacks. negation_flipped: 1 if units say the same in nearly the same words, but all deny what
the claim affirms, or the reverse. claim_words, text_words: logarithms of 1 + the numbers.
"""

_KINSHIP = 0.6
# Longer words say more: a stand-in for rarity that needs no corpus and works in every language.
_LEAST_WEIGHT, _WEIGHT_PER_LETTER, _MOST_LETTERS = 0.6, 0.08, 8
_EVERYDAY_WEIGHT = 0.6
# Words that begin alike for so many letters count as related, in every language.
_SAME_BEGINNING = 5
_SHORTEST_RELATED = 6
_MOST_KIN = 1 << 16
_WINDOW = 6
_UNIT = 1 << 20
_MOST_MISSING = 5
_MOST_DIGITS = 12
_DENIED_WORDS = 2
_SOME_OF_IT, _MUCH_OF_IT, _NEARLY_ALL = 0.4, 0.5, 0.85
# What a word of denial joins or parts is lost among pairs of characters.
_NEARLY_ALL_PAIRS = 0.75
# Share of a unit's words, from the first to the last that the claim has too, that are the claim's.
_NEARLY_THE_SAME = 0.6
_START = itemgetter(2)
# Shares of the claim below which a unit shows nothing.
_LEAST_EVIDENCE, _LEAST_SECOND_EVIDENCE = 0.2, 0.15


@dataclass(frozen=True, slots=True)
class Statement:
    """A stretch of text: its words of content, names and numbers in order, and the keys that it denies."""

    words: tuple[Token, ...]
    keys: tuple[str, ...]
    every_key: tuple[str, ...]
    denied: frozenset[str]
    language: str


@dataclass(frozen=True, slots=True)
class Part:
    """One sentence of a claim, with what does not depend on the text that it is compared with.

    `order` has for each key a bit for each place where it stands among all words of the sentence.
    """

    statement: Statement
    order: Mapping[str, int]
    words: tuple[Token, ...]
    weights: tuple[float, ...]
    kin: tuple[str, ...]
    ranks: tuple[float, ...]
    pairs: tuple[tuple[int, int], ...]
    total: float


@dataclass(frozen=True, slots=True)
class Prepared:
    """A text, ready to have claims compared with it.

    `places` has every place of a key among the words of content, `kin_places` that of what words are akin in.
    A place is its unit's index times `_UNIT` plus the position in the unit, so that no two words of different
    units are near each other.
    """

    units: tuple[Statement, ...]
    places: Mapping[str, Sequence[int]]
    kin_places: Mapping[str, Sequence[int]]
    every_key: frozenset[str]
    wholes: tuple[frozenset[int], ...]
    words: int


class _Tally(NamedTuple):
    """What going through the claim's words once gives.

    gains: the weight of the claim that each unit holds. units: of each word, those that have it. found, rare,
    lacking, late, numbers_found: sums of weights, as the features need them.
    """

    gains: list[float]
    units: list[Collection[int]]
    found: float
    rare: float
    lacking: float
    late: float
    numbers: float
    numbers_found: float
    names: int
    names_missing: int
    words_missing: int
    missing: list[Token]
    is_exact: bool


class Overlap(NamedTuple):
    """What a sentence of a claim and a text have in common.

    `missing` are its own words that the text lacks, `is_exact` says whether no related word had to stand in.
    """

    features: tuple[float, ...]
    evidence: tuple[int, ...]
    missing: tuple[str, ...]
    is_exact: bool
    negation_flipped: bool
    opposed: str


@lru_cache(maxsize=4096)
def parts(claim: str, language: str) -> tuple[tuple[str, Part], ...]:
    """The sentences of a claim that hold a word to compare, each with its preparation."""
    code = language_code(language)
    sentences = [span.of(claim) for span in sentence_spans(claim, language)]
    made = ((sentence, _part(sentence, code)) for sentence in sentences)
    return tuple((sentence, part) for sentence, part in made if part.words)


@lru_cache(maxsize=64)
def prepared(text: Text) -> Prepared:
    """The text, ready to have claims compared with it."""
    code = language_code(text.language)
    units = tuple(_statement(content, code) for _, content in text.numbered_units())
    places: dict[str, list[int]] = {}
    kin_places: dict[str, list[int]] = {}
    kin_of = _kin_of(code)
    for index, unit in enumerate(units):
        for place, key in enumerate(unit.keys, start=index * _UNIT):
            if key in places:
                places[key].append(place)
            else:
                places[key] = [place]
            if kin := kin_of[key]:
                if kin in kin_places:
                    kin_places[kin].append(place)
                else:
                    kin_places[kin] = [place]
    return Prepared(
        units,
        places,
        kin_places,
        frozenset(chain.from_iterable([unit.every_key for unit in units])),
        tuple(numbers for unit in units if len(numbers := _wholes(unit)) > 1),
        sum([len(unit.keys) for unit in units]),
    )


def overlap(sentence: str, part: Part, theirs: Prepared) -> Overlap:
    """What one sentence of a claim, as `parts` made it, has in common with a prepared text."""
    ours, total = part.statement, part.total
    tally = _tally(part, theirs)
    gains, missing = tally.gains, tally.missing
    best, flipped = _best_unit(gains, part, theirs.units)
    unit = theirs.units[best]
    gain = gains[best]
    second, added = _second_unit(part, tally.units, best)
    recall = tally.found / total
    last_word = _found_in(part, best, theirs)
    sequence = _common_order(part, unit.every_key) / len(ours.every_key)
    opposed = _opposed(part, unit.keys) if gain >= _SOME_OF_IT * total else None
    first, last = tally.units[0], tally.units[-1]
    features = (
        recall,
        tally.rare / (tally.rare + tally.lacking),
        min(gain / total, 1.0),
        min((gain + added) / total, 1.0),
        sequence,
        sum(map(theirs.every_key.__contains__, ours.every_key)) / len(ours.every_key),
        _near(part, theirs) if part.pairs else recall,
        tally.late,
        last_word,
        float(any(index in last for index in first)),
        tally.numbers_found / tally.numbers if tally.numbers else recall,
        sequence * last_word,
        min(tally.words_missing, _MOST_MISSING) / _MOST_MISSING,
        tally.names_missing / tally.names if tally.names else 0.0,
        float(bool(missing) and _has_other_number(part, missing, gains, theirs)),
        float(bool(missing) and gain >= _MUCH_OF_IT * total and _has_other_name(part, missing, unit)),
        float(opposed is not None),
        float(flipped),
        math.log1p(len(part.words)),
        math.log1p(theirs.words),
    )
    return Overlap(
        features,
        _evidence(best, second, gain / total, added / total),
        _surfaces(sentence, missing) if missing else (),
        tally.is_exact,
        flipped,
        sentence[opposed.start : opposed.end] if opposed else "",
    )


def _tally(part: Part, theirs: Prepared) -> _Tally:
    places, kin_places = theirs.places, theirs.kin_places
    gains = [0.0] * len(theirs.units)
    units_of_words: list[Collection[int]] = []
    found = rare = lacking = late = numbers = numbers_found = 0.0
    names = names_missing = words_missing = 0
    missing: list[Token] = []
    for token, weight, kin, rank in zip(part.words, part.weights, part.kin, part.ranks, strict=True):
        key, kind, _, _ = token
        there = places.get(key)
        kindred = kin_places.get(kin) if kin else None
        if there:
            units: Collection[int] = _units(there)
            share = 1.0
            rare += weight / len(there)
        else:
            if kind == "number" and _is_sum(key, theirs):
                kindred = range(0, len(gains) * _UNIT, _UNIT)
            units = ()
            share = _KINSHIP if kindred else 0.0
            lacking += weight - weight * share
            if not kindred:
                missing.append(token)
                words_missing += kind == "content"
                names_missing += kind == "name"
        units_of_words.append(units)
        for unit in units:
            gains[unit] += weight
        if kindred and (there is None or len(kindred) > len(there)):
            for unit in _units(kindred):
                if unit not in units:
                    gains[unit] += weight * _KINSHIP
        found += weight * share
        late += rank * share
        if kind == "name":
            names += 1
        elif kind == "number":
            numbers += weight
            numbers_found += weight * share
    return _Tally(
        gains, units_of_words, found, rare, lacking, late, numbers, numbers_found, names, names_missing,
        words_missing, missing, all(units_of_words),
    )  # fmt: skip


def _units(places: Sequence[int]) -> Collection[int]:
    if len(places) == 1:
        return (places[0] // _UNIT,)
    return dict.fromkeys([place // _UNIT for place in places])


def _part(sentence: str, code: str) -> Part:
    statement = _statement(sentence, code)
    kin_of = _kin_of(code)
    keys = statement.keys
    words = tuple({token.key: token for token in reversed(statement.words)}.values())[::-1]
    weights = tuple(_weight(token, code) for token in words)
    # A word counts as standing where it stands last.
    ranks = {key: rank for rank, key in enumerate(keys, start=1)}
    whole = sum(ranks[token.key] for token in words) or 1
    pairs = {
        (keys[first], keys[second]): (first, second)
        for first in range(len(keys))
        for second in range(first + 1, min(len(keys), first + 1 + _WINDOW))
    }
    order: dict[str, int] = {}
    for place, key in enumerate(statement.every_key):
        order[key] = order.get(key, 0) | 1 << place
    return Part(
        statement,
        order,
        words,
        weights,
        tuple(kin_of[token.key] if token.kind != "number" else "" for token in words),
        tuple(ranks[token.key] / whole for token in words),
        tuple(pairs.values()),
        sum(weights),
    )


def _statement(content: str, code: str) -> Statement:
    words: list[Token] = []
    every_key: list[str] = []
    denied: set[str] = set()
    denial: Token | None = None
    reach = 0
    for token in every_token(content, code):
        key, kind, start, _ = token
        every_key.append(key)
        if kind == "function":
            continue
        if kind == "negation":
            denial, reach = token, _DENIED_WORDS
            continue
        # What is denied is taken to be the next words: "did not resign", "no data was lost", "没有盈利".
        if reach and denial is not None and start >= denial.end:
            denied.add(key)
            reach -= 1
        words.append(token)
    if reach == _DENIED_WORDS and words:
        denied.add(words[-1].key)
    return Statement(
        tuple(words), tuple([token[0] for token in words]), tuple(every_key), frozenset(denied), code
    )


def _weight(token: Token, code: str) -> float:
    weight = _LEAST_WEIGHT + _WEIGHT_PER_LETTER * min(len(token.key), _MOST_LETTERS)
    return weight * _EVERYDAY_WEIGHT if token.key in _everyday(code) else weight


class _Kin(dict[str, str]):
    """What related words have in common: their line in the list, or their beginning; empty for neither."""

    def __init__(self, code: str) -> None:
        super().__init__()
        for words in reversed(ALIKE.get(code, ())):
            self.update({key_of(word, code): f"={words[0]}" for word in words})

    def __missing__(self, key: str) -> str:
        is_long = len(key) >= _SHORTEST_RELATED and key.isalpha()
        kin = key[:_SAME_BEGINNING] if is_long else ""
        if len(self) < _MOST_KIN:
            self[key] = kin
        return kin


@cache
def _kin_of(code: str) -> _Kin:
    return _Kin(code)


@cache
def _everyday(code: str) -> frozenset[str]:
    return frozenset(key_of(word, code) for word in EVERYDAY.get(code, ()))


@cache
def _denying(code: str) -> frozenset[str]:
    return frozenset(key_of(word, code) for word in DENYING.get(code, ()))


@cache
def _opposites(code: str) -> dict[str, frozenset[str]]:
    opposites: dict[str, set[str]] = {}
    for words in OPPOSED.get(code, ()):
        for one, other in combinations([key_of(word, code) for word in words], 2):
            opposites.setdefault(one, set()).add(other)
            opposites.setdefault(other, set()).add(one)
    return {key: frozenset(others) for key, others in opposites.items()}


def _best_unit(gains: Sequence[float], part: Part, units: Sequence[Statement]) -> tuple[int, bool]:
    """The unit that holds most of the claim, and whether all that say the same say the opposite."""
    best = max(range(len(gains)), key=gains.__getitem__)
    is_paired = part.statement.language in NEGATION_MARKS
    enough = (_NEARLY_ALL_PAIRS if is_paired else _NEARLY_ALL) * part.total
    if gains[best] < enough:
        return best, False
    alike = [index for index, gain in enumerate(gains) if gain >= enough]
    agreeing = [index for index in alike if not _is_flipped(part.statement, units[index])]
    return max(agreeing or alike, key=gains.__getitem__), not agreeing


def _is_flipped(ours: Statement, theirs: Statement) -> bool:
    """Whether one denies some of what they share and the other nothing of it, in nearly the same words."""
    if not (ours.denied or theirs.denied):
        return False
    both = frozenset(ours.keys) & frozenset(theirs.keys)
    if ours.denied.isdisjoint(both) == theirs.denied.isdisjoint(both):
        return False
    shared = [place for place, key in enumerate(theirs.keys) if key in both]
    stretch = theirs.keys[max(shared[0] - 1, 0) : shared[-1] + 1]
    if len(shared) < _NEARLY_THE_SAME * (shared[-1] + 1 - shared[0]):
        return False
    # "Suspended" denies as "no" does, and the two say the same.
    return _denying(ours.language).isdisjoint(frozenset(ours.keys) ^ frozenset(stretch))


def _second_unit(part: Part, units_of_words: Sequence[Collection[int]], best: int) -> tuple[int, float]:
    """The unit that adds most to the best one, and the weight that it adds."""
    added: dict[int, float] = {}
    for units, weight in zip(units_of_words, part.weights, strict=True):
        if best not in units:
            for unit in units:
                added[unit] = added.get(unit, 0.0) + weight
    if not added:
        return best, 0.0
    # Of several that add as much, the first of the text.
    second = max(sorted(added), key=added.__getitem__)
    return second, added[second]


def _found_in(part: Part, best: int, theirs: Prepared) -> float:
    """How far the last word of the claim is found in a unit."""
    last = part.statement.words[-1]
    if last.key in theirs.units[best].keys:
        return 1.0
    kin = "" if last.kind == "number" else _kin_of(part.statement.language)[last.key]
    return _KINSHIP if kin and _is_in(best, theirs.kin_places.get(kin, ())) else 0.0


def _is_in(unit: int, places: Sequence[int]) -> bool:
    return any(place // _UNIT == unit for place in places)


def _near(part: Part, theirs: Prepared) -> float:
    there = [theirs.places.get(key) for key in part.statement.keys]
    near = 0
    for first, second in part.pairs:
        ones, others = there[first], there[second]
        if ones and others and _are_near(ones, others):
            near += 1
    return near / len(part.pairs)


def _are_near(ones: Sequence[int], others: Sequence[int]) -> bool:
    for one in ones:
        for other in others:
            if -_WINDOW <= one - other <= _WINDOW:
                return True
    return False


def _has_other_number(part: Part, missing: Sequence[Token], gains: Sequence[float], theirs: Prepared) -> bool:
    """Whether a unit that says some of the claim has another number beside a word that ours stands beside."""
    keys = part.statement.keys
    ours = frozenset(keys)
    enough = _SOME_OF_IT * part.total
    for number in missing:
        if number.kind != "number":
            continue
        place = keys.index(number.key)
        for beside in {*keys[max(place - 1, 0) : place], *keys[place + 1 : place + 2]}:
            for index in {place // _UNIT for place in theirs.places.get(beside, ())}:
                if gains[index] >= enough and _stands_beside_a_number(beside, theirs.units[index], ours):
                    return True
    return False


def _stands_beside_a_number(key: str, unit: Statement, known: frozenset[str]) -> bool:
    words = unit.words
    for place, word in enumerate(words):
        if word.key == key:
            beside = (*words[max(place - 1, 0) : place], *words[place + 1 : place + 2])
            if any(other.kind == "number" and other.key not in known for other in beside):
                return True
    return False


def _has_other_name(part: Part, missing: Sequence[Token], unit: Statement) -> bool:
    """Whether the text lacks a name of ours while the unit has one that is not ours."""
    if not any(token.kind == "name" for token in missing):
        return False
    ours = frozenset(part.statement.keys)
    return any(token.kind == "name" and token.key not in ours for token in unit.words)


def _is_sum(key: str, theirs: Prepared) -> bool:
    """Whether a number is the sum of two of one unit: 154 people are 143 passengers and 11 crew."""
    if not _is_whole(key):
        return False
    wanted = int(key)
    return any(
        wanted - number in numbers and wanted != 2 * number for numbers in theirs.wholes for number in numbers
    )


def _wholes(unit: Statement) -> frozenset[int]:
    numbers = [token.key for token in unit.words if token.kind == "number"]
    return frozenset(int(key) for key in numbers if _is_whole(key))


def _is_whole(key: str) -> bool:
    return key.isdecimal() and len(key) <= _MOST_DIGITS


def _opposed(part: Part, unit_keys: Iterable[str]) -> Token | None:
    """The claim's word whose opposite the unit has instead of it."""
    opposites = _opposites(part.statement.language)
    suspects = [token for token in part.words if token.key in opposites]
    if not suspects:
        return None
    theirs = frozenset(unit_keys)
    surplus = theirs.difference(part.statement.keys)
    for token in suspects:
        if token.key not in theirs and not opposites[token.key].isdisjoint(surplus):
            return token
    return None


def _common_order(part: Part, others: Sequence[str]) -> int:
    """Length of the longest common subsequence.

    Source: Hyyrö, "Bit-parallel LCS-length computation revisited", 2004.
    """
    length = len(part.statement.every_key)
    row = every = (1 << length) - 1
    for places in filter(None, map(part.order.get, others)):
        matches = row & places
        row = ((row + matches) | (row - matches)) & every
    return length - row.bit_count()


def _evidence(best: int, second: int, best_share: float, second_share: float) -> tuple[int, ...]:
    if best_share < _LEAST_EVIDENCE:
        return ()
    units = {best, second} if second_share >= _LEAST_SECOND_EVIDENCE else {best}
    return tuple(sorted(unit + 1 for unit in units))


def _surfaces(claim: str, missing: Sequence[Token]) -> tuple[str, ...]:
    """The missing pieces as they stand in the claim, overlapping ones joined."""
    places: list[list[int]] = []
    for _, _, start, end in sorted(missing, key=_START):
        if places and start < places[-1][1]:
            places[-1][1] = max(places[-1][1], end)
        else:
            places.append([start, end])
    return tuple(claim[start:end] for start, end in places)
