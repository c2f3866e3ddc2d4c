"""Summaries of a project for exports, and the level `scores`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from django.db.models import F, QuerySet

from annotation.core.paging import batches
from annotation.core.tables.columns import HEAD, Column, ColumnKind, Level, TableRow, columns, number
from annotation.models import SCORES, Summary
from annotation.scoring.own_scores import COMPOSITE, composites_of

if TYPE_CHECKING:
    from annotation.core.tables.pseudonyms import People
    from annotation.models import Project

SUMMARIES_AT_ONCE = 500
"""Summaries per batch."""
_ROWS_AT_ONCE = 2000
_HEAD = ("pk", "document_set__external_id", "system__name", "target_words")


def ordered_summaries(project: Project) -> QuerySet[Summary]:
    """Return the summaries by document, system and target length; summaries without a target come first."""
    return Summary.objects.filter(document_set__project=project, is_summary=True).order_by(
        "document_set__external_id", "system__name", F("target_words").asc(nulls_first=True), "pk"
    )


def summary_batches(project: Project) -> Iterator[list[tuple[int, TableRow]]]:
    """Yield the keys of a project's summaries in batches, each with the first columns of the summary's rows."""
    rows = ordered_summaries(project).values_list(*_HEAD).iterator(chunk_size=SUMMARIES_AT_ONCE)
    return batches(((pk, (project.slug, *columns)) for pk, *columns in rows), SUMMARIES_AT_ONCE)


def _scores(project: Project, people: People) -> Iterator[TableRow]:
    columns = ("summary_words", *SCORES, "passed", "claims", "claims_unscored", "flags")
    values = ordered_summaries(project).values_list(*_HEAD, *(f"score__{name}" for name in columns))
    first = len(HEAD)
    last = first + len(SCORES)
    for batch in batches(values.iterator(chunk_size=_ROWS_AT_ONCE), _ROWS_AT_ONCE):
        own = composites_of(project, summary__in=[key for key, *_ in batch])
        for key, *row in batch:
            yield (project.slug, *row[:first], *map(number, row[first:last]), *row[last:], own.get(key))


SCORES_LEVEL = Level(
    "scores",
    HEAD
    + columns("summary_words:integer")
    + tuple(Column(name, ColumnKind.NUMBER) for name in SCORES)
    + columns(f"passed:flag claims:integer claims_unscored:integer flags:texts {COMPOSITE}:number"),
    _scores,
)
