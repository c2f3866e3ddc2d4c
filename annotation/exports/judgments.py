"""Level `judgments`: one row per answer that anybody gave, those that no longer stand included.

Kinds: `unit` an assessor's percent and marks, an imported table's, or a judge's as one more assessor (the
share of yes over its verdicts on the unit's claims, and their evidence), `repeat` an assessor's in a hidden
repeat (never scored), `quality` an assessor's quality answers (JSON: a whole number by question), `unmarked`
the percent of the peer units marked nowhere that are related to the subject (0 where none was unmarked),
`repeat_quality` and `repeat_unmarked` the same in a hidden repeat, `check` a verdict of a judge or reviewer,
`unit_adjudication` and `check_adjudication` an adjudicator's decision, `question` a judge's answer to a
closed question, from the summary alone or, in rows without a system, from the source, `rating` a number for
a summary as a whole, given by a judge or computed.

`claim_id` names what was judged: a claim, for `question` the question, for `rating` what was rated.

`selected_by` and `inclusion_probability` tell how a person came to be asked: of percents the assignment's, of
verdicts the draw's in which they were given (the last one, where several draws count the same answer).
`guideline_version` is the version of the guidelines that the person had before them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from annotation.exports.columns import HEAD, Column, Kind, Level, Row, number
from annotation.exports.judgment import Judgment
from annotation.exports.judgments_in_sittings import (
    judge_shares,
    published_percents,
    summary_judgments,
    unit_judgments,
)
from annotation.exports.judgments_of_checks import check_adjudications, unit_adjudications, verdicts
from annotation.exports.judgments_of_wholes import ratings, source_answers, summary_answers
from annotation.exports.peers import peer_batches

if TYPE_CHECKING:
    from annotation.exports.people import People
    from annotation.models import Project


COLUMNS = (
    *HEAD,
    Column("kind"),
    Column("reference_id"),
    Column("unit", Kind.INTEGER),
    Column("claim_id"),
    Column("rater"),
    Column("rater_kind"),
    Column("value"),
    Column("evidence", Kind.INTEGERS),
    Column("submitted_at", Kind.MOMENT),
    Column("selected_by"),
    Column("inclusion_probability", Kind.NUMBER),
    Column("superseded", Kind.FLAG),
    Column("set_aside", Kind.FLAG),
    Column("guideline_version", Kind.INTEGER),
)


def rows(project: Project, people: People) -> Iterator[Row]:
    """Rows of a summary stand by kind, then in the order in which they were given.

    What the source answers to questions stands before the first summary of its document set. Nothing of a
    sitting that is still open is among them. `unit` is a number of the model summary's one list of units; a
    claim that is linked to a unit carries that unit's number.
    """
    document_id: str | None = None
    for batch in peer_batches(project):
        peer_ids = [peer.pk for peer in batch]
        of_sources = source_answers(project, {peer.document_id for peer in batch})
        found: dict[int, list[Judgment]] = defaultdict(list)
        for judgment in _judgments(peer_ids, people):
            found[judgment.peer_id].append(judgment)
        for peer in batch:
            if peer.document_id != document_id:
                document_id = peer.document_id
                for judgment in of_sources.get(document_id, ()):
                    yield _row((project.slug, document_id, None, None), judgment)
            for judgment in found.get(peer.pk, ()):
                yield _row(peer.head(project), judgment)


def _row(head: Row, judgment: Judgment) -> Row:
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
        judgment.set_aside,
        judgment.guideline_version,
    )


def _judgments(peer_ids: Sequence[int], people: People) -> Iterator[Judgment]:
    yield from unit_judgments(peer_ids, people)
    yield from published_percents(peer_ids)
    yield from judge_shares(peer_ids)
    yield from summary_judgments(peer_ids, people)
    yield from unit_adjudications(peer_ids, people)
    yield from verdicts(peer_ids, people)
    yield from check_adjudications(peer_ids, people)
    yield from summary_answers(peer_ids)
    yield from ratings(peer_ids)


LEVEL = Level("judgments", COLUMNS, rows)
