"""Completeness: the share of a text's elements that another text covers."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise
from typing import NamedTuple

import simplemma

from evaluation._guards import checked_scale
from evaluation.errors import EvaluationError
from evaluation.text._word_lists import FUNCTION_WORDS, sections
from evaluation.text._words import has_lemmas, language_code, number_key, strings, tells_names

SHORT = 3
"""Wanted elements of at most this many characters must be equal."""
CONTAINMENT = 0.6
"""An element covers its part or its whole if the shorter length divided by the longer length exceeds this."""

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z]{2})")
_CANNOT = re.compile(r"\bcan(?:'t|not)\b", re.IGNORECASE)
_WILL_NOT = re.compile(r"\bwon't\b", re.IGNORECASE)
_NOT = re.compile(r"n't\b", re.IGNORECASE)
# Accents, and the optional vowel signs of Arabic and Hebrew.
_DIACRITICS = re.compile(
    "[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u064b-\u065f\u0670]"
)
# Pairs of characters that do not count as content: with one of four frequent Chinese characters, or only hiragana.
_GRAMMAR_PAIR = re.compile("[\u7684\u4e86\u662f\u5728]|^[\u3041-\u3096]+$")
# Dictionaries confuse shorter words: "ai" is listed as a form of "be".
_SHORTEST_INFLECTED = 3
_SUBJECTS = frozenset(("he", "she", "it", "who", "which", "that"))
_LISTED = sections("evaluation.metrics", "verb_forms.txt")
# Verbs whose form in -s is rarely a plural, so that this form counts as a verb in any context.
_RARELY_NOUNS = frozenset(" ".join(_LISTED["rarely nouns"]).split())
_FORMS = {form: base for base, *forms in map(str.split, _LISTED["forms"]) for form in forms}
_VERB_ENDINGS = ("izes", "ifies", "yzes")
LONGEST_NAME = 4
"""Longer sequences of capitalised words are no names."""
_COMPARISONS = ("er", "est", "better", "best", "worse", "worst", "more", "most", "less", "least")


@dataclass(frozen=True, slots=True)
class Completeness:
    """The result of `completeness`: the score in [0, scale], and the elements of both texts.

    Each element occurs once: first the words in the order of first occurrence, then names and topics of several
    words. `missing_elements` are the input's elements that the output does not cover.
    """

    score: float
    input_elements: tuple[str, ...]
    output_elements: tuple[str, ...]
    missing_elements: tuple[str, ...]


def completeness(
    input: str,  # noqa: A002 - the metric's own name
    output: str,
    language: str = "en",
    *,
    scale: float = 1.0,
) -> Completeness:
    """Compute the share of the input's elements that the output covers: nouns, verbs, names, topics and other terms.

    In [0, scale], higher is better. The score is the scale if neither text has an element, and 0 if only one text has
    elements. Each element counts once. The elements are:

    - words. Many are in their base form, camelCase is split, case and diacritics are folded. Stop words count only in a
      text that has no other words. Korean and scripts without spaces use pairs of characters instead.
    - names of two to four words
    - topics: two different words that are adjacent at least twice

    An equal element covers an element. A part also covers the whole, and the whole a part, if the shorter one has more
    than 60 % of the longer one's length. This excludes numbers, and wanted elements of up to three characters.
    `language` selects stop words, base forms and whether capitals indicate names. Raises EvaluationError if a text is
    not a string, InvalidWeight unless the scale is above 0. Source: the completeness metric as the pages of Mastra and
    Kastrax describe it; the comment below lists the differences. Example: `completeness("The quick brown fox jumps over
    the lazy dog", "A brown fox jumped over a dog")` has the score 0.666667 and the missing elements ("quick", "lazy").
    """
    # An English word in -s keeps its form unless its neighbours indicate a verb or it is rarely a noun. Differences
    # from Mastra and Kastrax: camelCase is split before folding and stop words are left out, as their pages say; only
    # uncovered elements are listed as missing. The lists of their worked example (the quick brown fox) cover 4 of 6
    # elements, which is .667, but it prints .75. The result here is .667.
    checked_scale("The scale", scale)
    wanted = _read("input", input, language)
    given = _read("output", output, language)
    asked = wanted.elements(wanted.phrases)
    # A phrase of the input is covered if its words are adjacent anywhere in the output.
    stretches = given.stretches() if wanted.phrases else frozenset()
    held = {phrase: shown for phrase, shown in wanted.phrases.items() if phrase in stretches}
    found = given.elements({**given.phrases, **held})
    if not asked or not found:
        return Completeness(scale * float(not asked and not found), asked, found, asked)
    missing = _uncovered(asked, found)
    return Completeness(scale * (len(asked) - len(missing)) / len(asked), asked, found, missing)


_Phrase = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Read:
    """`rows` has the sequences of adjacent words by base form."""

    words: tuple[str, ...]
    phrases: Mapping[_Phrase, str]
    rows: Sequence[_Phrase]

    def elements(self, phrases: Mapping[_Phrase, str]) -> tuple[str, ...]:
        return tuple(dict.fromkeys([*self.words, *phrases.values()]))

    def stretches(self) -> frozenset[_Phrase]:
        return frozenset(
            row[start : start + size]
            for row in self.rows
            for size in range(2, LONGEST_NAME + 1)
            for start in range(len(row) - size + 1)
        )


class _Term(NamedTuple):
    """`joins` is True only if one space or hyphen separates the term from the previous one."""

    written: str
    joins: bool


def _read(name: str, text: str, language: str) -> _Read:
    if not isinstance(text, str):
        raise EvaluationError(f"The {name} must be a text, got {type(text).__name__}; give a string.")
    code = language_code(language)
    found = list(_terms(text, code))
    terms = [term.written.lower() for term in found]
    stop_words = _stop_words(code)
    # In German, dictionaries recognise nouns by capitals, so keep them. In English, dictionaries would take the first
    # word of a sentence for a name.
    bases = [
        _folded(
            _base(lower if code == "en" else term.written, code, _stands_as_verb(terms, place, stop_words))
        )
        for place, (lower, term) in enumerate(zip(terms, found, strict=True))
    ]
    telling = [term not in stop_words and not _is_grammar(term) for term in terms]
    words = [base for base, tells in zip(bases, telling, strict=True) if tells]
    rows = list(_rows(found))
    phrases: dict[_Phrase, str] = {}
    if tells_names(code) and not text.isupper():
        for row in rows:
            for name_of in _names(row, found, telling):
                phrases.setdefault(_of(bases, name_of), _shown(found, name_of))
    pairs = Counter(
        _of(bases, pair) for row in rows for pair in pairwise(row) if telling[pair[0]] and telling[pair[1]]
    )
    for pair, times in pairs.items():
        if times > 1 and pair[0] != pair[1]:
            phrases.setdefault(pair, " ".join(pair))
    return _Read(tuple(dict.fromkeys(words or bases)), phrases, [_of(bases, row) for row in rows])


def _of(bases: Sequence[str], places: Iterable[int]) -> _Phrase:
    return tuple(bases[place] for place in places)


def _shown(found: Sequence[_Term], places: Iterable[int]) -> str:
    return " ".join(_folded(found[place].written) for place in places)


def _rows(found: Sequence[_Term]) -> Iterator[list[int]]:
    row: list[int] = []
    for place, term in enumerate(found):
        if not term.joins:
            if len(row) > 1:
                yield row
            row = []
        row.append(place)
    if len(row) > 1:
        yield row


def _names(row: Sequence[int], found: Sequence[_Term], telling: Sequence[bool]) -> Iterator[list[int]]:
    name: list[int] = []
    for place in [*row, None]:
        if place is not None and telling[place] and found[place].written[0].isupper():
            name.append(place)
            continue
        if 1 < len(name) <= LONGEST_NAME:
            yield name
        name = []


def _stands_as_verb(terms: Sequence[str], place: int, stop_words: frozenset[str]) -> bool:
    """Return True if an English word in -s is or may be a verb: "eats", "it enjoys", "fox jumps over"."""
    if not terms[place].endswith("s"):
        return False
    if terms[place].endswith(_VERB_ENDINGS) or _lemma(terms[place], "en") in _RARELY_NOUNS:
        return True
    if not place:
        return False
    before = terms[place - 1]
    if before in _SUBJECTS:
        return True
    following = terms[place + 1] if place + 1 < len(terms) else ""
    return before not in stop_words and following in stop_words and following != "of"


def _terms(text: str, code: str) -> Iterator[_Term]:
    plain = unicodedata.normalize("NFKC", text).replace("’", "'")
    if code == "en":
        plain = _NOT.sub(" not", _WILL_NOT.sub("will not", _CANNOT.sub("can not", plain)))
    plain = plain.replace("_", " ").replace("'", " ")
    end = 0
    for kind, string, start in strings(plain):
        joins = plain[end:start] in (" ", "-") and start > 0
        end = start + len(string)
        if kind == "number":
            yield _Term(number_key(string, code), joins)
        elif kind == "word":
            first, *others = _parts(string)
            yield _Term(first, joins)
            yield from (_Term(part, joins=False) for part in others)
        else:
            yield from (
                _Term(string[place : place + 2], joins=False) for place in range(max(len(string) - 1, 1))
            )


def _parts(word: str) -> list[str]:
    """Split camelCase into words, unless a single letter would remain (NaN, PhD, iPhone)."""
    parts = _CAMEL.split(word)
    return parts if min(map(len, parts)) > 1 else [word]


@cache
def _stop_words(code: str) -> frozenset[str]:
    """Return the language's stop words, and the Arabic and Russian ones, which equal no word of another script."""
    return FUNCTION_WORDS.get(code, frozenset()) | FUNCTION_WORDS["ar"] | FUNCTION_WORDS["ru"]


