"""The words of a claim: as they are kept, whether two claims say the same, and where they stand in their text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection
from typing import TYPE_CHECKING

from annotation.core.refusals import Invalid
from annotation.models import Claim, Summary, Unit

if TYPE_CHECKING:
    from annotation.texts.queries.claims import ClaimOwner

LONGEST_WORDING = 1000
SAYING = "%‰‱#&@*†‡§\\/"
"""Signs that Unicode counts among the marks, and that say something wherever they stand."""


def claim_words(text: str) -> str:
    """The words of a claim as they are kept, with single blanks. Raises Invalid where there are none or too many."""
    words = " ".join(text.split())
    if not words:
        raise Invalid("Enter a claim.", field="text")
    if len(words) > LONGEST_WORDING:
        raise Invalid(
            f"A claim has at most {LONGEST_WORDING} characters; this one has {len(words)}.", field="text"
        )
    return words


def same(text: str) -> str:
    """What is equal for claims that say the same: the bare words in letters of one case."""
    return bare(text).casefold()


def bare(text: str) -> str:
    """The words alone: white space of one kind, and no marks at the ends.

    A dash at the beginning stays, for it may be a minus, and so do signs that say something, such as %.
    """
    words = " ".join(text.split())
    first, end = 0, len(words)
    while first < end and _is_mark(words[first], but=("Pd",)):
        first += 1
    while end > first and _is_mark(words[end - 1]):
        end -= 1
    return words[first:end] or words


def _is_mark(sign: str, *, but: Collection[str] = ()) -> bool:
    kind = unicodedata.category(sign)
    is_blank = sign.isspace() or kind == "Cf"
    return is_blank or (kind.startswith("P") and kind not in but and sign not in SAYING)


def place_in_text(
    text: str, owner: ClaimOwner, unit: Unit | None, instead_of: Claim | None
) -> tuple[int | None, int | None]:
    """Where the words stand: in what the old claim covered, else in its unit, else in the summary; or nowhere.

    Letters of either case and white space of any kind are the same, and an end mark may be missing.
    """
    source = (
        owner.text if isinstance(owner, Summary) else unit.document.text if unit and unit.document else ""
    )
    if not source:
        return None, None
    spans = []
    if instead_of is not None and instead_of.start is not None and instead_of.end is not None:
        spans.append((instead_of.start, instead_of.end))
    if unit is not None:
        spans.append((unit.start, unit.end))
    elif isinstance(owner, Summary):
        spans.append((0, len(source)))
    words = r"\s+".join(re.escape(word) for word in text.rstrip(" .!?。！？؟").split())
    for start, end in spans:
        found = re.compile(words, re.IGNORECASE).search(source, start, end) if words else None
        if found:
            return found.start(), found.end()
    return None, None
