"""The words of a text as the lexical judge compares them, in any language and script.

Words are case-folded and compared by the stem of their lemma, as far as lemmas and stems of the language are known.
Scripts without spaces between words, and Korean, are compared by pairs of characters. Other languages without lemmas
and stems are compared by pieces of four characters.
"""

import re
import threading
import unicodedata
from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from typing import NamedTuple

import simplemma
import snowballstemmer
from simplemma.strategies.dictionaries.dictionary_factory import SUPPORTED_LANGUAGES

from evaluation.text._word_lists import FUNCTION_WORDS, NEGATION_MARKS, NEGATIONS, NUMBER_WORDS, SECTIONS

PIECE = 4
_BORDER = frozenset('.!?:\n"“”«»。！？')

# Combining marks and Indic vowel signs are parts of words, although Python's \w excludes them.
_MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f"
    "\u0670\u0900-\u0963\u0971-\u0dff\u1b00-\u1b44\ua8e0-\ua8f1"
)
_PAIRED_SCRIPTS = (
    "\u0e00-\u0e4e\u0e80-\u0ece\u0f40-\u0fbc\u1000-\u103f\u1050-\u108f\u1100-\u11ff\u1780-\u17d3\u3005-\u3007"
    "\u3041-\u3096\u309d-\u30ff\u3105-\u312f\u3131-\u318e\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\ua9e0-\ua9fe\uaa60-\uaa7f\uac00-\ud7a3\uf900-\ufaff\uff66-\uff9f\U00020000-\U000323af"
)
_WORD_START = rf"(?:(?![{_PAIRED_SCRIPTS}\d])[^\W_]|[{_MARKS}])"
_WORD_REST = rf"(?:(?![{_PAIRED_SCRIPTS}])[\w{_MARKS}]|['’](?=[^\W\d_]))*"
_TOKEN = re.compile(
    rf"(?P<word>{_WORD_START}{_WORD_REST})|(?P<number>\d+(?:[.,:]\d+)*)|(?P<run>[{_PAIRED_SCRIPTS}]+)"
)
# The same pattern for ASCII text, because it is faster.
_ASCII_TOKEN = re.compile(
    r"(?P<word>[A-Za-z][A-Za-z0-9_]*(?:'[A-Za-z][A-Za-z0-9_]*)*)|(?P<number>[0-9]+(?:[.,:][0-9]+)*)"
)
_THOUSANDS = {",": re.compile(r"\d{1,3}(?:,\d{3})+(?!\d)"), ".": re.compile(r"\d{1,3}(?:\.\d{3})+(?!\d)")}
# Languages that write 1.000,5 for 1000.5.
_COMMA_IS_DECIMAL = frozenset(" ".join(SECTIONS["decimal comma"]).split())
# Languages that capitalise every noun, so that a capital does not indicate a name.
_CAPITAL_NOUNS = frozenset({"de", "lb"})

_STEMMERS = dict(map(str.split, SECTIONS["stemmers"]))
# A stemmer stores the current word in itself, so only one thread may use it at a time.
_STEMMING = threading.Lock()


class Token(NamedTuple):
    """A comparable piece of a text with its offsets.

    `kind` is "number", "name", "content", "function" or "negation".
    """

    key: str
    kind: str
    start: int
    end: int


def language_code(language: str) -> str:
    """Return the primary part of a language tag, such as "de" for "de-AT"; "en" for an empty tag."""
    return language.replace("_", "-").partition("-")[0].strip().lower() or "en"


def has_lemmas(code: str) -> bool:
    """Return True if the base forms of words in this language are known."""
    return code in SUPPORTED_LANGUAGES


def strings(text: str) -> Iterator[tuple[str, str, int]]:
    """Yield the words, numbers and runs of a text, each as kind ("word", "number" or "run"), string and start.

    A run consists of characters of scripts without spaces between words, or of Korean.
    """
    for match in (_ASCII_TOKEN if text.isascii() else _TOKEN).finditer(text):
        yield match.lastgroup or "", match[0], match.start()


def tokens(text: str, language: str) -> list[Token]:
    """Return the comparable tokens of a text, in order, without function words."""
    return [token for token in every_token(text, language) if token.kind != "function"]


def every_token(text: str, language: str) -> list[Token]:
    """Return the comparable tokens of a text, in order."""
    code = language_code(language)
    read = _reader(code)
    capitals_tell = tells_names(code)
    found: list[Token] = []
    before, denied_at = 0, -1
    pattern = _ASCII_TOKEN if text.isascii() else _TOKEN
    for match in pattern.finditer(text):
        start, end = match.span()
        group = match.lastgroup
        word = match[0]
        if group == "number":
            found.append(Token(number_key(word, code), "number", start, end))
        elif group == "run":
            found.extend(_pairs(word, start, code))
        else:
            kind, keys = read(word)
            if kind == "content":
                if capitals_tell and word[0].isupper() and _is_name(word, text, before, end):
                    kind = "name"
            elif kind == "negation":
                denied_at = end
            elif kind == "number" and denied_at == before and word.lower() == "one":
                # Skip "one" in "no one", because it is no number there.
                before = end
                continue
            if len(keys) == 1:
                # Call `tuple.__new__` directly, because it is faster.
                found.append(tuple.__new__(Token, (keys[0][0], kind, start, end)))
            else:
                found.extend(
                    Token(key, kind, start + offset, min(end, start + offset + length))
                    for key, offset, length in keys
                )
        before = end
    return found


