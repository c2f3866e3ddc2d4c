"""The rows of the export level `systems`: a row per system, target length and score."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from annotation.analysis.leaderboard.leaderboard import Leaderboard, leaderboard, means_at
from annotation.analysis.slices.slices import Slices, slices
from annotation.analysis.slices.split import chosen_split, splits
from annotation.core.tables.columns import HEAD, Cell, Level, TableRow, columns, number

if TYPE_CHECKING:
    from annotation.core.tables.pseudonyms import People
    from annotation.models import Project

SYSTEM_COLUMNS = HEAD + columns("score n:integer mean:number low:number high:number basis slice")


def rows(project: Project, people: People, *, key: str = "") -> Iterator[TableRow]:
    """Yield a row per system, target length and score. The column `document_id` is empty.

    `basis` names the source of the value. With a `key`, rows for each slice follow; the row of a slice with fewer than
    10 document sets has neither n nor mean. Raises Invalid for a key that splits nothing.
    """
    split = chosen_split(splits(project), key)
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
                None,
            )
    if split is None:
        return
    for table in board.tables:
        means = means_at(project, table.target_words)
        for name in table.scores_held:
            yield from _of_slices(project, slices(project, split, table, score=name, means=means))


def _of_slices(project: Project, found: Slices) -> Iterator[TableRow]:
    for row in found.systems:
        for cell in row.cells:
            mean = cell.mean
            yield (
                *(project.slug, None, row.system, found.target_words, found.score),
                *((mean.documents, mean.mean, mean.low, mean.high) if mean else (None, None, None, None)),
                *(found.basis, cell.slice),
            )


def league_rows(board: Leaderboard) -> Iterator[Mapping[str, Cell]]:
    """Yield a row per system, target length and score of a leaderboard, in its order.

    `rank` and `letters` belong to the ranked score. `basis` names the source of the value, and `caption` the scope of
    its interval.
    """
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
