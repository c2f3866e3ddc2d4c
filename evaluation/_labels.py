"""The answers that a check can have, and counting them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from evaluation.errors import InvalidLabel

Label = Literal["yes", "no", "unsure"]
"""A verdict on a check; None in its place means unscored: no usable answer."""

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
"""Where a label stands between no and yes, for how far answers lie apart. In scores all but yes count as not yes."""
_told_values = [f"{label} {f'{value:g}'.lstrip('0') or '0'}" for label, value in LABEL_VALUES.items()]
LABEL_VALUES_IN_WORDS = ", ".join(_told_values).replace(" ", " is ", 1)


LEAST_SCORED = 0.5
"""The share of claims or questions that has to be scored, unless somebody chooses another."""
MOSTLY_UNSCORED = "mostly_unscored"
MOST_UNSCORED = 0.1
"""A summary with a larger share of claims without a usable answer is flagged."""

FEWEST_CLAIMS = 3
FEW_CLAIMS = "few_claims"
"""Flags a reference of fewer claims: each weighs much, and its text may not have been read well."""


def lacks_scored(scored: int, count: int, least: float) -> bool:
    """Whether less than the least share of so many is scored, so that a score of the rest could flatter."""
    return count > 0 and scored / count < least


@dataclass(frozen=True, slots=True)
class LabelCounts:
    """How many checks were answered yes, were answered at all, and were not."""

    yes: int
    scored: int
    unscored: int

    @property
    def share_of_yes(self) -> float | None:
        """Yes over scored, in [0, 1]; all other labels count as not yes. None where nothing is scored."""
        return self.yes / self.scored if self.scored else None

    def lacks_scored(self, least: float) -> bool:
        """See the function of that name."""
        return lacks_scored(self.scored, self.scored + self.unscored, least)


def checked_labels(labels: Iterable[Label | None]) -> list[Label | None]:
    """The labels as a list. Raises InvalidLabel, naming the position, where one is not a label."""
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
    """Counts of the labels. Raises InvalidLabel where one is not a label."""
    checked = checked_labels(labels)
    unscored = checked.count(None)
    return LabelCounts(yes=checked.count("yes"), scored=len(checked) - unscored, unscored=unscored)
