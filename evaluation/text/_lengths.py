"""Counting and truncating texts in words, characters or bytes, in any language."""

import re
from itertools import islice
from typing import Literal

from evaluation.errors import InvalidBudget

LengthUnit = Literal["words", "characters", "bytes"]

# Scripts without spaces between words. With at most the script's limit of letters between spaces, on average, a
# tokeniser has split the text into words. Running text has far more.
_IDEOGRAPHIC = (
    "\u3005-\u3007\u3041-\u3096\u309d-\u30ff\u3105-\u312f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U000323af"
)
# Thai, Lao, Tibetan, Myanmar, Khmer, Tai Le, New Tai Lue, Tai Tham, Balinese, Javanese, Myanmar extended.
_SOUTHEAST_ASIAN = (
    "\u0e00-\u0eff\u0f40-\u0fbc\u1000-\u109f\u1780-\u17dd\u1950-\u19df\u1a20-\u1aad\u1b00-\u1b4b"
    "\ua980-\ua9c0\ua9e0-\ua9fe\uaa60-\uaa7f"
)
_SPACELESS_SCRIPTS = (
    (re.compile(f"[{_IDEOGRAPHIC}]"), 2.5),
    (re.compile(f"[{_SOUTHEAST_ASIAN}]"), 8.0),
)
_LETTER = re.compile(r"[^\W\d_]")


def count_words(text: str) -> int:
    """Count the words: strings between white space, as in DUC.

    An empty or blank text has 0 words. In scripts without spaces, the text has a few long "words", so call
    `has_word_breaks` before using the count as a length.
    Source: DUC 2002, length-adjusted coverage, point 3.1.
    Example: `count_words("Rain, then  more rain.")` is 4.
    """
    return len(text.split())


def count_length(text: str, unit: LengthUnit = "words") -> int:
    """Measure the text without changing it, in words, characters (code points) or bytes (UTF-8).

    White space counts as characters and bytes, as in DUC 2004's limits of 75 and 665 bytes.
    Example: `count_length("déjà vu", "bytes")` is 9.
    """
    if unit == "words":
        return count_words(text)
    if unit == "characters":
        return len(text)
    return len(_utf8(text))


def truncate(text: str, target: int, unit: LengthUnit = "words") -> str:
    """Return the longest beginning of the text that fits into the target.

    Text in words ends after a word, text in bytes after a character. A text within the target is returned unchanged.
    Raises InvalidBudget if target < 1.
    Source: DUC 2002, length-adjusted coverage, point 3.3; DUC 2004, truncation at a number of bytes.
    Example: `truncate("one two three", 2)` is "one two".
    """
    if target < 1:
        raise InvalidBudget(f"A target length must be at least 1, got {target}.")
    if count_length(text, unit) <= target:
        return text
    if unit == "words":
        last = next(islice(re.finditer(r"\S+", text), target - 1, None))
        return text[: last.end()]
    if unit == "characters":
        return text[:target]
    return _truncate_bytes(text, target)


def has_word_breaks(text: str) -> bool:
    """Return True if white space separates the words of this text, so that counting words is meaningful.

    False for a text mostly in a script without spaces between words (Han, kana, Thai, Lao, Khmer, Myanmar, Tibetan,
    ...), unless spaces split it into words. True for an empty text.
    Example: `has_word_breaks("猫在睡觉。")` is False, `has_word_breaks("The cat sleeps.")` is True.
    """
    if text.isascii():
        return True
    for script, limit in _SPACELESS_SCRIPTS:
        letters = len(script.findall(text))
        if 2 * letters <= len(_LETTER.findall(text)):
            continue
        strings = [string for string in text.split() if script.search(string)]
        return len(strings) > 1 and letters / len(strings) <= limit
    return True


def _utf8(text: str) -> bytes:
    # JSON escapes can produce lone surrogates; plain UTF-8 cannot encode them.
    return text.encode("utf-8", "surrogatepass")


def _truncate_bytes(text: str, target: int) -> str:
    encoded = _utf8(text)
    end = target
    while end and encoded[end] & 0xC0 == 0x80:
        end -= 1
    return encoded[:end].decode("utf-8", "surrogatepass")
