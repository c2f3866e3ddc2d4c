"""Level `systems`: one row per system, target length and score."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from annotation.exports.columns import HEAD, Column, Kind, Level, Row, number
from annotation.queries.leaderboard import leaderboard

if TYPE_CHECKING:
    from annotation.exports.people import People
    from annotation.models import Project

COLUMNS = (
    *HEAD,
    Column("score"),
    Column("n", Kind.INTEGER),
    Column("mean", Kind.NUMBER),
    Column("low", Kind.NUMBER),
    Column("high", Kind.NUMBER),
)


def rows(project: Project, people: People) -> Iterator[Row]:
    """`n` counts the document sets behind a mean; an average over them has no `document_id`."""
    board = leaderboard(project)
    found = [(row, table.target_words) for table in board.tables for row in table.rows]
    for row, target in sorted(found, key=lambda pair: (pair[0].system, pair[1] or 0)):
        for name, average in row.scores.items():
            yield (
                project.slug,
                None,
                row.system,
                target,
                name,
                average.n,
                number(average.mean),
                number(average.low),
                number(average.high),
            )


LEVEL = Level("systems", COLUMNS, rows)
