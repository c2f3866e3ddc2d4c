"""The systems of a table in the order of any of its columns."""

from __future__ import annotations

import pytest

from annotation.analysis.leaderboard.leaderboard import Average, SystemRow
from annotation.analysis.leaderboard.sorting import checked_sort, sorted_rows
from annotation.core.refusals import Invalid


def row(system: str, coverage: float | None, brevity: float | None, *, unscored: int = 0) -> SystemRow:
    return SystemRow(
        rank=None,
        system=system,
        system_id=system,
        kind="summariser",
        n=2,
        summaries=2,
        document_sets=2,
        claims=9,
        claims_unscored=unscored,
        flags={},
        scores={
            name: Average(mean, None, None, n=0 if mean is None else 2, left_out=0)
            for name, mean in (("coverage", coverage), ("brevity", brevity))
        },
    )


ROWS = [
    row("Alder", 0.2, None, unscored=3),
    row("birch", 0.9, 0.1),
    row("Cedar", 0.5, 0.4, unscored=1),
    row("dogwood", None, 0.3),
]


@pytest.mark.parametrize(
    ("sort", "order"),
    [
        ("", "birch Cedar Alder dogwood"),
        ("-rank", "Alder Cedar birch dogwood"),
        ("system", "Alder birch Cedar dogwood"),
        ("-system", "dogwood Cedar birch Alder"),
        ("coverage", "Alder Cedar birch dogwood"),
        # Without a value last, whichever way; among equals the order of ranks stays.
        ("brevity", "birch dogwood Cedar Alder"),
        ("-brevity", "Cedar dogwood birch Alder"),
        ("-unscored", "Alder Cedar birch dogwood"),
        ("-sets", "birch Cedar Alder dogwood"),
    ],
)
def test_rows_are_sorted_by_a_column(sort: str, order: str) -> None:
    assert [each.system for each in sorted_rows(ROWS, column="coverage", sort=sort)] == order.split()


def test_an_order_that_there_is_not_is_refused() -> None:
    assert checked_sort("-brevity") == "-brevity"
    assert checked_sort("rank") == ""
    with pytest.raises(Invalid):
        checked_sort("password")
