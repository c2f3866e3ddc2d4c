"""What people who correct claims and units are told, in words."""

from __future__ import annotations

from collections.abc import Sequence

from annotation.core.words import counted, listed
from annotation.models import ClaimOrigin, UnitChange
from annotation.texts.queries.claims import ClaimLoss, ListOrigin, TextName
from annotation.texts.queries.unit_locks import Dropped
from annotation.texts.queries.unit_texts import Cut

CLAIMS_LOCKED = (
    "The claims of this text are locked: they replace its units, and assessors have given them percents. "
    "Import corrected claims as another model summary of the set."
)


def answers_stay(answered: int, checks: int) -> str:
    """What becomes of the answers of people when a claim is put into other words; empty where there are none.

    >>> answers_stay(2, 5)
    'People have answered 2 of its 5 checks. Their answers stay with this wording and no longer count.'
    """
    if not answered:
        return ""
    of_checks = "its only check" if checks == 1 else f"{answered} of its {checks} checks"
    return f"People have answered {of_checks}. Their answers stay with this wording and no longer count."


def settled_by(names: Sequence[str]) -> str:
    """That a claim on which decisions rest is changed by adjudicators alone; empty where none does.

    >>> settled_by(["cleo"])
    'cleo resolved a dispute on this claim, so only an adjudicator can change it.'
    """
    if not names:
        return ""
    return f"{listed(names)} resolved a dispute on this claim, so only an adjudicator can change it."


def decisions_fall(names: Sequence[str]) -> str:
    """What becomes of adjudicators' decisions when the claim is changed; empty where there are none.

    >>> decisions_fall(["cleo"])
    'cleo resolved a dispute on this claim. The decision stays with this wording and no longer counts.'
    """
    if not names:
        return ""
    decisions = "The decisions stay" if names[1:] else "The decision stays"
    counts = "count" if names[1:] else "counts"
    return (
        f"{listed(names)} resolved a dispute on this claim. {decisions} with this wording and no longer "
        f"{counts}."
    )


def if_deleted(loss: ClaimLoss) -> str:
    """What deleting a claim does to scores."""
    left = loss.left_in_text
    if loss.kind == "peer":
        if not left:
            return "This is the summary's only claim. Without it, the summary has no alignment."
        return f"Alignment will be the share of yes over {_claims(left)} instead of {left + 1}."
    if not left:
        return (
            "This is the text's only claim. Without it, summaries compared with this text have no checks and "
            "no coverage by claims."
        )
    if loss.kind == "documents":
        return f"Coverage will be the share of yes over {_claims(left)} instead of {left + 1}."
    if loss.stands_for_unit:
        return (
            f"The claims of this text replace its units, so coverage will be the mean over {_claims(left)} "
            f"instead of {left + 1}."
        )
    if loss.unit is not None and not loss.left_in_unit:
        return (
            f"This is the only claim of unit {loss.unit}. Without it and without a percent, the unit has no "
            "value and is left out of the mean coverage."
        )
    if loss.unit is not None:
        return f"The share of yes of unit {loss.unit} will use {_claims(loss.left_in_unit)}."
    return ""


def _claims(count: int) -> str:
    return f"{count} claim{'' if count == 1 else 's'}"


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
