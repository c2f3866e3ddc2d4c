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

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from django.db.models import F, Q, QuerySet

from annotation.exports.columns import HEAD, Column, Kind, Level, Row, number
from annotation.exports.peers import peer_batches
from annotation.exports.statements import rater, reference_of
from annotation.models import (
    Adjudication,
    Assignment,
    DrawnCheck,
    PublishedPercent,
    QuestionAnswer,
    Rating,
    SummaryJudgment,
    UnitJudgment,
    Verdict,
)
from annotation.queries.judge_percents import judge_percents
from annotation.queries.published import published_assessor

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
        of_sources = _source_answers(project, {peer.document_id for peer in batch})
        found: dict[int, list[_Judgment]] = defaultdict(list)
        for judgment in _judgments(peer_ids, people):
            found[judgment.peer_id].append(judgment)
        for peer in batch:
            if peer.document_id != document_id:
                document_id = peer.document_id
                for judgment in of_sources.get(document_id, ()):
                    yield _row((project.slug, document_id, None, None), judgment)
            for judgment in found.get(peer.pk, ()):
                yield _row(peer.head(project), judgment)


@dataclass(frozen=True, slots=True)
class _Judgment:
    peer_id: int
    kind: str
    rater: str
    rater_kind: str
    value: str | None
    submitted_at: datetime | None
    superseded: bool
    reference_id: str | None = None
    unit: int | None = None
    claim_id: str | None = None
    evidence: Sequence[int] = ()
    selected_by: str | None = None
    inclusion_probability: float | None = None
    guideline_version: int | None = None


def _row(head: Row, judgment: _Judgment) -> Row:
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
    )


def _judgments(peer_ids: Sequence[int], people: People) -> Iterator[_Judgment]:
    yield from _unit_judgments(peer_ids, people)
    yield from _published_percents(peer_ids)
    yield from _judge_percents(peer_ids)
    yield from _summary_judgments(peer_ids, people)
    yield from _unit_adjudications(peer_ids, people)
    yield from _verdicts(peer_ids, people)
    yield from _check_adjudications(peer_ids, people)
    yield from _summary_answers(peer_ids)
    yield from _ratings(peer_ids)


def _unit_judgments(peer_ids: Sequence[int], people: People) -> Iterator[_Judgment]:
    # What was submitted once stays told when its set is opened again because its units were cut otherwise.
    opened_again = Q(is_current=False, created_at__lt=F("assignment__sitting__reopened_at"))
    closed = UnitJudgment.objects.filter(
        Q(assignment__state=Assignment.State.SUBMITTED) | opened_again,
        assignment__comparison__peer_id__in=peer_ids,
        percent__isnull=False,
    )
    for (
        peer_id,
        reference_id,
        unit,
        claim_position,
        claim_id,
        user_id,
        username,
        percent,
        marks,
        at,
        selected_by,
        probability,
        is_current,
        repeat_of,
        retired_by,
        guideline_version,
    ) in closed.order_by("pk").values_list(
        "assignment__comparison__peer_id",
        "assignment__comparison__model__external_id",
        "unit__position",
        "claim__position",
        "claim__public_id",
        "assignment__sitting__assessor_id",
        "assignment__sitting__assessor__username",
        "percent",
        "marks",
        "assignment__submitted_at",
        "assignment__selected_by",
        "assignment__inclusion_probability",
        "is_current",
        "assignment__repeat_of_id",
        "unit__retired_by_id",
        "guideline__version",
    ):
        yield _Judgment(
            peer_id=peer_id,
            kind="unit" if repeat_of is None else "repeat",
            reference_id=reference_id or None,
            unit=claim_position if claim_id else unit,
            claim_id=claim_id,
            rater=people.name(user_id, username),
            rater_kind="assessor",
            value=str(percent),
            evidence=marks,
            submitted_at=at,
            selected_by=selected_by,
            inclusion_probability=probability,
            superseded=not is_current or retired_by is not None,
            guideline_version=guideline_version,
        )


