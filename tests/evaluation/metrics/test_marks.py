import pytest

from evaluation.errors import InvalidMark, LengthMismatch
from evaluation.metrics._marks import Marks

MARKS = Marks.of({1: [2, 3], 2: [3], 3: []}, reference_units=3, summary_units=5)


def test_marks_are_many_to_many() -> None:
    assert MARKS.of_reference_unit(1) == {2, 3}
    assert MARKS.of_reference_unit(2) == {3}
    assert MARKS.of_reference_unit(3) == frozenset()


def test_counts_are_those_of_the_duc_table() -> None:
    # Columns 23 to 25: summary units, marked, unmarked.
    assert (MARKS.summary_units, len(MARKS.marked), len(MARKS.unmarked)) == (5, 2, 3)
    assert MARKS.unmarked == (1, 4, 5)


def test_every_summary_unit_marked_as_in_the_published_row() -> None:
    # D061, target 50: 5 summary units, 5 marked, 0 unmarked, 7 reference units.
    marks = Marks.of({4: [1, 2], 5: [3], 6: [4], 7: [5]}, reference_units=7, summary_units=5)
    assert (len(marks.marked), len(marks.unmarked)) == (5, 0)


def test_equal_marks_are_equal_values() -> None:
    again = Marks.of({2: (3,), 1: {3, 2}}, reference_units=3, summary_units=5)
    assert again == MARKS
    assert hash(again) == hash(MARKS)


def test_slips_warn() -> None:
    warnings = MARKS.warnings([60, 0, 20])
    assert [(warning.reference_unit, warning.code) for warning in warnings] == [
        (2, "marks_with_zero_percent"),
        (3, "percent_without_marks"),
    ]
    assert warnings[1].message == "Reference unit 3 has 20 % but no summary unit is marked for it."


def test_what_is_consistent_or_open_does_not_warn() -> None:
    assert MARKS.warnings([60, None, 0]) == ()


@pytest.mark.parametrize(
    ("mark", "missing"),
    [({4: [1]}, "reference unit 4"), ({1: [6]}, "summary unit 6"), ({0: [1]}, "reference unit 0")],
)
def test_a_mark_on_a_missing_unit_is_refused(mark: dict[int, list[int]], missing: str) -> None:
    with pytest.raises(InvalidMark, match=missing):
        Marks.of(mark, reference_units=3, summary_units=5)


def test_percents_must_be_one_per_model_unit() -> None:
    with pytest.raises(LengthMismatch):
        MARKS.warnings([60])
