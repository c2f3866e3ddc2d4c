"""Level `answers`: one row per answer that anybody gave, those that no longer stand included.

`claim_id` names what was judged: a claim, for `question` the question, for `rating` the criterion by name.
`selected_by` and `inclusion_probability` are those of the random sample in which a verdict was given (the last one,
where several count the same answer).
`guideline_version` is the version of the guidelines that the person had before them. `blind` says of people's answers
whether they had seen nothing of the judge's and of others'; agreement and estimates use those alone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from annotation.core.tables.columns import HEAD, Column, ColumnKind, Level, TableRow, number
from annotation.exports.answers.answer import ExportedAnswer
from annotation.exports.answers.in_assignments import judge_shares, unit_judgments
from annotation.exports.answers.of_checks import answers_on_checks
from annotation.exports.answers.of_wholes import ratings
from annotation.exports.peers import peer_batches

if TYPE_CHECKING:
    from annotation.core.tables.pseudonyms import People
    from annotation.models import Project


COLUMNS = (
    *HEAD,
    Column("kind"),
    Column("reference_id"),
    Column("unit", ColumnKind.INTEGER),
    Column("claim_id"),
    Column("rater"),
    Column("rater_kind"),
    Column("value"),
    Column("evidence", ColumnKind.INTEGERS),
    Column("submitted_at", ColumnKind.MOMENT),
    Column("selected_by"),
    Column("inclusion_probability", ColumnKind.NUMBER),
    Column("superseded", ColumnKind.FLAG),
    Column("guideline_version", ColumnKind.INTEGER),
    Column("blind", ColumnKind.FLAG),
)


def rows(project: Project, people: People) -> Iterator[TableRow]:
    """Rows of a summary stand by kind, then in the order in which they were given.

    What the source answers to questions stands before the first summary of its document set. Nothing of a
    assignment that is still open is among them. `unit` is a number of the reference's one list of units; a
    claim that is linked to a unit carries that unit's number.
    """
    document_id: str | None = None
    for batch in peer_batches(project):
        peer_ids = [peer.pk for peer in batch]
        of_sources: dict[str, list[ExportedAnswer]] = defaultdict(list)
        names = {peer.document_id for peer in batch}
        sources = {"check_row__peer": None, "check_row__document_set__external_id__in": names}
        for answer in answers_on_checks({**sources, "check_row__project": project}, people):
            of_sources[answer.document_id].append(answer)
        found: dict[int, list[ExportedAnswer]] = defaultdict(list)
        for judgment in _judgments(peer_ids, people):
            found[judgment.peer_id].append(judgment)
        for peer in batch:
            if peer.document_id != document_id:
                document_id = peer.document_id
                for judgment in of_sources.get(document_id, ()):
                    yield _row((project.slug, document_id, None, None), judgment)
            for judgment in found.get(peer.pk, ()):
                yield _row(peer.head(project), judgment)


def _row(head: TableRow, judgment: ExportedAnswer) -> TableRow:
    return (
        *head,
        judgment.kind,
        judgment.reference_id,
        judgment.unit,
        judgment.claim_id,
        judgment.rater,
        judgment.rater_kind,
        judgment.value,
        list(judgment.evidence),
        judgment.submitted_at,
        judgment.selected_by,
        number(judgment.inclusion_probability),
        judgment.superseded,
        judgment.guideline_version,
        judgment.blind,
    )


def _judgments(peer_ids: Sequence[int], people: People) -> Iterator[ExportedAnswer]:
    yield from unit_judgments(peer_ids, people)
    yield from judge_shares(peer_ids)
    yield from answers_on_checks({"check_row__peer_id__in": peer_ids}, people)
    yield from ratings(peer_ids, people)


LEVEL = Level("answers", COLUMNS, rows)
