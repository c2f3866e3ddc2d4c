"""The matrix of all pairs of systems, and the names of target lengths in addresses."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from annotation.analysis.leaderboard.ranking import Ranking, SystemPair

WITHOUT_TARGET = "none"
HEATS = 5
"""The number of shades in the matrix of differences."""


@dataclass(frozen=True, slots=True)
class MatrixCell:
    """A cell of the matrix. Above the diagonal it shows the difference, row minus column; below it the corrected p.

    `heat` (1 to 5) is the size of a significant difference relative to the largest difference; it is 0 for other
    pairs.
    """

    pair: SystemPair
    is_above: bool
    heat: int


def matrix(found: Ranking, order: Sequence[str]) -> list[tuple[str, list[MatrixCell | None]]]:
    """Compare each system with all others. Rows and columns have the given order; cells on the diagonal are None."""
    largest = max((abs(pair.difference or 0.0) for pair in found.compared), default=0.0)
    cells: dict[tuple[str, str], MatrixCell] = {}
    for pair in found.compared:
        heat = math.ceil(HEATS * abs(pair.difference or 0.0) / largest) if pair.holds else 0
        cells[pair.first, pair.second] = MatrixCell(pair, True, heat)
        cells[pair.second, pair.first] = MatrixCell(pair, False, heat)
    return [(row, [cells.get((row, column)) for column in order]) for row in order]


def target_word(target_words: int | None) -> str:
    """Return the name of a target length in keys and addresses."""
    return WITHOUT_TARGET if target_words is None else str(target_words)
