"""Level `scores`: one row per summary."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from annotation.core.tables.columns import HEAD, Column, ColumnKind, Level, TableRow, number
from annotation.exports.peers import ordered_peers
from annotation.models import SCORES

if TYPE_CHECKING:
    from annotation.core.tables.pseudonyms import People
    from annotation.models import Project

COLUMNS = (
    *HEAD,
    Column("peer_words", ColumnKind.INTEGER),
    *(Column(name, ColumnKind.NUMBER) for name in SCORES),
    Column("claims", ColumnKind.INTEGER),
    Column("claims_unscored", ColumnKind.INTEGER),
    Column("flags", ColumnKind.TEXTS),
)
_ROWS_AT_ONCE = 2000


def rows(project: Project, people: People) -> Iterator[TableRow]:
    """A summary that was never scored has empty scores."""
    values = ordered_peers(project).values_list(
        "document_set__external_id",
        "system__name",
        "target_words",
        "score__peer_words",
        *(f"score__{name}" for name in SCORES),
        "score__claims",
        "score__claims_unscored",
        "score__flags",
    )
    first, last = len(HEAD), len(HEAD) + len(SCORES)
    for row in values.iterator(chunk_size=_ROWS_AT_ONCE):
        yield (project.slug, *row[:first], *map(number, row[first:last]), *row[last:])


LEVEL = Level("scores", COLUMNS, rows)
