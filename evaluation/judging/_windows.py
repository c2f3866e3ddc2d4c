"""Texts and lists that are longer than what a judge can read at once."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from evaluation._labels import Label
from evaluation.judging.parsing import Answer
from evaluation.judging.prompts import Pieces, canonical
from evaluation.judging.protocol import Json, Text
from evaluation.text._splitting import Span, sentence_spans

BYTES_PER_TOKEN = 3
"""Fewer than any tokeniser needs on average, so that a text is rather cut too early than too late."""
BYTES_FOR_FORMAT = 200
"""What a request says of the form of the reply besides its schema, and the names of its lists."""
SMALLEST_ROOM = 300
_FIRST_FOUND: tuple[Label | None, ...] = ("yes", None, "unsure", "no")
"""Which window's answer stands for all."""
# What stands around a text in JSON that names it: {"unit":123456,"text":…},
_BYTES_AROUND = 30

_K = TypeVar("_K")


def estimated_tokens(text: str) -> int:
    """About how many tokens a text takes, rather too many than too few."""
    return -(-len(text.encode("utf-8", "surrogatepass")) // BYTES_PER_TOKEN)


def json_bytes(value: Json) -> int:
    """The bytes of a value's JSON as it is sent."""
    return len(canonical(value).encode("utf-8", "surrogatepass"))


def named_bytes(texts: Iterable[str]) -> int:
    """At most how many bytes texts take in JSON that names each of them, by a number or an id."""
    return sum(json_bytes(text) + _BYTES_AROUND for text in texts)


def pieces_bytes(pieces: Pieces) -> int:
    """At most how many bytes numbered pieces of a text take in JSON."""
    return named_bytes(content for _, content in pieces)


def chunks(
    items: Sequence[_K], most: int, room: int | None = None, size: Callable[[_K], int] = lambda _: 0
) -> list[Sequence[_K]]:
    """The items in stretches of at most `most` items and `room` bytes each, in order; `size` is an item's.

    An item that is larger by itself makes a stretch of its own.
    """
    cut: list[Sequence[_K]] = []
    current: list[_K] = []
    used = 0
    for item in items:
        is_full = room is not None and used + size(item) > room
        if current and (is_full or len(current) == most):
            cut.append(current)
            current, used = [], 0
        current.append(item)
        used += size(item)
    return [*cut, current] if current else cut


def fitted(
    text: Text, items: Sequence[_K], size: Callable[[_K], int], most: int, room: int | None
) -> tuple[list[Pieces], list[Sequence[_K]]]:
    """Windows of a text, and stretches of what is asked about it, of which any two fit into `room` together.

    Whichever is short leaves its room to the other; where both are long, each gets half.
    """
    if room is None:
        return windows(text, None), chunks(items, most)
    for_items = max(room // 2, room - pieces_bytes(list(text.numbered_units())))
    cut = chunks(items, most, for_items, size)
    largest = max((sum(map(size, chunk)) for chunk in cut), default=0)
    return windows(text, max(SMALLEST_ROOM, room - largest)), cut


def windows(text: Text, room: int | None) -> list[Pieces]:
    """The text's units in stretches of at most `room` bytes each, cut at sentence borders, in order.

    A unit that is longer by itself is cut into its sentences, which keep its number; a sentence that is
    longer still is cut between words, and a word within. None for `room` gives one window of everything.
    """
    units = list(text.numbered_units())
    if room is None or pieces_bytes(units) <= room:
        return [units]
    cut: list[Pieces] = []
    current: list[tuple[int, str]] = []
    used = 0
    for number, content in units:
        for piece in _sentences(content, text.language, room):
            size = named_bytes([piece])
            if current and used + size > room:
                cut.append(_joined(current))
                current, used = [], 0
            current.append((number, piece))
            used += size
    return [*cut, _joined(current)]


def merged(answers: Sequence[Answer | None]) -> Answer | None:
    """One answer from those of several windows: yes where any window says so, for each sees only a part.

    Else None where any window gave no usable answer, which might have been yes; else the label nearest to yes.
    """
    labels = [None if answer is None else answer.label for answer in answers]
    deciding = next((label for label in _FIRST_FOUND if label in labels), None)
    given = [answer for answer in answers if answer is not None and answer.label == deciding]
    if not given:
        return None
    probabilities = [answer.probability for answer in given if answer.probability is not None]
    evidence = {number for answer in given for number in answer.evidence}
    return Answer(given[0].label, max(probabilities, default=None), tuple(sorted(evidence)), given[0].reason)


def _sentences(content: str, language: str, room: int) -> Iterator[str]:
    """The unit, or its sentences, or parts of them, as large as fit."""
    if named_bytes([content]) <= room:
        yield content
        return
    for span in sentence_spans(content, language) or [Span(0, len(content))]:
        yield from _parts(span.of(content), room - _BYTES_AROUND)


def _parts(sentence: str, room: int) -> Iterator[str]:
    """A sentence in halves of halves that fit, cut between words; a word that is too long is cut within."""
    if json_bytes(sentence) <= room or len(sentence) < 2:
        yield sentence
        return
    middle = len(sentence) // 2
    border = max(map(sentence[: middle + 1].rfind, " \t\n"))
    for half in (sentence[: border if border > 0 else middle], sentence[border if border > 0 else middle :]):
        if half := half.strip():
            yield from _parts(half, room)


def _joined(pieces: Pieces) -> Pieces:
    """Pieces of one unit in one window as one piece, for a number names one piece there."""
    contents: dict[int, list[str]] = {}
    for number, content in pieces:
        contents.setdefault(number, []).append(content)
    return [(number, " ".join(parts)) for number, parts in contents.items()]
