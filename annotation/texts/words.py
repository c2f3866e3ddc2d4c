"""Names of texts and of lists of claims, in words."""

from __future__ import annotations

from annotation.models import ClaimOrigin
from annotation.texts.queries.claims import ListOrigin, TextName

CLAIMS_LOCKED = (
    "The claims of this text are locked: they replace its units, and assessors have given them percents. "
    "Import corrected claims as another model summary of the set."
)


def origin_in_words(origin: ListOrigin) -> str:
    """Where a list of claims came from, such as "by lexical", "imported from claims.jsonl", "written by rex"."""
    match origin.kind:
        case ClaimOrigin.JUDGE:
            return f"by {origin.name.partition('|')[0]}"
        case ClaimOrigin.IMPORTED:
            return f"imported from {origin.name}" if origin.name else "imported"
        case ClaimOrigin.PERSON:
            return f"written by {origin.name}"


def name_in_words(name: TextName) -> str:
    """What a reader calls a text."""
    if name.kind == "documents":
        return "Source documents"
    target = f", target {name.target_words}" if name.target_words else ""
    if name.kind == "model":
        return f"Model summary {name.external_id}".rstrip() + target
    return f"Peer summary{f' of {name.system}' if name.system else ''}{target}"
