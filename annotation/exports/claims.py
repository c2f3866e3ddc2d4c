"""Level `claims`: one row per check of an active claim."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from annotation.core.tables.columns import HEAD, Column, ColumnKind, Level, TableRow, number
from annotation.exports.peers import peer_batches
from annotation.exports.statements import CheckStatements, reference_of, statements
from annotation.models import Check, Label
from annotation.models.claim import OF_CLAIMS

if TYPE_CHECKING:
    from annotation.core.tables.pseudonyms import People
    from annotation.models import Project

COLUMNS = (
    *HEAD,
    Column("reference_id"),
    Column("claim_id"),
    Column("side"),
    Column("unit", ColumnKind.INTEGER),
    Column("weight", ColumnKind.NUMBER),
    Column("claim"),
    Column("judge_label"),
    Column("judge_confidence", ColumnKind.NUMBER),
    Column("judge_reason"),
    Column("human_label"),
    Column("human_reason"),
    Column("final_label"),
    Column("final_source"),
    Column("decided_by"),
    Column("decided_at", ColumnKind.MOMENT),
    Column("evidence", ColumnKind.INTEGERS),
)


_NOTHING = CheckStatements()


def rows(project: Project, people: People) -> Iterator[TableRow]:
    """Rows of a summary stand by side, reference and place of the claim."""
    for batch in peer_batches(project):
        peer_ids = [peer.pk for peer in batch]
        checks = _checks(peer_ids)
        said = statements(project, peer_ids, people)
        for peer in batch:
            head = peer.head(project)
            for check in checks.get(peer.pk, ()):
                yield _row(head, check, said.get(check.pk, _NOTHING))


def judge_confidence(label: str | None, probability: float | None) -> float | None:
    """How sure a judge is of its own label, from its probability of yes.

    In [0, 1]: p for yes, 1 - p for no. None without a probability, and for other labels: the probability
    of yes says nothing of how firmly a judge cannot tell.
    """
    if probability is None or label not in (Label.YES, Label.NO):
        return None
    return number(probability if label == Label.YES else 1 - probability)


def _checks(peer_ids: Sequence[int]) -> dict[int, list[Any]]:
    """The checks of each summary: reference side first, then by reference and place in it."""
    found: dict[int, list[Any]] = defaultdict(list)
    asked = Check.objects.filter(OF_CLAIMS, peer_id__in=peer_ids, is_current=True)
    for row in asked.order_by().values_list(
        "pk",
        "peer_id",
        "side",
        "claim__public_id",
        "claim__text",
        "claim__weight",
        "claim__unit__position",
        "claim__claim_set__summary_id",
        "claim__claim_set__summary__external_id",
        "claim__position",
        "judge_label",
        "judge_probability",
        "human_label",
        "final_label",
        "final_source",
        "unscored_reason",
        named=True,
    ):
        found[row.peer_id].append(row)
    of_peers = Check.Side.PEER.value
    for checks in found.values():
        checks.sort(
            key=lambda row: (
                row.side == of_peers,
                row.claim__claim_set__summary__external_id or "",
                row.claim__claim_set__summary_id or 0,
                row.claim__position,
                row.pk,
            )
        )
    return found


def _row(head: TableRow, check: Any, said: CheckStatements) -> TableRow:
    judge = said.judge or said.failure
    human = said.adjudicator or said.reviewer
    deciding = said.deciding(check.final_source)
    return (
        *head,
        reference_of(check.side, check.claim__claim_set__summary__external_id),
        check.claim__public_id,
        check.side,
        check.claim__unit__position,
        number(check.claim__weight),
        check.claim__text,
        check.judge_label,
        judge_confidence(check.judge_label, check.judge_probability),
        (judge.reason if judge else check.unscored_reason) or None,
        check.human_label,
        human.reason or None if human else None,
        check.final_label,
        check.final_source,
        deciding.by if deciding else None,
        deciding.at if deciding else None,
        list(deciding.evidence) if deciding else None,
    )


LEVEL = Level("claims", COLUMNS, rows)
