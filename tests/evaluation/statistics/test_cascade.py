"""The frontier of a second opinion: cost and error by hand, and no document's risk learned from its own answers."""

from typing import Any

import pytest

from evaluation.errors import InvalidWeight, LengthMismatch
from evaluation.judging import Label
from evaluation.statistics import CascadePoint, cascade_frontier

DOCUMENTS = [str(number) for number in range(20)]
CHEAP: list[Label | None] = ["yes"] * 20
# It is sure of the first sixteen, and of these right; of the last four, on which it is wrong, it is not.
CHANCES: list[float | None] = [0.95] * 16 + [0.55] * 4
HUMAN: list[Label | None] = [*["yes"] * 16, *["no"] * 4]
DEAR: list[Label | None] = [*["yes"] * 16, *["no"] * 3, "yes"]


def frontier(**changes: Any) -> tuple[CascadePoint, ...]:
    columns: dict[str, Any] = {
        "cheap": CHEAP,
        "probabilities": CHANCES,
        "dear": DEAR,
        "human": HUMAN,
        "documents": DOCUMENTS,
    }
    costs: dict[str, Any] = {"cheap_cost": 1.0, "dear_cost": 10.0, "shares": (0.0, 0.1, 0.2, 1.0)}
    return cascade_frontier(**{**columns, **costs, **changes})


def test_the_riskiest_are_asked_first() -> None:
    points = frontier()
    # Wrong on 4 of 20 alone; a tenth asked rights two, or one with that which the dear judge has wrong; a fifth three.
    assert [point.cost for point in points] == pytest.approx([1.0, 2.0, 3.0, 11.0])
    errors = [point.error.value for point in points]
    assert (errors[0], errors[2], errors[3]) == (0.2, 0.05, 0.05)
    assert errors[1] in (0.1, 0.15)
    assert points[0].risk == 1.0
    assert points[2].risk > points[3].risk


def test_a_call_is_paid_for_whole_where_one_of_its_checks_is_asked() -> None:
    points = frontier()
    # Of five calls one holds none of what is asked first; another only what is asked with the last fifth.
    calls = [1.0, points[1].risk, points[2].risk, points[2].risk, 0.0]
    costs = [point.cost for point in frontier(call_risks=calls)]
    assert costs == pytest.approx([1.0, 1 + 10 * 2 / 5, 1 + 10 * 4 / 5, 11.0])


def test_where_it_was_wrong_before_counts_as_well_as_its_doubt() -> None:
    # Half of its all but sure yes are wrong, all of its less sure no are right: people's answers in other documents say
    # so, and the yes are asked about first. By its own doubt the no would be, and the error would stay at .25.
    people = ["yes", "no"] * 5 + ["no"] * 10
    points = frontier(
        cheap=["yes"] * 10 + ["no"] * 10,
        probabilities=[0.95] * 10 + [0.3] * 10,
        human=people,
        dear=people,
        shares=(0.0, 0.5),
    )
    assert [point.error.value for point in points] == [0.25, 0.0]


def test_what_a_side_left_open_is_left_out() -> None:
    points = frontier(cheap=[None, *CHEAP[1:]], human=[*HUMAN[:-1], None])
    assert points[0].error.value == pytest.approx(3 / 18)
    assert cascade_frontier([None], [None], ["yes"], ["yes"], ["a"], cheap_cost=0, dear_cost=1) == ()


def test_refuses() -> None:
    with pytest.raises(LengthMismatch):
        frontier(dear=DEAR[1:])
    with pytest.raises(InvalidWeight):
        frontier(dear_cost=-1.0)
