"""How far the words of a claim are found in a text: the features that the lexical judge weighs."""

import math
from collections.abc import Collection, Mapping, Sequence
from functools import cache, lru_cache
from importlib.resources import files
from itertools import chain, combinations
from operator import mul
from typing import NamedTuple

from evaluation.judging.protocol import Text
from evaluation.text._function_words import NEGATION_MARKS
from evaluation.text._splitting import sentence_spans
from evaluation.text._words import Token, every_token, key_of, language_code


def _data() -> dict[str, list[str]]:
    """The lines of each section of lexical.txt, by the section's name."""
    text = files("evaluation.judging.lexical").joinpath("lexical.txt").read_text("utf-8")
    sections = [section.splitlines() for section in text.split("\n\n")]
    return {lines[1]: lines[2:] for lines in sections if len(lines) > 1}


LISTED = _data()
"""What lexical.txt holds."""
_WEIGHTS = {name: weights for name, *weights in map(str.split, LISTED["weights"])}
FEATURES = (*_WEIGHTS,)[:-1]
"""What is measured, in the order of `Overlap.features`. Shares lie in [0, 1] unless said otherwise.

A word of the claim is found where the text has its key, and partly found (`_KINSHIP`) where the text only has
a related word. Function words count in `sequence` and `every_word` alone.

recall: weight of the claim's words that stand anywhere in the text. rare_recall: the same, but a word that
the text repeats weighs less, for the text's topic is easily hit. best_unit: in the one unit that holds most.
sequence: the longest run of the claim's words, gaps allowed,
in the same order in the best unit. every_word: share of all the claim's words that the text has. near: pairs
of the claim's words, at most `_WINDOW` apart, that are as near each other in the text. towards_end: recall
that weighs words more the later they stand, for what a claim adds tends to stand there. last_word: how
far the last word is found in the best unit. ends_together: 1 if one unit has both the first and the last.
numbers_found: share of the claim's numbers, or recall where it has none. sequence_to_end: sequence times
last_word. words_missing: number of words of content without even a related one, 5 and more being 1.
names_missing: share of the claim's names. number_contradicted: 1 if one is missing and a unit that says some
of the claim has another beside the same word. name_contradicted: 1 if one is missing and the best unit, which
says much of the claim, has others instead. word_opposed: 1 if the best unit has the opposite
of a word that it lacks. negation_flipped: 1 if units say the same in nearly the same words, but all deny what
the claim affirms, or the reverse. claim_words, text_words: logarithms of 1 + the numbers.
"""
COVERED, SUPPORTED = (tuple(float(of[side]) for of in _WEIGHTS.values()) for side in (0, 1))
"""The weights of the features, and the intercept last, for either side of a check."""

_KINSHIP = 0.6
# Longer words say more: a stand-in for rarity that needs no corpus and works in every language.
_LEAST_WEIGHT, _WEIGHT_PER_LETTER, _MOST_LETTERS = 0.6, 0.08, 8
_EVERYDAY_WEIGHT = 0.6
# Words that begin alike for so many letters count as related, in every language.
_SAME_BEGINNING = 5
_SHORTEST_RELATED = 6
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
# Shares of the claim below which a unit shows nothing.
_LEAST_EVIDENCE, _LEAST_SECOND_EVIDENCE = 0.2, 0.15


class Statement(NamedTuple):
    """A stretch of text: its words of content, names and numbers in order, and the keys that it denies."""

    words: tuple[Token, ...]
    keys: tuple[str, ...]
    every_key: tuple[str, ...]
    denied: frozenset[str]
    code: str


class Part(NamedTuple):
    """One sentence of a claim, with what does not depend on the text that it is compared with.

    `words` are those of the statement, each once, with their weights, kin and shares of all ranks; `numbers` are the
    places of numbers among them with their shares of all numbers' weight, `names` counts names. `order` has for
    each key a bit for each place where it stands among all words of the sentence.
    """

    statement: Statement
    order: Mapping[str, int]
    words: tuple[Token, ...]
    weights: tuple[float, ...]
    kin: tuple[str, ...]
    ranks: tuple[float, ...]
    pairs: tuple[tuple[int, int], ...]
    numbers: Mapping[int, float]
    names: int
    opposites: tuple[tuple[Token, Collection[str]], ...]
    total: float


