"""What people who correct claims and units are told, in words."""

from __future__ import annotations

from collections.abc import Sequence

from annotation.core.words import listed
from annotation.models import ClaimOrigin, UnitChange
from annotation.texts.queries.claims import ClaimLoss, ListOrigin, TextName
from annotation.texts.queries.unit_locks import Dropped
from annotation.texts.queries.unit_texts import Cut

CLAIMS_LOCKED = (
    "The claims of this text stand in for its units, and assessors gave them percents, so they stay as they are. "
    "Corrected ones can be imported as another model summary of the set."
)


def answers_stay(answered: int, checks: int) -> str:
    """What becomes of the answers of people when a claim is put into other words; empty where there are none.

    >>> answers_stay(2, 5)
    'People have answered 2 of its 5 checks. Their answers stay with these words and count no more.'
    """
    if not answered:
        return ""
    of_checks = "its one check" if checks == 1 else f"{answered} of its {checks} checks"
    return f"People have answered {of_checks}. Their answers stay with these words and count no more."


def settled_by(names: Sequence[str]) -> str:
    """That a claim on which decisions rest is changed by adjudicators alone; empty where none does.

    >>> settled_by(["cleo"])
    'cleo resolved what was asked of this claim. Only somebody who may adjudicate changes it: ask an adjudicator.'
    """
    if not names:
        return ""
    return (
        f"{listed(names)} resolved what was asked of this claim. Only somebody who may adjudicate changes it: "
        "ask an adjudicator."
    )


def decisions_fall(names: Sequence[str]) -> str:
    """What becomes of adjudicators' decisions when the claim is changed; empty where there are none.

    >>> decisions_fall(["cleo"])
    'cleo resolved what was asked of this claim: the decision stays with these words and counts no more.'
    """
    if not names:
        return ""
    decisions = "the decisions stay" if names[1:] else "the decision stays"
    counts = "count" if names[1:] else "counts"
    return (
        f"{listed(names)} resolved what was asked of this claim: {decisions} with these words and {counts} "
        "no more."
    )


def decisions_fell(count: int) -> str:
    """Told to an adjudicator.

    >>> decisions_fell(1)
    'a decision of yours counts no more.'
    """
    if count == 1:
        return "a decision of yours counts no more."
    return f"{count:,} decisions of yours count no more."


def if_deleted(loss: ClaimLoss) -> str:
    """What deleting a claim does to scores."""
    left = loss.left_in_text
    if loss.kind == "peer":
        if not left:
            return "It is the only claim of this summary, which then has no alignment."
        return f"Alignment is then the share of yes over {_claims(left)} instead of {left + 1}."
    if not left:
        return (
            "It is the only claim of this text: nothing is then asked of the summaries that are compared with it, and "
            "they have no coverage by claims."
        )
    if loss.kind == "documents":
        return f"Coverage is then the share of yes over {_claims(left)} instead of {left + 1}."
    if loss.stands_for_unit:
        return (
            "The claims of this text stand in for its units: coverage is then the mean over "
            f"{_claims(left)} instead of {left + 1}."
        )
    if loss.unit is not None and not loss.left_in_unit:
        return (
            f"It is the only claim of unit {loss.unit}: where nobody gave the unit a percent it then has no value, and "
            "coverage is the mean over the units that have one."
        )
    if loss.unit is not None:
        return f"Unit {loss.unit} then has {_claims(loss.left_in_unit)} left to take its share of yes from."
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
        return "The documents"
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
        _counted(len(dropped.judgments), "judgment"),
        _counted(len(dropped.answers), "answer", "about unmarked units"),
        _counted(len(dropped.decisions), "decision", "of adjudicators"),
    ]
    said = [_and([part for part in parts if part])] if dropped.number else []
    if said and dropped.assessors:
        people = len(dropped.assessors)
        said.append(f"of {people} assessor{'' if people == 1 else 's'}")
    if said:
        said.append(
            "on this summary will no longer count; they stay in the log and in the export as superseded."
        )
    else:
        said.append("Nobody's judgments are lost.")
    if dropped.reopened:
        said.append(
            f"Sets are opened again for: {', '.join(dropped.reopened)}. Nothing that they said in them counts "
            "until they close them again, and by now they may have seen what others said."
        )
    if dropped.evidence:
        one = dropped.evidence == 1
        said.append(
            f"{dropped.evidence} answer{'' if one else 's'} to checks point{'s' if one else ''} to units of this "
            "summary: they stand, and their evidence follows the words."
        )
    return " ".join(said)


def _counted(count: int, noun: str, rest: str = "") -> str:
    if not count:
        return ""
    return f"{count} {noun}{'' if count == 1 else 's'}{' ' if rest else ''}{rest}"


def _and(parts: Sequence[str]) -> str:
    *first, last = parts
    return f"{', '.join(first)} and {last}" if first else last
