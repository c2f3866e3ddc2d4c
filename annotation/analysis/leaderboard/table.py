"""The rows of the export level `systems`: a row per system, target length and score."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from annotation.analysis.leaderboard.leaderboard import Leaderboard, leaderboard
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
    Column("basis"),
)


def rows(project: Project, people: People) -> Iterator[TableRow]:
    """Yield a row per system, target length and score. The column `document_id` is empty.

    `n` counts the document sets of a mean, and `basis` names the source of the value.
    """
    board = leaderboard(project)
    found = [(row, table) for table in board.tables for row in table.rows]
    for row, table in sorted(found, key=lambda pair: (pair[0].system, pair[1].target_words or 0)):
        for name, average in row.scores.items():
            yield (
                project.slug,
                None,
                row.system,
                table.target_words,
                name,
                average.n,
                number(average.mean),
                number(average.low),
                number(average.high),
                table.bases[name].name,
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
    "basis",
    "caption",
)
"""The columns of a leaderboard as one small table; `rank` and `letters` belong to the ranked score.

`basis` names the source of the value and `caption` what its interval covers.
"""


def league_rows(board: Leaderboard) -> Iterator[Mapping[str, Cell]]:
    """Yield a row per system, target length and score of a leaderboard, in its order."""
    for table in board.tables:
        for row in table.rows:
            place = table.ranking.places.get(row.system)
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
                    "basis": table.bases[name].name,
                    "caption": table.bases[name].caption,
                }


SYSTEMS_LEVEL = Level("systems", SYSTEM_COLUMNS, rows)