def tells_names(code: str) -> bool:
    """Return True if a capital indicates a name; False in languages that capitalise every noun."""
    return code not in _CAPITAL_NOUNS


def key_of(word: str, language: str) -> str:
    """Return the key of a word's token; the first key if the word gives several tokens."""
    return _reader(language_code(language))(word)[1][0][0]


def _is_name(word: str, text: str, before: int, end: int) -> bool:
    """`before` is the end of the previous word."""
    if len(word) > 1 and not word[1:].islower() and any(character.isupper() for character in word[1:]):
        return not text.isupper()
    after_border = not before or not _BORDER.isdisjoint(text[before : before + 2])
    return not after_border or text[end : end + 2].strip()[:1].isupper()


@lru_cache(maxsize=1 << 16)
def _folded(word: str) -> str:
    return unicodedata.normalize("NFKC", word).casefold().replace("’", "'")


@lru_cache(maxsize=1 << 14)
def number_key(found: str, code: str) -> str:
    """Normalise the spelling of a number, so that "1,200.50" and "1200.5" are equal."""
    digits = "".join(c if c in ".,:" else str(unicodedata.digit(c, 0)) for c in found)
    decimal, grouping = (",", ".") if code in _COMMA_IS_DECIMAL else (".", ",")
    if match := _THOUSANDS[grouping].match(digits):
        digits = match.group().replace(grouping, "") + digits[match.end() :]
    if decimal == ",":
        digits = digits.replace(",", ".")
    whole, point, fraction = digits.partition(".")
    whole = whole.lstrip("0") or "0"
    if point and fraction.isdigit():
        fraction = fraction.rstrip("0")
    return f"{whole}.{fraction}" if fraction else whole


def _pairs(run: str, start: int, code: str) -> Iterator[Token]:
    """Yield overlapping pairs of characters between negations; a single character is its own key."""
    folded = run.casefold()
    marks = NEGATION_MARKS.get(code)
    if marks is None:
        yield from _pairs_between(folded, start, 0, len(folded))
        return
    before = 0
    for mark in marks.finditer(folded):
        yield from _pairs_between(folded, start, before, mark.start())
        yield Token("\0not", "negation", start + mark.start(), start + mark.end())
        before = mark.end()
    yield from _pairs_between(folded, start, before, len(folded))


def _pairs_between(folded: str, start: int, first: int, last: int) -> Iterator[Token]:
    if last - first == 1:
        yield Token(folded[first:last], "content", start + first, start + last)
    for place in range(first, last - 1):
        yield Token(folded[place : place + 2], "content", start + place, start + place + 2)


Keys = tuple[tuple[str, int, int], ...]


@cache
def _reader(code: str) -> Callable[[str], tuple[str, Keys]]:
    """Build the function that returns the kind of a word and its keys with their offsets and lengths. The function does
    not recognise names.
    """
    functions = FUNCTION_WORDS.get(code, frozenset())
    negations = NEGATIONS.get(code, frozenset())
    numbers = NUMBER_WORDS.get(code, {})
    keys_of = _keys(code)

    @lru_cache(maxsize=1 << 16)
    def read(word: str) -> tuple[str, Keys]:
        folded = _folded(word)
        whole = len(word)
        if folded in negations or folded.endswith("n't"):
            return "negation", (("\0not", 0, whole),)
        if folded in numbers:
            return "number", ((numbers[folded], 0, whole),)
        if folded in functions:
            return "function", ((folded, 0, whole),)
        return "content", keys_of(folded)

    return read


@cache
def _keys(code: str) -> Callable[[str], Keys]:
    lemmas = has_lemmas(code)
    stemmer = snowballstemmer.stemmer(_STEMMERS[code]) if code in _STEMMERS else None
    if not lemmas and stemmer is None:
        return _pieces

    def keys(word: str) -> Keys:
        base = word.removesuffix("'s").rstrip("'")
        lemma = simplemma.lemmatize(base, lang=code).casefold() if lemmas else base
        if stemmer is not None:
            with _STEMMING:
                lemma = stemmer.stemWord(lemma)
        return ((lemma, 0, len(word)),)

    return keys


@lru_cache(maxsize=1 << 16)
def _pieces(word: str) -> Keys:
    if len(word) <= PIECE:
        return ((word, 0, len(word)),)
    return tuple((word[place : place + PIECE], place, PIECE) for place in range(len(word) - PIECE + 1))
