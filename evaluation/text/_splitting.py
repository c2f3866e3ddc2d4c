"""Splitting a text of any language into sentences.

A unit is a part of the text given by code point offsets, so that `text[start:end]` is the unit. The segmentation is
lossless: units are in order, do not overlap, and cover every character except white space.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import sentencex

from evaluation.text._words import language_code

DOCUMENT_BREAK = "\n\n"
"""The separator between two documents of a set that are read as one text."""

# Shorter clauses are not split off.
MIN_CLAUSE_WORDS = 4
MIN_CLAUSE_CHARACTERS = 8

_WORD_CHARACTER = re.compile(r"\w")
_WORD = re.compile(r"\w\S*")

# A single break of these kinds may wrap a line within a sentence. Several line breaks in a row end a sentence.
_ONE_BREAK = frozenset(("\n", "\r\n", "\r"))
_GOES_ON = frozenset(",;:-–—'\"’”)")
_LINE_BREAK = re.compile(r"[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]+")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
# sentencex ends a sentence after "al. [2004]", but this is a citation within a sentence.
_LONGEST_CITATION = 200
_CITATION_AT_END = re.compile(r"\bet\s+al\.\s*\[[^\]\[]*\]\s*$")

# sentencex takes "May." for an abbreviation, but the month has no abbreviation, so the full stop ends the sentence.
_AFTER_MAY = re.compile(r"\bMay\.\s+(?=[A-Z])")


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A part of a text: code point offsets, `end` exclusive."""

    start: int
    end: int

    def of(self, text: str) -> str:
        """Return the text of this span."""
        return text[self.start : self.end]


def sentence_spans(text: str, language: str = "en") -> list[Span]:
    """Split a text into sentences and return their offsets.

    A line break ends a sentence, unless a single one separates a letter, digit, comma, dash or the like from a
    lower-case letter. Spans have no surrounding white space, are in order, do not overlap and cover every character
    except white space. A blank text has no spans. An unknown language uses the English rules. Source: the sentencex
    rules, without their split after "et al. [2004]" and with an additional split after "May.". Example:
    `sentence_spans("One. Two.")` is `[Span(0, 4), Span(5, 9)]`.
    """
    spans: list[Span] = []
    for line in _lines(text):
        spans.extend(_sentences_of_line(text, line, language))
    return spans


def split_sentences(text: str, language: str = "en") -> list[str]:
    """Return the sentences of a text, in order, without surrounding white space; none for a blank text.

    `sentence_spans` describes the rules.
    Example: `split_sentences("It rained. Dr. Lee left.")` is `["It rained.", "Dr. Lee left."]`.
    """
    return [span.of(text) for span in sentence_spans(text, language)]


def _trimmed(text: str, start: int, end: int) -> Span | None:
    piece = text[start:end]
    stripped = piece.strip()
    if not stripped:
        return None
    start += len(piece) - len(piece.lstrip())
    return Span(start, start + len(stripped))


def _has_line_breaks(text: str) -> bool:
    """Return True if the text matches _LINE_BREAK; `splitlines` uses the same characters and is faster."""
    return bool(text) and text.splitlines() != [text]


def _lines(text: str) -> Iterator[Span]:
    if not _has_line_breaks(text):
        yield Span(0, len(text))
        return
    start = 0
    for line_break in _LINE_BREAK.finditer(text):
        if _is_soft(text, line_break):
            continue
        yield Span(start, line_break.start())
        start = line_break.end()
    yield Span(start, len(text))


def _is_soft(text: str, line_break: re.Match[str]) -> bool:
    if line_break[0] not in _ONE_BREAK or not line_break.start():
        return False
    before, after = text[line_break.start() - 1], text[line_break.end() : line_break.end() + 1]
    return after.islower() and (before.isalnum() or before in _GOES_ON)


def _sentences_of_line(text: str, line: Span, language: str) -> list[Span]:
    content = line.of(text)
    if not content.isascii():
        # sentencex cannot read a surrogate. Replace it by a character of the same length that ends no sentence.
        content = _SURROGATE.sub("\ufffd", content)
    if _has_line_breaks(content):
        content = _LINE_BREAK.sub(lambda wrap: " " * len(wrap[0]), content)
    code = language_code(language)
    borders = [0]
    for piece in sentencex.segment(code, content):
        borders.append(borders[-1] + len(piece))
    borders[-1] = len(content)
    if code == "en" and "May. " in content:
        borders = sorted({*borders, *(found.end() for found in _AFTER_MAY.finditer(content))})
    spans: list[Span | None] = []
    start = 0
    for here, following in pairwise((*borders, len(content))):
        if here > start and _is_sentence_border(content, start, here, following):
            spans.append(_trimmed(text, line.start + start, line.start + here))
            start = here
    spans.append(_trimmed(text, line.start + start, line.end))
    return [span for span in spans if span is not None]


def _is_sentence_border(content: str, start: int, here: int, following: int) -> bool:
    if not _WORD_CHARACTER.search(content, here, following):
        return False
    if not _WORD_CHARACTER.search(content, start, here):
        return False
    first = max(start, here - _LONGEST_CITATION)
    # Test for a bracket first: few pieces end with one, and the search below reads every word.
    if not content[first:here].rstrip().endswith("]"):
        return True
    return _CITATION_AT_END.search(content, first, here) is None
