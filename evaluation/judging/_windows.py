"""Texts that are longer than what a judge can read at once."""

from collections.abc import Sequence

from evaluation._text import sentence_spans
from evaluation.judging.parsing import Answer
from evaluation.judging.prompts import Pieces
from evaluation.judging.protocol import Text

BYTES_PER_TOKEN = 3
"""Fewer than any tokeniser needs on average, so that a text is rather cut too early than too late."""
SMALLEST_ROOM = 300


def estimated_tokens(text: str) -> int:
    """About how many tokens a text takes, rather too many than too few."""
    return -(-len(text.encode("utf-8", "surrogatepass")) // BYTES_PER_TOKEN)


def windows(text: Text, room: int | None) -> list[Pieces]:
    """The text's units in stretches of at most `room` bytes each, cut at sentence borders, in order.

    A unit that is longer by itself is cut into its sentences, which keep its number; a sentence that is
    longer still makes a window of its own. None for `room` gives one window of everything.
    """
    units = list(text.numbered_units())
    if room is None or _size(units) <= room:
        return [units]
    cut: list[Pieces] = []
    current: list[tuple[int, str]] = []
    used = 0
    for number, content in units:
        for piece in _sentences(content, text.language, room):
            size = _size([(number, piece)])
            if current and used + size > room:
                cut.append(_joined(current))
                current, used = [], 0
            current.append((number, piece))
            used += size
    return [*cut, _joined(current)]


def merged(answers: Sequence[Answer | None]) -> Answer | None:
    """One answer from those of several windows: yes where any window says so, for each sees only a part.

    Else None where any window gave no usable answer, which might have been yes; else unsure where any is.
    """
    for label in ("yes", None, "unsure", "no"):
        found = [answer for answer in answers if (answer.label if answer else None) == label]
        if not found or found[0] is None:
            if found:
                return None
            continue
        given = [answer for answer in found if answer is not None]
        probabilities = [answer.probability for answer in given if answer.probability is not None]
        evidence = {number for answer in given for number in answer.evidence}
        return Answer(
            given[0].label, max(probabilities, default=None), tuple(sorted(evidence)), given[0].reason
        )
    return None


def _size(pieces: Pieces) -> int:
    # As JSON: quotes, colon and comma, and the number.
    return sum(len(content.encode("utf-8", "surrogatepass")) + 10 for _, content in pieces)


def _sentences(content: str, language: str, room: int) -> list[str]:
    if len(content.encode("utf-8", "surrogatepass")) + 10 <= room:
        return [content]
    return [span.of(content) for span in sentence_spans(content, language)] or [content]


def _joined(pieces: Pieces) -> Pieces:
    """Pieces of one unit in one window as one piece, for a number names one piece there."""
    contents: dict[int, list[str]] = {}
    for number, content in pieces:
        contents.setdefault(number, []).append(content)
    return [(number, " ".join(parts)) for number, parts in contents.items()]
