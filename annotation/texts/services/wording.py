"""Normalising and comparing the wording of claims, and finding it in a text."""

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
"""Signs that Unicode counts as punctuation although they have a meaning in a claim."""


def claim_words(text: str) -> str:
    """Replace each run of white space by a space. Raises Invalid for an empty or too long wording."""
    words = " ".join(text.split())
    if not words:
        raise Invalid("Enter a claim.", field="text")
    if len(words) > LONGEST_WORDING:
        raise Invalid(
            f"A claim has at most {LONGEST_WORDING} characters; this one has {len(words)}.", field="text"
        )
    return words


def same(text: str) -> str:
    """Return a key that is equal for wordings whose `bare` texts differ only in case."""
    return bare(text).casefold()


def bare(text: str) -> str:
    """Remove extra white space, and punctuation at the ends.

    A leading dash stays, because it may be a minus sign. Signs that have a meaning, such as %, stay too. A wording of
    mere punctuation keeps it.
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
    """Find the offsets of the wording in its text, in characters, `end` exclusive; (None, None) if it is not found.

    The search covers the span of the claim that is replaced, then the unit or, without a unit, the whole summary. Case,
    white space and punctuation at the end of the wording are ignored.
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
