"""The rows of the export level `systems`: one per system, target length and score."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from annotation.analysis.leaderboard.leaderboard import Leaderboard, leaderboard
from annotation.analysis.leaderboard.sorting import sorted_rows
from annotation.core.tables.columns import HEAD, Cell, Column, ColumnKind, Level, TableRow, number

if TYPE_CHECKING:
    from annotation.core.tables.pseudonyms import People
    from annotation.models import Project

SYSTEM_COLUMNS = (
    *HEAD,
    Column("score"),
    Column("n", ColumnKind.INTEGER),
    Column("mean", ColumnKind.NUMBER),
    Column("low", ColumnKind.NUMBER),
    Column("high", ColumnKind.NUMBER),
)


def rows(project: Project, people: People) -> Iterator[TableRow]:
    """Rows of averages. `n` counts the document sets behind a mean; an average has no `document_id`."""
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


LEAGUE_COLUMNS = (
    "target_words",
    "rank",
    "letters",
    "system",
    "score",
    "n",
    "mean",
    "low",
    "high",
    "summaries",
    "claims",
    "claims_unscored",
    "caption",
)
"""The columns of a leaderboard as one small table; `rank` and `letters` belong to the ranked score.

`caption` describes the population that the interval covers; it is a column because CSV has no other place
for it.
"""


def league_rows(board: Leaderboard, *, sort: str = "") -> Iterator[Mapping[str, Cell]]:
    """Every system, target length and score of a leaderboard, in its order or by `sort`."""
    for table in board.tables:
        for row in sorted_rows(table.rows, column=board.score, sort=sort):
            place = table.ranking.places.get(row.system) if table.ranking else None
            for name, average in row.scores.items():
                yield {
                    "target_words": table.target_words,
                    "rank": row.rank,
                    "letters": place.letters if place else None,
                    "system": row.system,
                    "score": name,
                    "n": average.n,
                    "mean": average.mean,
                    "low": average.low,
                    "high": average.high,
                    "summaries": row.summaries,
                    "claims": row.claims,
                    "claims_unscored": row.claims_unscored,
                    "caption": table.caption_of(name),
                }


SYSTEMS_LEVEL = Level("systems", SYSTEM_COLUMNS, rows)
