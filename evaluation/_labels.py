"""The answers that a check can have, and counting them."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, get_args

from evaluation.errors import InvalidLabel

Label = Literal["yes", "no", "unsure"]
"""A verdict on a check; None in its place means unscored: no usable answer."""

_LABELS: frozenset[str] = frozenset(get_args(Label))


@dataclass(frozen=True, slots=True)
class LabelCounts:
    """How many checks were answered yes, were answered at all, and were not."""

    yes: int
    scored: int
    unscored: int

    @property
    def share_of_yes(self) -> float | None:
        """Yes over scored, in [0, 1]; `unsure` counts as not yes. None where nothing is scored."""
        return self.yes / self.scored if self.scored else None


def checked_labels(labels: Iterable[Label | None]) -> list[Label | None]:
    """The labels as a list. Raises InvalidLabel, naming the position, where one is not a label."""
    checked = list(labels)
    for position, label in enumerate(checked):
        if label is not None and label not in _LABELS:
            raise InvalidLabel(
                f"Label {position} is {label!r}; it must be 'yes', 'no', 'unsure', or None for unscored."
            )
    return checked


def count_labels(labels: Iterable[Label | None]) -> LabelCounts:
    """Counts of the labels. Raises InvalidLabel where one is not a label."""
    checked = checked_labels(labels)
    unscored = checked.count(None)
    return LabelCounts(yes=checked.count("yes"), scored=len(checked) - unscored, unscored=unscored)