def _published_percents(peer_ids: Sequence[int]) -> Iterator[_Judgment]:
    given = PublishedPercent.objects.filter(comparison__peer_id__in=peer_ids)
    for peer_id, reference_id, unit, assessor, origin, percent, marks, at in given.order_by("pk").values_list(
        "comparison__peer_id",
        "comparison__model__external_id",
        "unit__position",
        "score__assessor",
        "score__origin_name",
        "percent",
        "marks",
        "score__created_at",
    ):
        yield _Judgment(
            peer_id=peer_id,
            kind="unit",
            reference_id=reference_id or None,
            unit=unit,
            rater=published_assessor(assessor, origin),
            rater_kind="import",
            value=str(percent),
            evidence=marks,
            submitted_at=at,
            superseded=False,
        )


def _judge_percents(peer_ids: Sequence[int]) -> Iterator[_Judgment]:
    for said in judge_percents(peer_ids):
        yield _Judgment(
            peer_id=said.peer_id,
            kind="unit",
            reference_id=said.reference_id or None,
            unit=said.number,
            claim_id=said.claim_id,
            rater=said.judge,
            rater_kind="judge",
            value=f"{said.percent:.6g}",
            evidence=said.marks,
            submitted_at=said.at,
            superseded=False,
        )


def _summary_judgments(peer_ids: Sequence[int], people: People) -> Iterator[_Judgment]:
    """Each row of the form repeats what was said before it, so only what it changed is an answer of its own."""
    closed = SummaryJudgment.objects.filter(peer_id__in=peer_ids, sitting__closed_at__isnull=False)
    answers: dict[tuple[int, int, bool, str], list[tuple[str | None, _Judgment]]] = defaultdict(list)
    for (
        sitting_id,
        peer_id,
        is_repeat,
        user_id,
        username,
        said,
        unmarked,
        at,
        guideline_version,
    ) in closed.order_by("pk").values_list(
        "sitting_id",
        "peer_id",
        "is_repeat",
        "sitting__assessor_id",
        "sitting__assessor__username",
        "quality_answers",
        "unmarked_percent",
        "sitting__closed_at",
        "guideline__version",
    ):
        values = {
            "quality": json.dumps(said, sort_keys=True, ensure_ascii=False) if said else None,
            "unmarked": None if unmarked is None else str(unmarked),
        }
        for kind, value in values.items():
            given = answers[sitting_id, peer_id, is_repeat, kind]
            if value == (given[-1][0] if given else None):
                continue
            judgment = _Judgment(
                peer_id=peer_id,
                kind=f"repeat_{kind}" if is_repeat else kind,
                rater=people.name(user_id, username),
                rater_kind="assessor",
                value=value,
                submitted_at=at,
                superseded=True,
                guideline_version=guideline_version,
            )
            given.append((value, judgment))
    for given in answers.values():
        yield from (judgment for value, judgment in given[:-1] if value is not None)
        if given and given[-1][0] is not None:
            yield replace(given[-1][1], superseded=False)


def _unit_adjudications(peer_ids: Sequence[int], people: People) -> Iterator[_Judgment]:
    decisions = list(
        Adjudication.objects.filter(comparison__peer_id__in=peer_ids)
        .order_by("pk")
        .values_list(
            "pk",
            "comparison_id",
            "unit_id",
            "claim_id",
            "withdrawn_at",
            "comparison__peer_id",
            "comparison__model__external_id",
            "unit__position",
            "claim__position",
            "claim__public_id",
            "decided_by_id",
            "decided_by__username",
            "percent",
            "created_at",
            "guideline__version",
        )
    )
    standing = {row[1:4]: row[0] for row in decisions if row[4] is None}
    for row in decisions:
        peer_id, reference_id, unit, claim_position, claim_id, user_id, username, percent, at, version = row[
            5:
        ]
        yield _Judgment(
            peer_id=peer_id,
            kind="unit_adjudication",
            reference_id=reference_id or None,
            unit=claim_position if claim_id else unit,
            claim_id=claim_id,
            rater=people.name(user_id, username),
            rater_kind="adjudicator",
            value=str(percent),
            submitted_at=at,
            superseded=standing.get(row[1:4]) != row[0],
            guideline_version=version,
        )