class Prepared(NamedTuple):
    """A text, ready to have claims compared with it.

    `places` has every place of a key among the words of content, `kin_places` that of what words are akin in.
    A place is its unit's index times `_UNIT` plus the position in the unit, so that no two words of different
    units are near each other.
    """

    units: tuple[Statement, ...]
    places: Mapping[str, Sequence[int]]
    kin_places: Mapping[str, Sequence[int]]
    every_key: frozenset[str]
    sums: frozenset[str]
    words: int


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
    made = ((sentence, _part(_statement(sentence, code))) for sentence in sentences)
    return tuple((sentence, part) for sentence, part in made if part.words)


@lru_cache(maxsize=64)
def prepared(text: Text) -> Prepared:
    """The text, ready to have claims compared with it."""
    code = language_code(text.language)
    units = tuple(_statement(content, code) for _, content in text.numbered_units())
    places: dict[str, list[int]] = {}
    kin_places: dict[str, list[int]] = {}
    for index, unit in enumerate(units):
        for place, key in enumerate(unit.keys, start=index * _UNIT):
            places.setdefault(key, []).append(place)
    for key, where in places.items():
        if kin := _kin(key, code):
            kin_places.setdefault(kin, []).extend(where)
    return Prepared(
        units,
        places,
        kin_places,
        frozenset(chain.from_iterable(unit.every_key for unit in units)),
        frozenset(chain.from_iterable(map(_sums, units))),
        sum(len(unit.keys) for unit in units),
    )


def overlap(sentence: str, part: Part, theirs: Prepared) -> Overlap:
    """What one sentence of a claim, as `parts` made it, has in common with a prepared text."""
    ours, words, total = part.statement, part.words, part.total
    places_of, kin_places_of = theirs.places.get, theirs.kin_places.get
    gains = [0.0] * len(theirs.units)
    units: list[Collection[int]] = []
    shares: list[float] = []
    rare = 0.0
    for word, weight, kin in zip(words, part.weights, part.kin, strict=True):
        places, akin = places_of(word.key, ()), kin_places_of(kin, ())
        if not places and word.key in theirs.sums:
            # 154 people are 143 passengers and 11 crew: in every unit, for which one says so is not looked up.
            akin = range(0, len(gains) * _UNIT, _UNIT)
        own = _units(places)
        for unit in own:
            gains[unit] += weight
        if len(akin) > len(places):
            for unit in _units(akin):
                gains[unit] += 0.0 if unit in own else weight * _KINSHIP
        rare += weight / len(places) if places else 0.0
        units.append(own)
        shares.append(1.0 if places else _KINSHIP if akin else 0.0)
    missing = [word for word, share in zip(words, shares, strict=True) if not share]
    best, is_flipped = _best_unit(gains, part, theirs.units)
    text, gain = theirs.units[best], gains[best] / total
    second, added = _second_unit(part, units, best)
    opposed = _opposed(part, text.keys) if gain >= _SOME_OF_IT else None
    found = sum(map(mul, part.weights, shares))
    recall = found / total
    sequence = _common_order(part, text.every_key) / len(ours.every_key)
    last_word = 1.0
    if words[-1].key not in text.keys:
        last_word = _KINSHIP if best in _units(kin_places_of(part.kin[-1], ())) else 0.0
    features = (
        recall,
        rare / (rare + total - found),
        min(gain, 1.0),
        sequence,
        sum(map(theirs.every_key.__contains__, ours.every_key)) / len(ours.every_key),
        _near(part, theirs) if part.pairs else recall,
        sum(map(mul, part.ranks, shares)),
        last_word,
        float(any(unit in units[-1] for unit in units[0])),
        sum([part.numbers[place] * shares[place] for place in part.numbers]) if part.numbers else recall,
        sequence * last_word,
        min(sum([word.kind == "content" for word in missing]), _MOST_MISSING) / _MOST_MISSING,
        sum([word.kind == "name" for word in missing]) / (part.names or 1),
        float(bool(missing) and _has_other_number(part, missing, gains, theirs.units)),
        float(bool(missing) and gain >= _MUCH_OF_IT and _has_other_name(ours, missing, text)),
        float(opposed is not None),
        float(is_flipped),
        math.log1p(len(words)),
        math.log1p(theirs.words),
    )
    evidence = {best, second} if added >= _LEAST_SECOND_EVIDENCE * total else {best}
    return Overlap(
        features,
        tuple(sorted([unit + 1 for unit in evidence])) if gain >= _LEAST_EVIDENCE else (),
        _surfaces(sentence, missing) if missing else (),
        all(units),
        is_flipped,
        sentence[opposed.start : opposed.end] if opposed else "",
    )


