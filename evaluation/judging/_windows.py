"""Cut long texts and lists into parts that fit into one call."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from evaluation._labels import Label
from evaluation.judging.orchestration import chunks
from evaluation.judging.parsing import Answer
from evaluation.judging.prompts import Pieces, canonical
from evaluation.judging.protocol import Json, Text
from evaluation.text._splitting import Span, sentence_spans

BYTES_PER_TOKEN = 3
"""The assumed number of bytes of a token."""
BYTES_FOR_FORMAT = 200
"""The assumed size of a request's fixed parts: the reply format without its schema, and the names of lists."""
SMALLEST_ROOM = 300
_FIRST_FOUND: tuple[Label | None, ...] = ("yes", None, "unsure", "no")
"""The order in which the labels of windows decide for the whole text."""
# The JSON around a numbered text has at most this many bytes: {"unit":123456,"text":…},
_BYTES_AROUND = 30

_K = TypeVar("_K")


def estimated_tokens(text: str) -> int:
    """Estimate the number of tokens of a text."""
    return -(-len(text.encode("utf-8", "surrogatepass")) // BYTES_PER_TOKEN)


def json_bytes(value: Json) -> int:
    """Count the bytes of a value's JSON in a request."""
    return len(canonical(value).encode("utf-8", "surrogatepass"))


def named_bytes(texts: Iterable[str]) -> int:
    """Return an upper limit for the bytes of texts in JSON, if each has a number or an id as its key."""
    return sum(json_bytes(text) + _BYTES_AROUND for text in texts)


def pieces_bytes(pieces: Pieces) -> int:
    """Return an upper limit for the bytes of numbered pieces of a text in JSON."""
    return named_bytes(content for _, content in pieces)


def fitted(
    text: Text, items: Sequence[_K], size: Callable[[_K], int], most: int, room: int | None
) -> tuple[list[Pieces], list[Sequence[_K]]]:
    """Cut a text into windows and items into chunks, to fit each window with each chunk into `room` bytes.

    Text and items get half of the room each. If one half is not filled, its rest is added to the other half. Windows
    get at least SMALLEST_ROOM, and a long item is not cut, even if this exceeds `room`.
    """
    if room is None:
        return windows(text, None), chunks(items, most)
    for_items = max(room // 2, room - pieces_bytes(list(text.numbered_units())))
    cut = chunks(items, most, for_items, size)
    largest = max((sum(map(size, chunk)) for chunk in cut), default=0)
    return windows(text, max(SMALLEST_ROOM, room - largest)), cut


def windows(text: Text, room: int | None) -> list[Pieces]:
    """Cut the text's units, in order, into windows of at most `room` bytes.

    A unit that does not fit is cut into sentences, which keep the unit's number. A sentence that does not fit is cut
    between words, and a word that does not fit is cut anywhere. If `room` is None, there is one window.
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
    """Merge the answers about several windows of a text.

    Yes in one window is enough, because a claim needs to be stated only once. Otherwise, if an answer is missing, the
    result is None, because the missing answer could be yes. Otherwise unsure decides before no. The result has the
    evidence of all deciding answers and the highest of their probabilities.
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
    if named_bytes([content]) <= room:
        yield content
        return
    for span in sentence_spans(content, language) or [Span(0, len(content))]:
        yield from _parts(span.of(content), room - _BYTES_AROUND)


def _parts(sentence: str, room: int) -> Iterator[str]:
    if json_bytes(sentence) <= room or len(sentence) < 2:
        yield sentence
        return
    middle = len(sentence) // 2
    border = max(map(sentence[: middle + 1].rfind, " \t\n"))
    for half in (sentence[: border if border > 0 else middle], sentence[border if border > 0 else middle :]):
        if half := half.strip():
            yield from _parts(half, room)


def _joined(pieces: Pieces) -> Pieces:
    # A window must not repeat a unit's number, so join the pieces of a unit.
    contents: dict[int, list[str]] = {}
    for number, content in pieces:
        contents.setdefault(number, []).append(content)
    return [(number, " ".join(parts)) for number, parts in contents.items()]
