"""Completeness: how many of a text's elements another text has, by words alone."""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from types import MappingProxyType

import simplemma

from evaluation.errors import EvaluationError
from evaluation.text._function_words import FUNCTION_WORDS
from evaluation.text._words import has_lemmas, language_code, number_key, strings

SHORT = 3
"""Elements of so few characters must be equal."""
CONTAINMENT = 0.6
"""Of longer ones, one must contain the other and be less than this share longer: short / long above it."""

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z]{2})")
_CANNOT = re.compile(r"\bcan(?:'t|not)\b", re.IGNORECASE)
_WILL_NOT = re.compile(r"\bwon't\b", re.IGNORECASE)
_NOT = re.compile(r"n't\b", re.IGNORECASE)
# Accents, and the vowel signs that Arabic and Hebrew may leave out. In other scripts marks are letters.
_DIACRITICS = re.compile(
    "[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u064b-\u065f\u0670]"
)
# Pairs of characters that are grammar: around Chinese particles, and of hiragana alone.
_GRAMMAR_PAIR = re.compile("[\u7684\u4e86\u662f\u5728]|^[\u3041-\u3096]+$")
# Dictionaries take shorter ones for other words: "ai" for a form of "be".
_SHORTEST_INFLECTED = 3
_SUBJECTS = frozenset(("he", "she", "it", "who", "which", "that"))
_COMPARISONS = ("er", "est", "better", "best", "worse", "worst", "more", "most", "less", "least")


@dataclass(frozen=True, slots=True)
class Completeness:
    """What `completeness` found. Elements stand in the order in which they first occur, each once.

    `missing_elements` are exactly the input's elements that nothing in the output covers.
    """

    score: float
    input_elements: tuple[str, ...]
    output_elements: tuple[str, ...]
    missing_elements: tuple[str, ...]

    @property
    def element_counts(self) -> Mapping[str, int]:
        """How many elements the input and the output have."""
        return MappingProxyType({"input": len(self.input_elements), "output": len(self.output_elements)})


def completeness(input: str, output: str, language: str = "en") -> Completeness:  # noqa: A002 - the metric's own name
    """Share of the input's elements that the output covers: nouns, verbs, topics and other terms.

    In [0, 1], higher is better; 1 where neither text has an element, 0 where one alone has none. Elements are words,
    each once: verbs in their base form, camelCase split, case and diacritics folded, stop words left out (unless a text
    has no others); pairs of characters in Korean and scripts without spaces. One of three characters or fewer, and a
    number, needs an equal one; a longer one may contain the other, the shorter above 60 % of the longer's length.
    `language` chooses stop words and base forms.
    Raises EvaluationError if a text is not a string.
    Source: the completeness metric of Mastra and Kastrax, as its page says; see the comment below.
    Example: `completeness("The quick brown fox jumps over the lazy dog", "A brown fox jumped over a dog")`
    has the score 0.666667 and the missing elements ("quick", "lazy").
    """
    # An English word in -s counts as a verb where its neighbours say so, any other where a dictionary knows it
    # as a form of one. In other languages every word takes the base form that the dictionary has, if there is
    # one.
    # Departs from what Mastra and Kastrax compute in splitting camelCase before folding and in leaving stop
    # words out, as their pages say; in listing as missing only what is not covered; and in having elements in
    # every script. Their worked example (the quick brown fox) contradicts itself: its own lists cover 4 of 6
    # elements, which is .667, not the .75 that it prints, and their code, which counts stop words, gives .625.
    # Here it is .667, with the example's lists.
    wanted = _elements("input", input, language)
    given = _elements("output", output, language)
    if not wanted or not given:
        return Completeness(float(not wanted and not given), wanted, given, wanted)
    missing = _uncovered(wanted, given)
    return Completeness((len(wanted) - len(missing)) / len(wanted), wanted, given, missing)


def _elements(name: str, text: str, language: str) -> tuple[str, ...]:
    if not isinstance(text, str):
        raise EvaluationError(f"The {name} must be a text, got {type(text).__name__}; give a string.")
    code = language_code(language)
    as_written = list(_terms(text, code))
    terms = [term.lower() for term in as_written]
    stop_words = _stop_words(code)
    # German dictionaries tell nouns by their capitals, English ones would take a first word for a name.
    bases = [
        _base(term if code == "en" else written, code, _stands_as_verb(terms, place, stop_words))
        for place, (term, written) in enumerate(zip(terms, as_written, strict=True))
    ]
    telling = [
        base
        for term, base in zip(terms, bases, strict=True)
        if term not in stop_words and not _is_grammar(term)
    ]
    return tuple(dict.fromkeys(_folded(base) for base in telling or bases))


def _stands_as_verb(terms: Sequence[str], place: int, stop_words: frozenset[str]) -> bool:
    """Whether an English word that ends in s stands where a verb does: "it enjoys", "fox jumps over"."""
    if not place or not terms[place].endswith("s"):
        return False
    before = terms[place - 1]
    if before in _SUBJECTS:
        return True
    following = terms[place + 1] if place + 1 < len(terms) else ""
    return before not in stop_words and following in stop_words


def _terms(text: str, code: str) -> Iterator[str]:
    """Words, numbers as plain digits, and pairs of characters."""
    plain = unicodedata.normalize("NFKC", text).replace("’", "'")
    if code == "en":
        plain = _NOT.sub(" not", _WILL_NOT.sub("will not", _CANNOT.sub("can not", plain)))
    plain = _CAMEL.sub(" ", plain.replace("_", " ").replace("'", " "))
    for kind, string in strings(plain):
        if kind == "number":
            yield number_key(string, code)
        elif kind == "word":
            yield string
        else:
            yield from (string[place : place + 2] for place in range(max(len(string) - 1, 1)))


@cache
def _stop_words(code: str) -> frozenset[str]:
    """The language's stop words, and those of scripts that it does not share with any other list."""
    return FUNCTION_WORDS.get(code, frozenset()) | FUNCTION_WORDS["ar"] | FUNCTION_WORDS["ru"]


def _is_grammar(term: str) -> bool:
    return len(term) <= 2 and _GRAMMAR_PAIR.search(term) is not None


@lru_cache(maxsize=1 << 16)
def _base(word: str, code: str, stands_as_verb: bool) -> str:
    """The base form of a verb; in languages other than English, of any word."""
    if not has_lemmas(code) or not word.isalpha() or len(word) < _SHORTEST_INFLECTED:
        return word
    if code == "en" and (not word.isascii() or word.endswith(_COMPARISONS)):
        return word
    if code == "en" and word.endswith("s") and not stands_as_verb:
        return word
    return str(simplemma.lemmatize(word, lang=code))


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
