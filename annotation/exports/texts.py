"""Level `texts`: one row per source document, model summary and peer summary, whole as they came in."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from django.db.models import F

from annotation.core.paging import batches
from annotation.core.tables.columns import HEAD, Column, ColumnKind, Level, TableRow
from annotation.models import Document, DocumentSet, Summary

if TYPE_CHECKING:
    from annotation.core.tables.pseudonyms import People
    from annotation.models import Project

SETS_AT_ONCE = 100
"""Document sets in a batch: sources may be long."""

COLUMNS = (
    *HEAD,
    Column("kind"),
    Column("position", ColumnKind.INTEGER),
    Column("reference_id"),
    Column("group"),
    Column("language"),
    Column("text"),
)


def rows(project: Project, people: People) -> Iterator[TableRow]:
    """By document set: its documents in their order, then model summaries, then peer summaries by system.

    `kind` is document, reference or summary. A text that serves as model and as peer summary has a row for either.
    """
    sets = DocumentSet.objects.filter(project=project).order_by("external_id")
    for batch in batches(sets.iterator(chunk_size=SETS_AT_ONCE), SETS_AT_ONCE):
        yield from _rows_of(project, batch)


def _rows_of(project: Project, batch: Sequence[DocumentSet]) -> Iterator[TableRow]:
    texts: defaultdict[int, list[tuple[TableRow, TableRow, str]]] = defaultdict(list)
    documents = Document.objects.filter(document_set__in=batch).order_by("document_set_id", "position")
    for key, position, text in documents.values_list("document_set_id", "position", "text"):
        texts[key].append(((None, None), ("document", position, None), text))
    written = Summary.objects.filter(document_set__in=batch).order_by(
        "system__name", F("target_words").asc(nulls_first=True), "external_id", "pk"
    )
    for kind, of_this in (
        ("reference", written.filter(is_model=True)),
        ("summary", written.filter(is_peer=True)),
    ):
        columns = ("document_set_id", "system__name", "target_words", "external_id", "text")
        for key, system, target, name, text in of_this.values_list(*columns):
            reference = (name or None) if kind == "reference" else None
            texts[key].append(((system, target), (kind, None, reference), text))
    for each in batch:
        for of_system, of_kind, text in texts[each.pk]:
            yield (
                project.slug,
                each.external_id,
                *of_system,
                *of_kind,
                each.group or None,
                each.language,
                text,
            )


LEVEL = Level("texts", COLUMNS, rows)