class _VerdictRow(NamedTuple):
    pk: int
    check_id: int
    peer_id: int
    side: str
    reference_id: str | None
    unit: int | None
    claim_id: str
    is_current: bool
    source: str
    judge_id: int | None
    judge: str | None
    person_id: int | None
    username: str | None
    origin_name: str
    label: str | None
    evidence: list[int]
    created_at: datetime
    withdrawn_at: datetime | None
    guideline_version: int | None

    @property
    def answered(self) -> tuple[int, str, int | str | None]:
        """The check, and whose answer to it this is."""
        return self.check_id, self.source, self.judge_id or self.person_id or self.origin_name


def _verdicts(peer_ids: Sequence[int], people: People) -> Iterator[_Judgment]:
    given = [
        _VerdictRow(*row)
        for row in Verdict.objects.filter(check_row__peer_id__in=peer_ids)
        .order_by("pk")
        .values_list(
            "pk",
            "check_row_id",
            "check_row__peer_id",
            "check_row__side",
            "check_row__claim__claim_set__summary__external_id",
            "check_row__claim__unit__position",
            "check_row__claim__public_id",
            "check_row__is_current",
            "source",
            "judge_id",
            "judge__name",
            "person_id",
            "person__username",
            "origin_name",
            "label",
            "evidence",
            "created_at",
            "withdrawn_at",
            "guideline__version",
        )
    ]
    standing = _standing(given)
    drawn = _given_in_draws(peer_ids)
    for row in given:
        selected_by, probability = drawn.get(row.pk, (None, None))
        yield _Judgment(
            peer_id=row.peer_id,
            kind="check",
            reference_id=reference_of(row.side, row.reference_id),
            unit=row.unit,
            claim_id=row.claim_id,
            rater=rater(
                people,
                person_id=row.person_id,
                username=row.username,
                judge=row.judge,
                origin_name=row.origin_name,
            ),
            rater_kind=_rater_kind(row),
            value=row.label,
            evidence=row.evidence,
            submitted_at=row.created_at,
            selected_by=selected_by,
            inclusion_probability=probability,
            superseded=row.pk not in standing,
            guideline_version=row.guideline_version,
        )


def _standing(given: Iterable[_VerdictRow]) -> set[int]:
    """The last answer of each source to each check that is in force.

    An answer that a judge could not give does not take back one that it gave before.
    """
    last: dict[tuple[int, str, int | str | None], _VerdictRow] = {}
    for row in given:
        before = last.get(row.answered)
        takes_back = row.label is None and before is not None and before.label is not None
        if row.is_current and row.withdrawn_at is None and not takes_back:
            last[row.answered] = row
    return {row.pk for row in last.values()}


def _rater_kind(row: _VerdictRow) -> str:
    if row.source == Verdict.Source.JUDGE:
        return "judge"
    return "import" if row.person_id is None else "reviewer"


def _given_in_draws(peer_ids: Sequence[int]) -> dict[int, tuple[str, float]]:
    """The draw's method and the check's chance, by the verdict that answers it; others were volunteered."""
    drawn = DrawnCheck.objects.filter(check_row__peer_id__in=peer_ids, verdict__isnull=False)
    columns = ("verdict_id", "draw__method", "inclusion_probability")
    return {
        verdict_id: (method, probability)
        for verdict_id, method, probability in drawn.order_by("draw_id").values_list(*columns)
        if verdict_id is not None
    }


class _Decision(NamedTuple):
    pk: int
    check_id: int
    withdrawn_at: datetime | None
    peer_id: int
    side: str
    reference_id: str | None
    unit: int | None
    claim_id: str
    is_current: bool
    user_id: int
    username: str
    label: str | None
    created_at: datetime
    guideline_version: int | None


