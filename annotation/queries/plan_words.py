"""What the plan's figures say in words, and what they assume."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from evaluation import FEW_DOCUMENTS, TOO_FEW_DOCUMENTS, Design

if TYPE_CHECKING:
    from annotation.queries.estimates import Progress

DESIGN_NAMES: dict[Design, str] = {
    "people": "people alone",
    "uniform": "uniform",
    "stratified": "stratified",
    "active": "active",
}


class Short(NamedTuple):
    """A system that needs more document sets for a width than the `held` ones."""

    system: str
    held: int
    needed: int


class Basis(StrEnum):
    """What a forecast goes by."""

    PILOT = "pilot"
    PILOT_TOO_SMALL = "pilot_too_small"
    JUDGE = "judge"
    TOO_FEW_SETS = "too_few_sets"
    NOTHING = "nothing"


_TRUSTING = (
    "the forecast takes the judge's probabilities at their word: of claims to which it gives 80 %, people would say "
    "yes to 80 %. Where it is surer than it is right, intervals come out wider. A first draw shows how far that holds, "
    "and the next forecast goes by it."
)


def basis_in_words(basis: Basis, pilot: Progress | None) -> str:
    """What the forecast goes by and what it assumes."""
    match basis:
        case Basis.PILOT if pilot is not None:
            return (
                f"The forecast goes by the draw of {pilot.created_at:%Y-%m-%d}: how far the judge was off on its "
                f"{pilot.drawn:,} answered checks. It assumes that people go on answering alike; the fewer these "
                "answers are, the rougher it is. Estimates go by the latest draw that is answered, so a new one with "
                "fewer checks would make intervals wider."
            )
        case Basis.PILOT_TOO_SMALL if pilot is not None:
            return (
                f"The draw of {pilot.created_at:%Y-%m-%d} holds answers in fewer than two document sets for some "
                f"system, so nothing is forecast from it. Instead {_TRUSTING}"
            )
        case Basis.TOO_FEW_SETS:
            return "No system has two document sets or more with claims, so no interval can be foretold."
        case Basis.NOTHING:
            return (
                "No judge has given a probability for any claim of the reference side, so nothing can be foretold. "
                "A run of the deciding judge gives them."
            )
    return f"No draw has been answered yet: {_TRUSTING}"


def hours_in_words(seconds: float | None, timed: int) -> str:
    """How long a check takes people, and how that is known."""
    if seconds is None:
        return "Nobody's time at a check is known yet, so no hours are told."
    answers = "the 1 timed answer" if timed == 1 else f"the {timed:,} newest timed answers"
    return f"Hours are at {seconds:.0f} s a check, the median of {answers} in this project."


def wanted_in_words(
    width: float, sizes: Mapping[Design, int | None], short: Sequence[Short], systems: int
) -> str:
    """The smallest of the planned sizes that reaches a width, or how many document sets it takes."""
    goal = f"No interval wider than {width:g}"
    if short:
        return f"{goal}: no number of answers does it, only more document sets. {_short_in_words(short, systems)}"
    people = sizes.get("people")
    with_judge = [(design, size) for design, size in sizes.items() if design != "people" and size is not None]
    if not with_judge:
        return f"{goal}: {people:,} answers do it, with people alone."
    least = min(size for _, size in with_judge)
    designs = _either([DESIGN_NAMES[design] for design, size in with_judge if size == least])
    alone = "no size does" if people is None else f"it takes {people:,}"
    return f"{goal}: {least:,} answers do it in a draw that is {designs}; with people alone {alone}."


def _short_in_words(short: Sequence[Short], systems: int) -> str:
    worst = max(short, key=lambda each: each.needed)
    needs = f"about {worst.needed:,} instead of {worst.held:,}, every check in them answered"
    if len(short) == 1:
        return f"{worst.system} would need {needs}{'; the others have enough' if systems > 1 else ''}."
    of_all = "Every system" if len(short) == systems else f"{len(short)} of {systems} systems"
    return f"{of_all} would need more, most of all {worst.system}: {needs}."


def documents_in_words(documents: int) -> str:
    """What the number of document sets allows; empty where it is enough."""
    if documents < TOO_FEW_DOCUMENTS:
        return (
            f"{_sets(documents)} here. Below {TOO_FEW_DOCUMENTS} an estimate leans on people's drawn answers alone, "
            "so nothing is foretold of what the judge would add."
        )
    if documents < FEW_DOCUMENTS:
        return f"{_sets(documents)} here. Below {FEW_DOCUMENTS} an interval may miss more often than it says."
    return ""


def _sets(documents: int) -> str:
    return "There is 1 document set" if documents == 1 else f"There are {documents} document sets"


def _either(words: list[str]) -> str:
    return ", ".join(words[:-1]) + " or " + words[-1] if len(words) > 1 else words[0]