def _units(places: Sequence[int]) -> Collection[int]:
    if len(places) == 1:
        return (places[0] // _UNIT,)
    return dict.fromkeys([place // _UNIT for place in places])


def _part(statement: Statement) -> Part:
    keys, code = statement.keys, statement.code
    # A word counts as standing where it stands last.
    ranks = {key: rank for rank, key in enumerate(keys, start=1)}
    words = tuple({token.key: token for token in reversed(statement.words)}.values())[::-1]
    whole = sum(ranks[token.key] for token in words) or 1
    pairs = {
        (keys[first], keys[second]): (first, second)
        for first in range(len(keys))
        for second in range(first + 1, min(len(keys), first + 1 + _WINDOW))
    }
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
        tuple(ranks[token.key] / whole for token in words),
        tuple(pairs.values()),
        {place: weight / sum(numbers.values()) for place, weight in numbers.items()},
        sum(token.kind == "name" for token in words),
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
        # What is denied is taken to be the next words: "did not resign", "no data was lost", "没有盈利".
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
def _listed(section: str, code: str, separator: str | None = None) -> tuple[tuple[str, ...], ...]:
    """The keys of a section's groups of words: its lines, or what a separator parts. Only English has any."""
    groups = LISTED[section] if separator is None else " ".join(LISTED[section]).split()
    return tuple(
        tuple(key_of(word, code) for word in group.split(separator)) for group in groups if code == "en"
    )


@cache
def _words_of(section: str, code: str) -> frozenset[str]:
    return frozenset(chain.from_iterable(_listed(section, code)))


@cache
def _alike(code: str) -> dict[str, str]:
    return {key: f"={line[0]}" for line in reversed(_listed("alike", code)) for key in line}


@cache
def _opposites(code: str) -> dict[str, set[str]]:
    opposites: dict[str, set[str]] = {}
    for group in _listed("opposed", code, "/"):
        for one, other in chain.from_iterable((pair, pair[::-1]) for pair in combinations(group, 2)):
            opposites.setdefault(one, set()).add(other)
    return opposites


def _weight(key: str, code: str) -> float:
    weight = _LEAST_WEIGHT + _WEIGHT_PER_LETTER * min(len(key), _MOST_LETTERS)
    return weight * _EVERYDAY_WEIGHT if key in _words_of("everyday", code) else weight


@lru_cache(maxsize=1 << 16)
def _kin(key: str, code: str) -> str:
    """What related words have in common: their line in the list, or their beginning; empty for neither."""
    is_long = len(key) >= _SHORTEST_RELATED and key.isalpha()
    return _alike(code).get(key, key[:_SAME_BEGINNING] if is_long else "")


def _best_unit(gains: Sequence[float], part: Part, units: Sequence[Statement]) -> tuple[int, bool]:
    """The unit that holds most of the claim, and whether all that say the same say the opposite."""
    is_paired = part.statement.code in NEGATION_MARKS
    enough = (_NEARLY_ALL_PAIRS if is_paired else _NEARLY_ALL) * part.total
    alike = [index for index, gain in enumerate(gains) if gain >= enough]
    agreeing = [index for index in alike if not _is_flipped(part.statement, units[index])]
    return max(agreeing or alike or range(len(gains)), key=gains.__getitem__), bool(alike) and not agreeing


def _is_flipped(ours: Statement, theirs: Statement) -> bool:
    """True if one denies some of what they share and the other nothing of it, in nearly the same words."""
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
    return _words_of("denying", ours.code).isdisjoint(frozenset(ours.keys) ^ frozenset(stretch))


def _second_unit(part: Part, units: Sequence[Collection[int]], best: int) -> tuple[int, float]:
    """The unit that adds most to the best one, and the weight that it adds."""
    added = {best: 0.0}
    for own, weight in zip(units, part.weights, strict=True):
        for unit in () if best in own else own:
            added[unit] = added.get(unit, 0.0) + weight
    # Of several that add as much, the first of the text.
    second = max(sorted(added), key=added.__getitem__)
    return second, added[second]


def _near(part: Part, theirs: Prepared) -> float:
    there = [theirs.places.get(key, ()) for key in part.statement.keys]
    return sum([_are_near(there[first], there[second]) for first, second in part.pairs]) / len(part.pairs)


def _are_near(ones: Sequence[int], others: Sequence[int]) -> bool:
    for one in ones:
        for other in others:
            if -_WINDOW <= one - other <= _WINDOW:
                return True
    return False


def _beside(words: Sequence[Token], place: int) -> Sequence[Token]:
    return (*words[max(place - 1, 0) : place], *words[place + 1 : place + 2])


def _has_other_number(
    part: Part, missing: Sequence[Token], gains: Sequence[float], units: Sequence[Statement]
) -> bool:
    """True if a unit that says some of the claim has another number beside a word that ours stands beside."""
    words, keys, _, _, _ = part.statement
    numbers = [keys.index(word.key) for word in missing if word.kind == "number"]
    beside = {word.key for place in numbers for word in _beside(words, place)}
    return bool(beside) and any(
        word.kind == "number" and word.key not in keys and any(one.key in beside for one in _beside(unit.words, place))
        for unit, gain in zip(units, gains, strict=True)
        if gain >= _SOME_OF_IT * part.total
        for place, word in enumerate(unit.words)
    )  # fmt: skip


def _has_other_name(ours: Statement, missing: Sequence[Token], unit: Statement) -> bool:
    """True if the text lacks a name of ours while the unit has one that is not ours."""
    others = (word.key for word in unit.words if word.kind == "name")
    return any(word.kind == "name" for word in missing) and any(key not in ours.keys for key in others)


def _sums(unit: Statement) -> set[str]:
    """The sums of any two different whole numbers of a unit."""
    keys = {word.key for word in unit.words if word.kind == "number" and word.key.isdecimal()}
    return {
        str(int(one) + int(other))
        for one, other in combinations([key for key in keys if len(key) <= _MOST_DIGITS], 2)
    }


def _opposed(part: Part, theirs: Collection[str]) -> Token | None:
    """The claim's word whose opposite the unit has instead of it."""
    ours = part.statement.keys
    for word, others in part.opposites:
        if word.key not in theirs and any(key in others and key not in ours for key in theirs):
            return word
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


def _surfaces(claim: str, missing: Sequence[Token]) -> tuple[str, ...]:
    """The missing pieces as they stand in the claim, overlapping ones joined."""
    places: list[list[int]] = []
    for _, _, start, end in sorted(missing, key=lambda token: token.start):
        if places and start < places[-1][1]:
            places[-1][1] = max(places[-1][1], end)
        else:
            places.append([start, end])
    return tuple(claim[start:end] for start, end in places)
