"""The summaries of a project in the order of every export, a batch at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from django.db.models import F, QuerySet

from annotation.core.paging import batches
from annotation.models import Summary

if TYPE_CHECKING:
    from annotation.core.tables.columns import TableRow
    from annotation.models import Project

PEERS_AT_ONCE = 500
"""Summaries in a batch; a level's number of queries grows with batches, never with rows."""


class Peer(NamedTuple):
    pk: int
    document_id: str
    system: str
    target_words: int | None

    def head(self, project: Project) -> TableRow:
        """What each of its rows begins with."""
        return (project.slug, self.document_id, self.system, self.target_words)


def ordered_peers(project: Project) -> QuerySet[Summary]:
    """Summaries by document, system and target length, those without a target first."""
    return Summary.objects.filter(document_set__project=project, is_peer=True).order_by(
        "document_set__external_id", "system__name", F("target_words").asc(nulls_first=True), "pk"
    )


def peer_batches(project: Project) -> Iterator[list[Peer]]:
    """The summaries as a stream of batches: one query for all of them."""
    rows = ordered_peers(project).values_list(
        "pk", "document_set__external_id", "system__name", "target_words"
    )
    return batches((Peer(*row) for row in rows.iterator(chunk_size=PEERS_AT_ONCE)), PEERS_AT_ONCE)
