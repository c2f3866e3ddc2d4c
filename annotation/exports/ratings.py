"""Level `ratings`: one row per item and rater, as libraries for agreement want them after one pivot.

What is in it is what *Agreement* counts: the first answer of each person who had been told nothing. `judgments` has
every answer that was given.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from annotation.analysis.agreement.ratings import (
    PERCENTS,
    UNMARKED,
    RatedItem,
    Value,
    check_answers,
    percent_ratings,
    whole_ratings,
)
from annotation.core.tables.columns import HEAD, Column, ColumnKind, Level, TableRow
from annotation.exports.peers import peer_batches
from annotation.models import Check, Comparison, Summary
from evaluation.judging import LABEL_VALUES

if TYPE_CHECKING:
    from annotation.core.tables.pseudonyms import People
    from annotation.models import Project

COLUMNS = (
    *HEAD,
    Column("scale"),
    Column("item"),
    Column("rater"),
    Column("value"),
    Column("number", ColumnKind.NUMBER),
)


class _Rating(NamedTuple):
    peer_id: int
    scale: str
    item: str
    rater: str
    value: Value


def rows(project: Project, people: People) -> Iterator[TableRow]:
    """Rows of a summary stand by scale, then in the order in which they were given.

    An item is named by what was rated and the peer summary: `claim:peer`, `unit:peer`, or `peer` alone.
    """
    for batch in peer_batches(project):
        found: dict[int, list[_Rating]] = defaultdict(list)
        for rating in _ratings(project, [peer.pk for peer in batch], people):
            found[rating.peer_id].append(rating)
        for peer in batch:
            for _, scale, item, rater, value in found.get(peer.pk, ()):
                number = LABEL_VALUES[value] if isinstance(value, str) else float(value)
                yield (*peer.head(project), scale, item, rater, str(value), number)


def _ratings(project: Project, peer_ids: Sequence[int], people: People) -> Iterator[_Rating]:
    peers = dict(Summary.objects.filter(pk__in=peer_ids).values_list("public_id", "pk"))
    names = {pk: public_id for public_id, pk in peers.items()}
    yield from _of_checks(project, peer_ids, people, names)
    comparisons = dict(Comparison.objects.filter(peer_id__in=peer_ids).values_list("pk", "peer_id"))
    for rated in percent_ratings(project, peer_ids=peer_ids, people=people):
        comparison, _, unit = rated.item.partition(":")
        peer = comparisons[int(comparison)]
        yield _Rating(peer, PERCENTS, f"{unit}:{names[peer]}", rated.rater, rated.value)
    by_question, unmarked = whole_ratings(project, peer_ids=peer_ids, people=people)
    scales: dict[str, list[RatedItem]] = {f"quality-{key}": given for key, given in by_question.items()}
    for scale, given in (*scales.items(), (UNMARKED, unmarked)):
        for rated in given:
            yield _Rating(peers[rated.item], scale, rated.item, rated.rater, rated.value)


def _of_checks(
    project: Project, peer_ids: Sequence[int], people: People, names: dict[int, str]
) -> Iterator[_Rating]:
    answers = check_answers(project, by_rater=True, peer_ids=peer_ids, people=people)
    asked = Check.objects.filter(peer_id__in=peer_ids, is_current=True)
    columns = ("pk", "side", "peer_id", "claim__public_id")
    facts = {key: (side, peer, claim) for key, side, peer, claim in asked.values_list(*columns)}
    by_side: dict[str, list[_Rating]] = {side: [] for side in Check.Side.values}
    for answer in answers:
        side, peer, claim = facts[answer.check]
        by_side[side].append(
            _Rating(peer, f"verdicts-{side}", f"{claim}:{names[peer]}", answer.rater, answer.label)
        )
    for given in by_side.values():
        yield from given


LEVEL = Level("ratings", COLUMNS, rows)
