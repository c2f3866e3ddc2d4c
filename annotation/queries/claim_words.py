"""What changing a claim does to what people answered and to scores, said before the act."""

from __future__ import annotations


def answers_stay(answered: int, checks: int) -> str:
    """What becomes of the answers of people when a claim is put into other words; empty where there are none.

    >>> answers_stay(2, 5)
    'People have answered 2 of its 5 checks. Their answers stay with these words and count no more.'
    """
    if not answered:
        return ""
    of_checks = "its one check" if checks == 1 else f"{answered} of its {checks} checks"
    return f"People have answered {of_checks}. Their answers stay with these words and count no more."


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
