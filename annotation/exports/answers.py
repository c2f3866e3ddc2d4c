"""Level `answers`: answers of people and judges.

`claim_id` names the judged claim or question; for a rating it is the name of the criterion. `selected_by` and
`inclusion_probability` describe the last random sample, except cancelled ones, that has the answer. `blind` is False if
a person may have seen answers of the judge or of others. It is empty for judges, for decisions on checks and units, and
for imported verdicts and their votes.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from django.db.models import Case, F, Q, QuerySet, TextField, Value, When
from django.db.models.functions import Coalesce

from annotation.core.tables.columns import columns, number
from annotation.exports.summaries import PlacedRow, summary_level
from annotation.models import (
    Check,
    CoverageJudgment,
    Rating,
    Reading,
    Summary,
    Verdict,
)
from annotation.scoring.judge_percents import judge_percents

if TYPE_CHECKING:
    from annotation.core.tables.pseudonyms import People
    from annotation.models import Project

COLUMNS = columns(
    "kind reference_id unit:integer claim_id rater rater_kind value reason evidence:integers submitted_at:moment "
    "selected_by inclusion_probability:number superseded:flag guideline_version:integer blind:flag expected:number"
)
_SHARED = """
pk role person_id person__username reason evidence created_at withdrawn_at guideline__version
summary_id item reference number named given counts at seen
"""
_OF_PERCENT = """
summary_id=comparison__summary_id reference=comparison__reference__external_id named=claim__public_id given=percent
counts=is_current at=reading__submitted_at seen=reading__assignment__may_have_seen
"""
_OF_VERDICT = """
summary_id=check_row__summary_id document_id=check_row__document_set__external_id side=check_row__side
item=check_row_id of=check_row__claim__claim_set__summary__external_id number=check_row__claim__unit__position
named=check_row__claim__public_id given=label counts=check_row__is_current at=created_at
"""
_OF_RATING = "item=criterion_id named=criterion__name given=value at=assignment__closed_at reference= number="
Given = Iterator[tuple[Any, dict[str, Any]]]
"""Answers as rows of the database, each with its columns of the level."""


def _columns(named: str) -> dict[str, Any]:
    """Build expressions from names and paths; without a path, the column has no value."""
    pairs = (each.split("=") for each in named.split())
    return {name: F(path) if path else Value(None, TextField()) for name, path in pairs}


def _read(kind: str, answers: QuerySet[Any], people: People, more: str = "") -> Given:
    """Read answers with the columns of `_SHARED` and `more`."""
    rows = list(answers.values_list(*_SHARED.split(), *more.split(), named=True))
    counting = (row for row in rows if row.counts and row.withdrawn_at is None)
    # A judge's answer without a value does not replace its answer with a value.
    last = {_source(row): row.pk for row in sorted(counting, key=_is_usable)}
    standing, selected = set(last.values()), {} if kind == "unit" else _selected(answers)
    for row in rows:
        is_imported = row.person_id is None and row.role != Verdict.Role.JUDGE
        value = row.given if isinstance(row.given, str | None) else f"{row.given:.6g}"
        method, chance = selected.get(row.pk, (None, None))
        item = {
            "kind": kind,
            "reference_id": row.reference or None,
            "unit": row.number,
            "claim_id": row.named,
        }
        who = {"rater": rater(people, row), "rater_kind": "import" if is_imported else row.role}
        said = {"value": value, "reason": row.reason or None, "evidence": row.evidence}
        facts = {"submitted_at": row.at or row.created_at, "superseded": row.pk not in standing}
        facts |= {"selected_by": method, "inclusion_probability": number(chance)}
        blind = None if row.seen is None else not row.seen
        facts |= {"guideline_version": row.guideline__version, "blind": blind}
        yield row, item | who | said | facts


def _is_usable(row: Any) -> bool:
    return row.given is not None or row.role != Verdict.Role.JUDGE


def _source(row: Any) -> Hashable:
    """Return the item and the author of an answer, whose answers replace each other; all decisions are one author's."""
    author = row.role == Verdict.Role.JUDGE, row.person_id or row.judge__name or row.origin_name
    return row.summary_id, row.item, row.role == Verdict.Role.ADJUDICATOR or author


def rater(people: People, row: Any) -> str:
    """Return the name or pseudonym of the person; otherwise the judge, or the file that a verdict was imported from."""
    if row.person_id is not None:
        return people.name(row.person_id, row.person__username or "")
    return str(row.judge__name or row.origin_name)


