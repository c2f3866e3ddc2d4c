"""Levels with rows of summaries, and the level `scores`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
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
_HEAD = ("pk", "document_set__external_id", "system__name", "target_words")

PlacedRow = tuple[int | str, TableRow]
"""A row without its first columns, and the key of its summary, or the external id of its document set."""
Load = Callable[["Project", "People", Sequence[int]], Iterable[PlacedRow]]
"""A function that takes the project, the names of people, and the keys of some summaries."""


def ordered_summaries(project: Project) -> QuerySet[Summary]:
    """Return the summaries by document, system and target length; summaries without a target come first."""
    return Summary.objects.filter(document_set__project=project, is_summary=True).order_by(
        "document_set__external_id", "system__name", F("target_words").asc(nulls_first=True), "pk"
    )


def summary_level(name: str, columns: tuple[Column, ...], load: Load) -> Level:
    """Build a level from a function that loads the rows of a batch of summaries.

    Rows of a document set come before those of its first summary, and have neither system nor target length.
    """

    def rows(project: Project, people: People) -> Iterator[TableRow]:
        summaries = ordered_summaries(project).values_list(*_HEAD).iterator(chunk_size=SUMMARIES_AT_ONCE)
        last_set = None
        for batch in batches(summaries, SUMMARIES_AT_ONCE):
            found: dict[int | str, list[TableRow]] = defaultdict(list)
            for place, row in load(project, people, [pk for pk, *_ in batch]):
                found[place].append(row)
            for pk, document_set, *rest in batch:
                if document_set != last_set:
                    yield from ((project.slug, document_set, None, None, *row) for row in found[document_set])
                last_set = document_set
                yield from ((project.slug, document_set, *rest, *row) for row in found[pk])

    return Level(name, HEAD + columns, rows)


def _scores(project: Project, people: People, summary_ids: Sequence[int]) -> Iterator[PlacedRow]:
    names = ("summary_words", *SCORES, "passed", "claims", "claims_unscored", "flags")
    own = composites_of(project, summary__in=summary_ids)
    found = Summary.objects.filter(pk__in=summary_ids).order_by()
    last = len(SCORES)
    for pk, words, *facts in found.values_list("pk", *(f"score__{name}" for name in names)):
        yield pk, (words, *map(number, facts[:last]), *facts[last:], own.get(pk))


SCORES_LEVEL = summary_level(
    "scores",
    columns("summary_words:integer")
    + tuple(Column(name, ColumnKind.NUMBER) for name in SCORES)
    + columns(f"passed:flag claims:integer claims_unscored:integer flags:texts {COMPOSITE}:number"),
    _scores,
)
