"""What changing a claim does to what people answered and to scores, said before the act."""

from __future__ import annotations

from collections.abc import Sequence

from annotation.queries.ranking import listed


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
    'cleo settled what was asked of this claim. Only somebody who may adjudicate changes it: ask an adjudicator.'
    """
    if not names:
        return ""
    return (
        f"{listed(names)} settled what was asked of this claim. Only somebody who may adjudicate changes it: "
        "ask an adjudicator."
    )


def decisions_fall(names: Sequence[str]) -> str:
    """What becomes of adjudicators' decisions when the claim is changed; empty where there are none.

    >>> decisions_fall(["cleo"])
    'cleo settled what was asked of this claim: the decision stays with these words and counts no more.'
    """
    if not names:
        return ""
    decisions = "the decisions stay" if names[1:] else "the decision stays"
    counts = "count" if names[1:] else "counts"
    return (
        f"{listed(names)} settled what was asked of this claim: {decisions} with these words and {counts} "
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


def if_deleted(
    *, kind: str, unit: int | None, left_in_unit: int, left_in_text: int, stands_for_unit: bool
) -> str:
    """What deleting a claim does to scores: `left_in_unit` and `left_in_text` are the claims that remain.

    `kind` is `model`, `peer` or `documents`; `unit` the number of the claim's unit, None where it has none;
    `stands_for_unit` tells that the claims of the text are scored in the place of units.
    """
    if kind == "peer":
        if not left_in_text:
            return "It is the only claim of this summary, which then has no alignment."
        return (
            f"Alignment is then the share of yes over {_claims(left_in_text)} instead of {left_in_text + 1}."
        )
    if not left_in_text:
        return (
            "It is the only claim of this text: nothing is then asked of the summaries that are held against it, and "
            "they have no coverage by claims."
        )
    if kind == "documents":
        return (
            f"Coverage is then the share of yes over {_claims(left_in_text)} instead of {left_in_text + 1}."
        )
    if stands_for_unit:
        return (
            "The claims of this text stand in for its units: coverage is then the mean over "
            f"{_claims(left_in_text)} instead of {left_in_text + 1}."
        )
    if unit is not None and not left_in_unit:
        return (
            f"It is the only claim of unit {unit}: where nobody gave the unit a percent it then has no value, and "
            "coverage is the mean over the units that have one."
        )
    if unit is not None:
        return f"Unit {unit} then has {_claims(left_in_unit)} left to take its share of yes from."
    return ""


def _claims(count: int) -> str:
    return f"{count} claim{'' if count == 1 else 's'}"