def _check_adjudications(peer_ids: Sequence[int], people: People) -> Iterator[_Judgment]:
    decisions = [
        _Decision(*row)
        for row in Adjudication.objects.filter(check_row__peer_id__in=peer_ids)
        .order_by("pk")
        .values_list(
            "pk",
            "check_row__pk",
            "withdrawn_at",
            "check_row__peer_id",
            "check_row__side",
            "check_row__claim__claim_set__summary__external_id",
            "check_row__claim__unit__position",
            "check_row__claim__public_id",
            "check_row__is_current",
            "decided_by_id",
            "decided_by__username",
            "label",
            "created_at",
            "guideline__version",
        )
    ]
    standing = {row.check_id: row.pk for row in decisions if row.withdrawn_at is None}
    for row in decisions:
        yield _Judgment(
            peer_id=row.peer_id,
            kind="check_adjudication",
            reference_id=reference_of(row.side, row.reference_id),
            unit=row.unit,
            claim_id=row.claim_id,
            rater=people.name(row.user_id, row.username),
            rater_kind="adjudicator",
            value=row.label,
            submitted_at=row.created_at,
            superseded=not row.is_current or standing.get(row.check_id) != row.pk,
            guideline_version=row.guideline_version,
        )


class _AnswerRow(NamedTuple):
    pk: int
    peer_id: int | None
    document_id: str
    question: str
    is_retired: bool
    judge_id: int
    judge: str
    label: str | None
    evidence: list[int]
    created_at: datetime


def _answer_rows(answers: QuerySet[QuestionAnswer]) -> list[_AnswerRow]:
    return [
        _AnswerRow(*row)
        for row in answers.annotate(is_retired=Q(question__retired_at__isnull=False))
        .order_by("question__position", "pk")
        .values_list(
            "pk",
            "summary_id",
            "question__document_set__external_id",
            "question__public_id",
            "is_retired",
            "judge_id",
            "judge__name",
            "label",
            "evidence",
            "created_at",
        )
    ]


def _source_answers(project: Project, document_ids: set[str]) -> dict[str, list[_Judgment]]:
    """What sources answer, by their document set's name."""
    rows = _answer_rows(
        QuestionAnswer.objects.filter(
            summary=None,
            question__document_set__project=project,
            question__document_set__external_id__in=document_ids,
        )
    )
    found: dict[str, list[_Judgment]] = defaultdict(list)
    for row, judgment in zip(rows, _answers(rows), strict=True):
        found[row.document_id].append(judgment)
    return found


def _summary_answers(peer_ids: Sequence[int]) -> Iterator[_Judgment]:
    return _answers(_answer_rows(QuestionAnswer.objects.filter(summary_id__in=peer_ids)))


def _answers(rows: Sequence[_AnswerRow]) -> Iterator[_Judgment]:
    last: dict[tuple[int | None, str, int], _AnswerRow] = {}
    for row in rows:
        before = last.get((row.peer_id, row.question, row.judge_id))
        if row.label is not None or before is None or before.label is None:
            last[row.peer_id, row.question, row.judge_id] = row
    standing = {row.pk for row in last.values()}
    for row in rows:
        yield _Judgment(
            peer_id=row.peer_id or 0,
            kind="question",
            claim_id=row.question,
            rater=row.judge,
            rater_kind="judge",
            value=row.label,
            evidence=row.evidence,
            submitted_at=row.created_at,
            superseded=row.is_retired or row.pk not in standing,
        )


class _RatingRow(NamedTuple):
    pk: int
    peer_id: int
    name: str
    judge: str | None
    origin_name: str
    value: float | None
    created_at: datetime


def _ratings(peer_ids: Sequence[int]) -> Iterator[_Judgment]:
    rows = [
        _RatingRow(*row)
        for row in Rating.objects.filter(summary_id__in=peer_ids)
        .order_by("pk")
        .values_list("pk", "summary_id", "name", "judge__name", "origin_name", "value", "created_at")
    ]
    last: dict[tuple[int, str, str | None], _RatingRow] = {}
    for row in rows:
        before = last.get((row.peer_id, row.name, row.judge))
        if row.value is not None or before is None or before.value is None:
            last[row.peer_id, row.name, row.judge] = row
    standing = {row.pk for row in last.values()}
    for row in rows:
        yield _Judgment(
            peer_id=row.peer_id,
            kind="rating",
            claim_id=row.name,
            rater=row.judge or row.origin_name,
            rater_kind="judge" if row.judge else "computed",
            value=None if row.value is None else f"{row.value:.6g}",
            submitted_at=row.created_at,
            superseded=row.pk not in standing,
        )


LEVEL = Level("judgments", COLUMNS, rows)
