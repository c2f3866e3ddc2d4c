"""What people who correct claims and units are told, in words."""

from __future__ import annotations

from annotation.core.words import counted, listed
from annotation.models import ClaimOrigin, UnitChange
from annotation.texts.queries.claims import ListOrigin, TextName
from annotation.texts.queries.unit_locks import Dropped
from annotation.texts.queries.unit_texts import Cut

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


def undo_in_words(cut: Cut) -> str:
    """What undoing would take back; empty for nothing."""
    if cut.undo is None:
        return ""
    numbers = cut.undo.units
    if cut.undo.kind == UnitChange.Kind.JOIN:
        return f"the join that made unit {numbers[0]}"
    return f"the split into units {numbers[0]} and {numbers[-1]}"


def dropped_in_words(dropped: Dropped) -> str:
    """The consequence, as whoever opens the units again is told."""
    parts = [
        counted(len(dropped.judgments), "judgment") if dropped.judgments else "",
        f"{counted(len(dropped.answers), 'answer')} about unmarked units" if dropped.answers else "",
        f"{counted(len(dropped.decisions), 'decision')} of adjudicators" if dropped.decisions else "",
    ]
    said = [listed([part for part in parts if part])] if dropped.number else []
    if said and dropped.assessors:
        people = len(dropped.assessors)
        said.append(f"of {people} assessor{'' if people == 1 else 's'}")
    if said:
        said.append(
            "on this summary will no longer count. They stay in the log and, as superseded, in exports."
        )
    else:
        said.append("No judgments are lost.")
    if dropped.reopened:
        said.append(
            f"Sets are reopened for: {', '.join(dropped.reopened)}. Their judgments in these sets do not "
            "count until they close them again, and they may have seen other people's judgments by now."
        )
    if dropped.evidence:
        one = dropped.evidence == 1
        said.append(
            f"{dropped.evidence} answer{'' if one else 's'} to checks point{'s' if one else ''} to units of this "
            "summary. They still count, and their evidence moves with the words."
        )
    return " ".join(said)
