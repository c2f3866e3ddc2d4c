"""Marks: the summary units that express part of each reference unit."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from evaluation._guards import check_same_length, checked_percent
from evaluation.errors import InvalidMark

MarkWarningCode = Literal["percent_without_marks", "marks_with_zero_percent"]

_MESSAGES: dict[MarkWarningCode, str] = {
    "percent_without_marks": "Reference unit {unit} has {percent:g} % but no summary unit is marked for it.",
    "marks_with_zero_percent": "Reference unit {unit} has marked summary units but 0 %.",
}


@dataclass(frozen=True, slots=True)
class MarkWarning:
    """A judgment that is allowed but is probably a mistake."""

    reference_unit: int
    code: MarkWarningCode
    message: str


@dataclass(frozen=True, slots=True)
class Marks:
    """All marks of one comparison. A unit can have any number of marks; units are numbered from 1.

    `links` has a pair (reference unit, summary unit) for each mark.
    Raises InvalidMark for a mark on a unit that does not exist.
    """

    reference_units: int
    summary_units: int
    links: frozenset[tuple[int, int]] = frozenset()

    def __post_init__(self) -> None:
        for reference_unit, summary_unit in sorted(self.links):
            if not 1 <= reference_unit <= self.reference_units:
                raise InvalidMark(
                    f"There is no reference unit {reference_unit}; they run from 1 to {self.reference_units}."
                )
            if not 1 <= summary_unit <= self.summary_units:
                raise InvalidMark(
                    f"There is no summary unit {summary_unit}; they run from 1 to {self.summary_units}."
                )

    @classmethod
    def of(cls, marks: Mapping[int, Iterable[int]], *, reference_units: int, summary_units: int) -> "Marks":
        """Make marks from a mapping of reference units to the summary units that are marked for them.

        Raises InvalidMark.
        Example: `Marks.of({1: [2, 3], 2: [3]}, reference_units=2, summary_units=4)` leaves 1 and 4 unmarked.
        """
        links = frozenset(
            (reference, summary) for reference, summaries in marks.items() for summary in summaries
        )
        return cls(reference_units=reference_units, summary_units=summary_units, links=links)

    def of_reference_unit(self, reference_unit: int) -> frozenset[int]:
        """Return the summary units that are marked for this reference unit."""
        return frozenset(summary for reference, summary in self.links if reference == reference_unit)

    @property
    def marked(self) -> frozenset[int]:
        """Return the summary units with at least one mark (their number is column 24 of a DUC 2002 table)."""
        return frozenset(summary for _, summary in self.links)

    @property
    def unmarked(self) -> tuple[int, ...]:
        """Return the summary units without a mark, in order (their number is column 25 of a DUC 2002 table)."""
        marked = self.marked
        return tuple(unit for unit in range(1, self.summary_units + 1) if unit not in marked)

    def warnings(self, percents: Sequence[float | None]) -> tuple[MarkWarning, ...]:
        """Find judgments that look like mistakes: a percent without marks, or marks with 0 %.

        `percents` are 0 to 100, one per reference unit in order; None means not judged yet. Raises LengthMismatch,
        InvalidPercent.
        Source: the DUC protocol pages allow such judgments, so they cause only warnings.
        """
        check_same_length("percents", percents, "reference units", range(self.reference_units))
        warnings = []
        for unit, percent in enumerate(percents, start=1):
            has_marks = bool(self.of_reference_unit(unit))
            if percent is not None and (checked_percent(percent) > 0) != has_marks:
                code: MarkWarningCode = "marks_with_zero_percent" if has_marks else "percent_without_marks"
                message = _MESSAGES[code].format(unit=unit, percent=percent)
                warnings.append(MarkWarning(reference_unit=unit, code=code, message=message))
        return tuple(warnings)
