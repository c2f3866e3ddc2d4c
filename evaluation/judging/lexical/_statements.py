"""Split sentences into statements: clauses, and predicates with a shared subject.

English sentences are cut if word lists recognise a subject and a verb on both sides of the cut. Sentences of other
languages are cut at semicolons and dashes.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from evaluation.judging.lexical._overlap import LISTED
from evaluation.text._function_words import FUNCTION_WORDS
from evaluation.text._lengths import has_word_breaks
from evaluation.text._splitting import MIN_CLAUSE_WORDS, Span, sentence_spans
from evaluation.text._words import language_code

_TOKEN = re.compile(r"\w(?:[\w'’-]*\w)?")
_HARD = re.compile(r";\s+|\s+(?:—|–|--)\s+")
_SOFT = re.compile(r"(?:,\s+(?:and|so|yet|although|though)|,?\s+(?:but|while|whereas))\s+", re.IGNORECASE)
_OPENS = re.compile(r"(?:while|whereas|although|though)\s+(?=[^,]*,)", re.IGNORECASE)
_COMMA = re.compile(r",\s+")
_BRACKETED = re.compile(r"[(\[][^)\]]*[)\]]")
_END = " \t\r\n,;:—–-，；、"


def _words(section: str) -> frozenset[str]:
    return frozenset(" ".join(LISTED[section]).split())


_BE, _HAVE = frozenset(("is", "was", "are", "were")), frozenset(("has", "had", "have"))
_MODAL = frozenset(["will", "would", "can", "could", "must", "may", "might", "should", "does", "did", "do"])
_AUXILIARY = _BE | _HAVE | _MODAL
_PRESENT, _PAST, _PARTICIPLE, _SPEECH = map(_words, ("present", "past", "participle", "speech"))
_SINGULAR = frozenset(("he", "she", "it"))
_PRONOUNS = _SINGULAR | frozenset(
    ["they", "we", "i", "you", "nobody", "everybody", "everyone", "someone", "this", "that", "these", "those"]
)
_DETERMINERS = _words("determiner")
# Words besides nouns that a subject may contain, and words that may begin a subject.
_IN_SUBJECT = (
    _DETERMINERS | _PRONOUNS | frozenset(["of", "and", "own", "no", "not", "only", "all", "both", "other"])
)
_ADVERBS, _NO_ADVERB = _words("adverb"), _words("no_adverb")
_OPINION, _PRAISE = _words("opinion"), _words("praise")
_OPENS_ANOTHER, _ABBREVIATIONS = _words("opens_another"), _words("abbreviation")
_FUNCTION = FUNCTION_WORDS["en"]
_LONGEST_SUBJECT = 7
_QUOTED = re.compile('["“”«»]')
_MOST_PRAISED = 2
"""The largest number of words after the verb of an opinion: the praise and its object. A third makes a statement."""


class Statement(NamedTuple):
    """A statement; it has offsets if the sentence contains it literally."""

    text: str
    start: int | None
    end: int | None


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
        if has_word_breaks(content) and _is_abbreviation(sentence.of(content)):
            continue
        for clause in _clauses(content, sentence, is_english=is_english):
            if is_english:
                yield from (each for each in _predicates(content, clause) if not _is_opinion(each.text))
            else:
                yield _verbatim(content, clause)


def _is_abbreviation(content: str) -> bool:
    """Return True for an abbreviation that the splitter took for a sentence, such as "Gov."."""
    return content.lower().removesuffix(".") in _ABBREVIATIONS


def _verbatim(content: str, span: Span) -> Statement:
    text = span.of(content).rstrip(_END)
    return Statement(text, span.start, span.start + len(text))


def _clauses(content: str, sentence: Span, *, is_english: bool) -> Iterator[Span]:
    text = sentence.of(content)
    start = 0
    hidden = _BRACKETED.sub(lambda found: "_" * len(found[0]), text)
    borders = [(found.start(), found.end()) for found in _HARD.finditer(hidden)]
    if is_english:
        borders += [(found.start(), found.end()) for found in _SOFT.finditer(hidden)]
        # A subordinate clause at the beginning ends at its comma: "While the ferry ran, the bridge was closed."
        if (opening := _OPENS.match(hidden)) and (comma := _COMMA.search(hidden)):
            sides = text[opening.end() : comma.start()], text[comma.end() :]
            if all(_subject(list(_tokens(side))) is not None for side in sides):
                start = opening.end()
                borders.append((comma.start(), comma.end()))
    for left_end, right_start in sorted(borders):
        if left_end <= start:
            continue
        sides = text[start:left_end], text[right_start:]
        if is_english:
            is_cut = all(_subject(list(_tokens(side))) is not None for side in sides)
        else:
            is_cut = all(len(side.split()) >= MIN_CLAUSE_WORDS for side in sides)
        if is_cut:
            yield Span(sentence.start + start, sentence.start + left_end)
            start = right_start
    yield Span(sentence.start + start, sentence.end)


def _is_opinion(statement: str) -> bool:
    words = list(_tokens(statement))
    if _QUOTED.search(statement) or not words:
        return False
    first = words[0].text
    if first in ("what", "how") and statement.rstrip().endswith("!"):
        return True
    if first in ("i", "we"):
        return next((word.text in _OPINION for word in words[1:] if not _is_adverb(word.text)), False)
    if " ".join(word.text for word in words[:3]) in ("in my opinion", "in my view", "to my mind"):
        return True
    verb = _subject(words)
    if verb is None or words[verb].text not in _BE:
        return False
    behind = [word.text for word in words[verb + 1 :]]
    told = [word for word in behind if word not in _DETERMINERS and not _is_adverb(word)]
    return 0 < len(told) <= _MOST_PRAISED and told[0] in _PRAISE


def _tokens(text: str, offset: int = 0) -> Iterator[_Word]:
    for found in _TOKEN.finditer(text):
        yield _Word(
            found[0].lower().replace("’", "'"), offset + found.start(), offset + found.end(), found[0]
        )


def _subject(words: Sequence[_Word]) -> int | None:
    for place, word in enumerate(words[: _LONGEST_SUBJECT + 1]):
        if place and _is_verb(words, place):
            return place
        is_noun = word.text not in _FUNCTION or word.text in _IN_SUBJECT
        if not is_noun or word.text in _OPENS_ANOTHER - _DETERMINERS or word.text.endswith("ing"):
            return None
        if not place and (word.text.endswith("ly") or word.text in _ADVERBS or word.text in _AUXILIARY):
            return None
    return None


def _is_verb(words: Sequence[_Word], place: int) -> bool:
    word, before = words[place].text, words[place - 1].text
    if word in _AUXILIARY:
        return True
    if before in _DETERMINERS - _PRONOUNS or before.endswith("ly") or before.isdecimal() or before == "of":
        return False
    if word in _PAST or word in _PRESENT:
        return True
    if before in _SINGULAR and word.endswith("s"):
        return True
    return word.endswith("ed") and len(word) > 3 and words[place].written.islower()


def _predicates(content: str, clause: Span) -> Iterator[Statement]:
    text = clause.of(content)
    words = list(_tokens(text, clause.start))
    size = _subject(words)
    if size is None:
        yield _verbatim(content, clause)
        return
    subject = content[words[0].start : words[size - 1].end]
    if "," in subject or ";" in subject:
        yield _verbatim(content, clause)
        return
    start, lead = clause.start, ""
    for place in range(size + 1, len(words) - 1):
        if words[place].text not in ("and", "but"):
            continue
        shared = _shared_verb(words, size, place)
        if shared is None:
            continue
        yield _told(content, Span(start, words[place].start), lead)
        start, lead = words[place].end, f"{subject} {shared}".strip()
    yield _told(content, Span(start, clause.end), lead)


def _told(content: str, span: Span, lead: str) -> Statement:
    if not lead:
        return _verbatim(content, span)
    return Statement(f"{lead} {span.of(content).strip().rstrip(_END)}", None, None)


def _shared_verb(words: Sequence[_Word], size: int, place: int) -> str | None:
    """Find the auxiliary verb that the predicate after a conjunction shares; "" if it has a verb of its own.

    None if the words after the conjunction are not a predicate of the same subject.
    """
    verb = words[size].text
    between = {word.text for word in words[size + 1 : place]}
    if not _OPENS_ANOTHER.isdisjoint(between) or verb in _SPEECH:
        return None
    following = place + 1
    while following < len(words) - 1 and _is_adverb(words[following].text):
        following += 1
    has_adverb = following > place + 1
    second = words[following].text
    behind = words[following + 1].text if following + 1 < len(words) else ""
    goes_on = not behind or behind in _FUNCTION or behind.isdecimal() or has_adverb
    if second in _BE | _HAVE:
        return "" if verb not in _MODAL else None
    is_past = second in _PAST or (second.endswith("ed") and len(second) > 3)
    is_participle = second in _PARTICIPLE or second.endswith("ed")
    if verb in _BE | _HAVE and any(_is_participle(word) for word in between):
        # "Was arrested and charged" shares "was". In "was born in Leeds and moved", "moved" needs no auxiliary verb.
        is_next = place == size + 2 and _is_participle(words[size + 1].text)
        return verb if is_next and is_participle and goes_on else None
    if is_past:
        return (
            ""
            if goes_on and (verb in _PAST or verb in ("was", "were", "had") or verb.endswith("ed"))
            else None
        )
    is_present = (
        verb in ("is", "has", "does") or verb in _PRESENT or (verb.endswith("s") and verb not in _AUXILIARY)
    )
    is_second = second in _PRESENT or (has_adverb and second.endswith("s") and not second.endswith("ss"))
    return "" if is_present and is_second else None


def _is_adverb(word: str) -> bool:
    return word in _ADVERBS or (word.endswith("ly") and word not in _NO_ADVERB)


def _is_participle(word: str) -> bool:
    return word in _PARTICIPLE or (word.endswith("ed") and len(word) > 3)
