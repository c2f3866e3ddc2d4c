"""Split sentences into statements: clauses, and predicates with a shared subject.

English sentences are cut if word lists recognise a subject and a verb on both sides of the cut. Sentences of other
languages are cut at semicolons and dashes.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import dropwhile
from typing import NamedTuple

from evaluation.judging.lexical._overlap import LISTED
from evaluation.text._lengths import has_word_breaks
from evaluation.text._splitting import MIN_CLAUSE_WORDS, Span, sentence_spans
from evaluation.text._word_lists import FUNCTION_WORDS
from evaluation.text._words import language_code

_TOKEN = re.compile(r"\w(?:[\w'’-]*\w)?")
_HARD = re.compile(r";\s+|\s+(?:—|–|--)\s+")
_SOFT = re.compile(r"(?:,\s+(?:and|so|yet|although|though)|,?\s+(?:but|while|whereas))\s+", re.IGNORECASE)
_OPENS = re.compile(r"(?:while|whereas|although|though)\s+((?:[^,]|,(?!\s))*)(,\s+)", re.IGNORECASE)
_BRACKETED = re.compile(r"[(\[][^)\]]*[)\]]")
_QUOTED = re.compile('["“”«»]')
_END = " \t\r\n,;:—–-，；、"

_WORDS = {section: frozenset(" ".join(lines).split()) for section, lines in LISTED.items()}
_BE, _HAVE, _PAST, _PRESENT = (_WORDS[section] for section in ("be", "have", "past", "present"))
_AUXILIARY = _BE | _HAVE | _WORDS["modal"]
_DETERMINERS = _WORDS["determiner"]
_BEFORE_NOUNS = _DETERMINERS - _WORDS["pronoun"]
# The words that end the search for a subject.
_OUTSIDE = FUNCTION_WORDS["en"] | _WORDS["opens_another"]
_OUTSIDE -= _DETERMINERS | _WORDS["pronoun"] | _WORDS["in_subject"]
_LONGEST_SUBJECT = 7
_MOST_PRAISED = 2
"""The largest number of words after the verb of an opinion: the praise and its object."""


class Statement(NamedTuple):
    """A statement; `start` is its offset if the unit contains it literally, otherwise None."""

    text: str
    start: int | None = None


class _Word(NamedTuple):
    text: str
    start: int
    end: int
    written: str


def statements(content: str, language: str) -> Iterator[Statement]:
    """Yield the statements of a unit, in order. Opinions and abbreviations are omitted.

    Opinions are recognised in English, outside quotation marks: statements of the writer's taste or belief ("I love
    this bridge"), and mere praise or blame ("It was a wonderful day").
    Example: "The cat is black and sleeps." gives "The cat is black" and "The cat sleeps.".
    """
    is_english = language_code(language) == "en"
    for sentence in sentence_spans(content, language):
        # The splitter takes some abbreviations for sentences, such as "Gov.".
        written = sentence.of(content).lower().removesuffix(".")
        if has_word_breaks(content) and written in _WORDS["abbreviation"]:
            continue
        for clause in _clauses(content, sentence, is_english=is_english):
            if is_english:
                yield from (each for each in _predicates(content, clause) if not _is_opinion(each.text))
            else:
                yield _told(content, clause)


def _clauses(content: str, sentence: Span, *, is_english: bool) -> Iterator[Span]:
    def is_clause(side: str) -> bool:
        if is_english:
            return _subject(_tokens(side)) is not None
        return len(side.split()) >= MIN_CLAUSE_WORDS

    text, start = sentence.of(content), 0
    hidden = _BRACKETED.sub(lambda found: "_" * len(found[0]), text)
    patterns = (_HARD, _SOFT) if is_english else (_HARD,)
    borders = [found.span() for pattern in patterns for found in pattern.finditer(hidden)]
    # A subordinate clause at the beginning ends at its comma: "While the ferry ran, the bridge was closed."
    opening = _OPENS.match(hidden) if is_english else None
    if opening and is_clause(opening[1]) and is_clause(text[opening.end() :]):
        start = opening.start(1)
        borders.append(opening.span(2))
    for left, right in sorted(borders):
        if left > start and is_clause(text[start:left]) and is_clause(text[right:]):
            yield Span(sentence.start + start, sentence.start + left)
            start = right
    yield Span(sentence.start + start, sentence.end)


def _is_opinion(statement: str) -> bool:
    words = [word for word in _tokens(statement) if not _is_adverb(word.text)]
    first, second, third, *_ = *(word.text for word in words), "", "", ""
    if _QUOTED.search(statement):
        return False
    if first in ("i", "we"):
        return second in _WORDS["opinion"]
    if f"{first} {second} {third}" in ("in my opinion", "in my view", "to my mind"):
        return True
    verb = _subject(words)
    if verb is None or words[verb].text not in _BE:
        return first in ("what", "how") and statement.rstrip().endswith("!")
    behind = [word.text for word in words[verb + 1 :] if word.text not in _DETERMINERS]
    return 0 < len(behind) <= _MOST_PRAISED and behind[0] in _WORDS["praise"]


def _tokens(text: str, offset: int = 0) -> list[_Word]:
    return [
        _Word(each[0].lower().replace("’", "'"), offset + each.start(), offset + each.end(), each[0])
        for each in _TOKEN.finditer(text)
    ]


def _subject(words: Sequence[_Word]) -> int | None:
    """Return the place of the verb after the subject with which the words begin; None if no subject is recognised."""
    for place, (word, *_) in enumerate(words[: _LONGEST_SUBJECT + 1]):
        if place and _is_verb(words, place):
            return place
        begins_none = word.endswith("ly") or word in _WORDS["adverb"] or word in _AUXILIARY
        if word in _OUTSIDE or word.endswith("ing") or (begins_none and not place):
            return None
    return None


def _is_verb(words: Sequence[_Word], place: int) -> bool:
    word, before = words[place].text, words[place - 1].text
    if word in _AUXILIARY:
        return True
    if before in _BEFORE_NOUNS or before.endswith("ly") or before.isdecimal() or before == "of":
        return False
    if word in _PAST or word in _PRESENT or (before in _WORDS["singular"] and word.endswith("s")):
        return True
    return word.endswith("ed") and len(word) > 3 and words[place].written.islower()


def _predicates(content: str, clause: Span) -> Iterator[Statement]:
    words = _tokens(clause.of(content), clause.start)
    size = _subject(words) or len(words)
    subject = content[words[0].start : words[size - 1].end] if words else ""
    start, lead = clause.start, ""
    for place in range(size + 1, len(words) - 1) if not {",", ";"} & {*subject} else ():
        if words[place].text in ("and", "but") and (verb := _shared_verb(words, size, place)) is not None:
            yield _told(content, Span(start, words[place].start), lead)
            start, lead = words[place].end, f"{subject} {verb}".strip()
    yield _told(content, Span(start, clause.end), lead)


def _told(content: str, span: Span, lead: str = "") -> Statement:
    text = span.of(content).rstrip(_END)
    return Statement(f"{lead} {text.lstrip()}") if lead else Statement(text, span.start)


def _shared_verb(words: Sequence[_Word], size: int, place: int) -> str | None:
    """Find the auxiliary verb that the predicate after a conjunction shares; "" if it has a verb of its own.

    None if the words after the conjunction are not a predicate of the same subject.
    """
    verb = words[size].text
    between = {word.text for word in words[size + 1 : place]}
    if not _WORDS["opens_another"].isdisjoint(between) or verb in _WORDS["speech"]:
        return None
    *after, last = (word.text for word in words[place + 1 :])
    second, behind, *_ = *dropwhile(_is_adverb, after), last, ""
    has_adverb = bool(after) and _is_adverb(after[0])
    goes_on = not behind or behind in FUNCTION_WORDS["en"] or behind.isdecimal() or has_adverb
    if second in _BE | _HAVE:
        return None if verb in _WORDS["modal"] else ""
    if verb in _BE | _HAVE and any(map(_is_participle, between)):
        # "Was arrested and charged" shares "was". In "was born in Leeds and moved", "moved" needs no auxiliary verb.
        return verb if place == size + 2 and _is_participle(second) and goes_on else None
    if second in _PAST or (second.endswith("ed") and len(second) > 3):
        is_past = verb in _PAST or verb in ("was", "were", "had") or verb.endswith("ed")
        return "" if goes_on and is_past else None
    is_present = verb in ("is", "has", "does") or (verb.endswith("s") and verb not in _AUXILIARY)
    is_second = second in _PRESENT or (has_adverb and second.endswith("s") and not second.endswith("ss"))
    return "" if is_present and is_second else None


def _is_adverb(word: str) -> bool:
    return word in _WORDS["adverb"] or (word.endswith("ly") and word not in _WORDS["no_adverb"])


def _is_participle(word: str) -> bool:
    return word in _WORDS["participle"] or (word.endswith("ed") and len(word) > 3)