def _is_grammar(term: str) -> bool:
    return len(term) <= 2 and _GRAMMAR_PAIR.search(term) is not None


@lru_cache(maxsize=1 << 16)
def _base(word: str, code: str, stands_as_verb: bool) -> str:
    if not has_lemmas(code) or not word.isalpha() or len(word) < _SHORTEST_INFLECTED:
        return word
    if code == "en" and (not word.isascii() or word.endswith(_COMPARISONS)):
        return word
    if code == "en" and word.endswith("s") and not stands_as_verb:
        return word
    return _lemma(word, code)


@lru_cache(maxsize=1 << 16)
def _lemma(word: str, code: str) -> str:
    known = _FORMS.get(word) if code == "en" else None
    return known or str(simplemma.lemmatize(word, lang=code))


@lru_cache(maxsize=1 << 16)
def _folded(word: str) -> str:
    if word.isascii():
        return word.casefold()
    bare = _DIACRITICS.sub("", unicodedata.normalize("NFD", word))
    return unicodedata.normalize("NFC", bare).casefold()


def _uncovered(wanted: Sequence[str], given: Sequence[str]) -> tuple[str, ...]:
    known = frozenset(given)
    by_length: dict[int, list[str]] = {}
    for element in given:
        if not _is_number(element):
            by_length.setdefault(len(element), []).append(element)
    return tuple(
        element for element in wanted if element not in known and not _is_contained(element, by_length)
    )


def _is_contained(element: str, by_length: Mapping[int, Sequence[str]]) -> bool:
    size = len(element)
    if size <= SHORT or _is_number(element):
        return False
    for length, others in by_length.items():
        if min(size, length) <= CONTAINMENT * max(size, length):
            continue
        if any(other in element if length < size else element in other for other in others):
            return True
    return False


def _is_number(element: str) -> bool:
    return element[:1].isdecimal() and not any(character.isalpha() for character in element)
