"""The words of a text as a lexical judge compares them, in any language and script.

Words are compared by the stem of their lemma where the language has one, else case-folded. Scripts without
spaces between words, and Korean, are compared by pairs of characters; other languages without lemma and
stemmer by pieces of four characters.
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

from evaluation.judging._function_words import FUNCTION_WORDS, NEGATION_MARKS, NEGATIONS, NUMBER_WORDS

PIECE = 4

# Combining marks and Indic vowel signs are parts of words, though Python's \w does not know it.
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
    rf"(?P<number>\d+(?:[.,:]\d+)*)|(?P<run>[{_PAIRED_SCRIPTS}]+)|(?P<word>{_WORD_START}{_WORD_REST})"
)
_THOUSANDS = {",": re.compile(r"\d{1,3}(?:,\d{3})+(?!\d)"), ".": re.compile(r"\d{1,3}(?:\.\d{3})+(?!\d)")}
# Languages that write 1.000,5 for a thousand and a half.
_COMMA_IS_DECIMAL = frozenset({
    "cs", "da", "de", "el", "es", "fi", "fr", "hr", "hu", "id", "it", "nb", "nl", "nn", "no", "pl", "pt",
    "ro", "ru", "sk", "sl", "sv", "tr", "uk",
})  # fmt: skip
# Languages that write every noun with a capital, so that a capital says nothing about names.
_CAPITAL_NOUNS = frozenset({"de", "lb"})

_STEMMERS = {
    "ar": "arabic", "ca": "catalan", "cs": "czech", "da": "danish", "de": "german", "el": "greek",
    "en": "english", "eo": "esperanto", "es": "spanish", "et": "estonian", "eu": "basque", "fa": "persian",
    "fi": "finnish", "fr": "french", "ga": "irish", "hi": "hindi", "hu": "hungarian", "hy": "armenian",
    "id": "indonesian", "it": "italian", "lt": "lithuanian", "nb": "norwegian", "ne": "nepali", "nl": "dutch",
    "nn": "norwegian", "no": "norwegian", "pl": "polish", "pt": "portuguese", "ro": "romanian",
    "ru": "russian", "sr": "serbian", "st": "sesotho", "sv": "swedish", "ta": "tamil", "tr": "turkish",
    "yi": "yiddish",
}  # fmt: skip
# A stemmer keeps the word it works on in itself.
_STEMMING = threading.Lock()


class Token(NamedTuple):
    """A comparable piece of a text with its offsets. `kind` is "number", "name", "content" or "negation"."""

    key: str
    kind: str
    start: int
    end: int


def language_code(language: str) -> str:
    """The primary part of a language tag: "de" for "de-AT"."""
    return language.replace("_", "-").partition("-")[0].strip().lower() or "en"


def tokens(text: str, language: str) -> Iterator[Token]:
    """The comparable tokens of a text, in order. Function words are left out, except those that deny."""
    code = language_code(language)
    functions = FUNCTION_WORDS.get(code, frozenset())
    negations = NEGATIONS.get(code, frozenset())
    numbers = NUMBER_WORDS.get(code, {})
    capitals_tell = code not in _CAPITAL_NOUNS
    key_of = _keys(code)
    after_border = True
    for match in _TOKEN.finditer(text):
        found, start, end = match.group(), match.start(), match.end()
        if match.lastgroup == "number":
            yield Token(_number_key(found, code), "number", start, end)
        elif match.lastgroup == "run":
            yield from _pairs(found, start, code)
        else:
            folded = _folded(found)
            if folded in negations or folded.endswith("n't"):
                yield Token("\0not", "negation", start, end)
            elif folded in numbers:
                yield Token(numbers[folded], "number", start, end)
            elif folded not in functions:
                is_name = capitals_tell and _is_name(found, text, end, after_border)
                kind = "name" if is_name else "content"
                for key, offset, length in key_of(folded):
                    yield Token(key, kind, start + offset, min(end, start + offset + length))
        after_border = _ends_sentence(text, end)


def _is_name(word: str, text: str, end: int, after_border: bool) -> bool:
    """Whether the writing tells a name: capitals inside, or one that no sentence start accounts for."""
    if not word[0].isupper():
        return False
    if any(character.isupper() for character in word[1:]):
        return not text.isupper()
    return not after_border or text[end : end + 2].strip()[:1].isupper()


def _ends_sentence(text: str, end: int) -> bool:
    return any(character in '.!?:\n"“”«»。！？' for character in text[end : end + 2])


@lru_cache(maxsize=1 << 16)
def _folded(word: str) -> str:
    return unicodedata.normalize("NFKC", word).casefold().replace("’", "'")


@lru_cache(maxsize=1 << 14)
def _number_key(found: str, code: str) -> str:
    """A number as plain digits with a decimal point: "1,200.50" and "1200.5" alike."""
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
    """Overlapping pairs of characters; a run of one character is itself."""
    folded = run.casefold()
    marks = NEGATION_MARKS.get(code, ())
    if len(folded) == 1:
        yield Token(folded, "content", start, start + 1)
    for place in range(len(folded) - 1):
        if mark := next((mark for mark in marks if folded.startswith(mark, place)), None):
            yield Token("\0not", "negation", start + place, start + place + len(mark))
        yield Token(folded[place : place + 2], "content", start + place, start + place + 2)


Keys = tuple[tuple[str, int, int], ...]


@cache
def _keys(code: str) -> Callable[[str], Keys]:
    """The function from a folded word to its keys, each with offset and length within the word."""
    lemmas = code in SUPPORTED_LANGUAGES
    stemmer = snowballstemmer.stemmer(_STEMMERS[code]) if code in _STEMMERS else None
    if not lemmas and stemmer is None:
        return _pieces

    @lru_cache(maxsize=1 << 17)
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
