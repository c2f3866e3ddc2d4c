"""The possible answers to a check, and counts of them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from evaluation.errors import InvalidLabel

Label = Literal["yes", "no", "unsure"]
"""A verdict on a check. None in its place means unscored: there is no usable answer."""

LABELS: tuple[Label, ...] = get_args(Label)
_ANSWERS = (None, *LABELS)
LABELS_IN_WORDS = f"{', '.join(LABELS[:-1])} or {LABELS[-1]}"
LABEL_SYNONYMS: Mapping[Label, tuple[str, ...]] = {
    "yes": ("true", "1", "supported"),
    "no": ("false", "0", "unsupported", "not supported", "contradicted"),
    "unsure": ("partial", "partially", "partly", "uncertain"),
}
"""Other words that replies and files use for a label."""

LABEL_VALUES: Mapping[str, float] = {"yes": 1.0, "unsure": 0.5, "no": 0.0}
"""The position of a label between no and yes.

In scores, every label except yes counts as not yes.
"""
_value_texts = [f"{label} {f'{value:g}'.lstrip('0') or '0'}" for label, value in LABEL_VALUES.items()]
LABEL_VALUES_IN_WORDS = ", ".join(_value_texts).replace(" ", " is ", 1)


LEAST_SCORED = 0.5
"""The default of `least_scored`."""
MOSTLY_UNSCORED = "mostly_unscored"
MOST_UNSCORED = 0.1
"""The flag "unscored:N" needs a larger share of unscored claims."""

FEWEST_CLAIMS = 3
FEW_CLAIMS = "few_claims"
"""The flag of a summary that is compared with one or two claims."""


def lacks_scored(scored: int, count: int, least: float) -> bool:
    """Return True if the scored share of `count` items is smaller than `least`.

    Without items the result is False.
    """
    return count > 0 and scored / count < least


@dataclass(frozen=True, slots=True)
class LabelCounts:
    """The numbers of labels yes, of scored items, and of unscored items (None)."""

    yes: int
    scored: int
    unscored: int

    @property
    def share_of_yes(self) -> float | None:
        """Return the labels yes divided by the scored items; None if nothing is scored."""
        return self.yes / self.scored if self.scored else None

    def lacks_scored(self, least: float) -> bool:
        """Return True if a smaller share than `least` is scored."""
        return lacks_scored(self.scored, self.scored + self.unscored, least)


def checked_labels(labels: Iterable[Label | None]) -> list[Label | None]:
    """Return the labels as a list. Raises InvalidLabel, which names the position of the first invalid label."""
    checked = list(labels)
    if all(map(_ANSWERS.__contains__, checked)):
        return checked
    for position, label in enumerate(checked):
        if label is not None and label not in LABELS:
            raise InvalidLabel(
                f"Label {position} is {label!r}; it must be {', '.join(map(repr, LABELS))}, or None for unscored."
            )
    return checked


def count_labels(labels: Iterable[Label | None]) -> LabelCounts:
    """Count the labels; None is unscored. Raises InvalidLabel."""
    checked = checked_labels(labels)
    unscored = checked.count(None)
    return LabelCounts(yes=checked.count("yes"), scored=len(checked) - unscored, unscored=unscored)