def _rows(project: Project, people: People, summary_ids: Sequence[int]) -> Iterator[PlacedRow]:
    names = [column.name for column in COLUMNS]
    sets = Summary.objects.filter(pk__in=summary_ids).order_by().values("document_set")
    for row, answer in chain(
        _verdicts(people, check_row__summary=None, check_row__document_set__in=sets),
        percents(people, summary_ids),
        _judge_percents(summary_ids),
        _verdicts(people, check_row__summary_id__in=summary_ids),
        ratings(people, summary_id__in=summary_ids),
    ):
        # A person's answer without a value only withdraws the one before it.
        if answer["value"] is not None or answer["rater_kind"] == "judge":
            place = row.summary_id or row.document_id
            yield place, tuple(map(answer.get, names))


def percents(people: People, summary_ids: Sequence[int]) -> Given:
    """Read the percents of closed assignments, and the decisions on units."""
    is_given = Q(reading__state=Reading.State.SUBMITTED) | Q(role=CoverageJudgment.Role.ADJUDICATOR)
    judgments = CoverageJudgment.objects.filter(
        is_given, comparison__summary_id__in=summary_ids, percent__isnull=False
    )
    item = Coalesce("unit__public_id", "claim__public_id")
    position = Coalesce("unit__position", "claim__position")
    named = judgments.annotate(item=item, number=position, **_columns(_OF_PERCENT))
    return _read("unit", named.order_by("-role", "pk"), people)


def _judge_percents(summary_ids: Sequence[int]) -> Given:
    for each in judge_percents(summary_ids):
        unit = {"reference_id": each.reference_id or None, "unit": each.number, "claim_id": each.claim_id}
        said = {"rater": each.judge, "rater_kind": "judge", "value": f"{each.percent:.6g}"}
        facts = {"kind": "unit", "evidence": each.marks, "submitted_at": each.at, "superseded": False}
        yield each, unit | said | facts


def _verdicts(people: People, **checks: Any) -> Given:
    reviewed = When(role=Verdict.Role.REVIEWER, person__isnull=False, then="had_seen")
    verdicts = Verdict.objects.filter(**checks).annotate(**_columns(_OF_VERDICT), seen=Case(reviewed))
    named = verdicts.annotate(reference=Case(When(side=Check.Side.REFERENCE, then="of")))
    more = "judge__name origin_name document_id side votes repeated"
    for row, answer in _read("check", named.order_by("pk"), people, more):
        if row.side == Check.Side.QUESTION:
            answer["kind"] = "question"
        yield row, answer
        bare = answer | {"reason": None, "evidence": ()}
        if row.repeated:
            yield row, bare | {"kind": "repeat", "value": row.repeated}
        for name, vote in row.votes if row.role == Verdict.Role.REVIEWER else ():
            who = f"{row.origin_name} {people.rater(name)}"
            yield row, bare | {"kind": "vote", "rater": who, "value": vote}


def ratings(people: People, **of: Any) -> Given:
    """Read ratings, except those in open assignments. A person's rating without a value withdraws the one before it."""
    is_open = Q(assignment__isnull=False, assignment__closed_at__isnull=True)
    seen = Case(When(had_seen=True, then=True), default=Coalesce("assignment__may_have_seen", False))
    given = Rating.objects.filter(~is_open, **of).annotate(
        counts=Q(criterion__retired_at=None),
        seen=Case(When(~Q(role=Rating.Role.JUDGE), then=seen)),
        **_columns(_OF_RATING),
    )
    more = "judge__name origin_name expected"
    for row, answer in _read("rating", given.order_by("pk"), people, more):
        if answer["rater_kind"] == "import":
            answer["rater"] = people.rater(row.origin_name)
        yield row, answer | {"expected": number(row.expected)}


def _selected(answers: QuerySet[Any]) -> dict[int, Sequence[Any]]:
    # A reviewer may also answer sampled items outside of the sample; these answers are not in `sampled_for`.
    sampled = answers.filter(sampled_for__isnull=False, sampled_for__sample__cancelled_at=None)
    columns = ("sampled_for__sample__method", "sampled_for__inclusion_probability")
    return {pk: how for pk, *how in sampled.order_by("sampled_for__sample_id").values_list("pk", *columns)}


LEVEL = summary_level("answers", COLUMNS, _rows)
