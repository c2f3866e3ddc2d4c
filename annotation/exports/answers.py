"""Level `answers`: answers of people and judges.

`claim_id` names the judged claim or question; for a rating it is the name of the criterion. `selected_by` and
`inclusion_probability` describe the last random sample, except cancelled ones, that has the answer. `blind` is False if
a person may have seen answers of the judge or of others. It is empty for judges, for decisions on checks and units, and
for imported verdicts and their votes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from django.db.models import Q, QuerySet

from annotation.core.tables.columns import HEAD, Level, TableRow, columns, number
from annotation.exports.summaries import summary_batches
from annotation.models import (
    Check,
    CoverageJudgment,
    Rating,
    Reading,
    Sample,
    SampledCheck,
    SampledRating,
    Verdict,
)
from annotation.scoring.judge_percents import judge_percents

if TYPE_CHECKING:
    from annotation.core.tables.pseudonyms import People
    from annotation.models import Project

_COMMON = "pk role person_id person__username reason evidence created_at withdrawn_at guideline__version"
_OF_PERCENTS = """
comparison_id unit_id claim_id reading_id comparison__summary_id comparison__reference__external_id unit__position
claim__position claim__public_id percent reading__submitted_at is_current reading__assignment__may_have_seen
"""
_OF_VERDICTS = """
judge_id judge__name origin_name label votes repeated had_seen check_row_id check_row__summary_id
check_row__document_set__external_id check_row__side check_row__claim__claim_set__summary__external_id
check_row__claim__unit__position check_row__claim__public_id check_row__is_current
"""
_OF_RATINGS = """
judge__name origin_name value expected had_seen summary_id criterion_id criterion__name criterion__retired_at
assignment__may_have_seen assignment__closed_at
"""


COLUMNS = columns(
    "kind reference_id unit:integer claim_id rater rater_kind value reason evidence:integers submitted_at:moment "
    "selected_by inclusion_probability:number superseded:flag guideline_version:integer blind:flag expected:number"
)
Given = Iterator[tuple[Hashable, dict[str, Any]]]
"""Answers as columns, each with the key of its summary, or with the id of its document set for the source's answers."""
_WHAT = ("reference_id", "unit", "claim_id", "rater", "rater_kind", "value")


def _answer(kind: str, row: Any, what: Sequence[Any], standing: set[int], **values: Any) -> dict[str, Any]:
    """Build an answer from its row: `what` has the values of `_WHAT`, and `values` those of further columns."""
    shared = {"kind": kind, "reason": row.reason or None, "evidence": row.evidence}
    shared |= {"superseded": row.pk not in standing, "submitted_at": row.created_at}
    shared |= {"guideline_version": row.guideline__version}
    return shared | dict(zip(_WHAT, what, strict=True)) | values


def standing_among(answers: Iterable[tuple[int, Hashable, bool]]) -> set[int]:
    """Return the keys of the answers that count: the last answer of each source.

    An answer is (key, source, says). `source` identifies the author and the question. `says` is False for an answer
    without a value, such as a failed call of a judge. Such an answer replaces no answer with a value.
    """
    last: dict[Hashable, tuple[int, bool]] = {}
    for key, source, says in answers:
        if says or not last.get(source, (0, False))[1]:
            last[source] = key, says
    return {key for key, _ in last.values()}


def _read(answers: QuerySet[Any], columns: str) -> QuerySet[Any]:
    return answers.values_list(*_COMMON.split(), *columns.split(), named=True)


def rater(people: People, row: Any) -> str:
    """Return the name or pseudonym of the person; otherwise the judge, or the file that a verdict was imported from."""
    if row.person_id is not None:
        return people.name(row.person_id, row.person__username or "")
    return str(row.judge__name or row.origin_name)


def reference_of(side: str, external_id: str | None) -> str | None:
    """Return the reference_id of a claim from a reference; None for other claims and for a reference without an id."""
    return (external_id or None) if side == Check.Side.REFERENCE else None


def _rows(project: Project, people: People) -> Iterator[TableRow]:
    document_id = None
    names = [column.name for column in COLUMNS]
    for batch in summary_batches(project):
        summary_ids, sets = [pk for pk, _ in batch], {head[1] for _, head in batch}
        found: dict[Hashable, list[TableRow]] = defaultdict(list)
        of_sources = {"summary": None, "document_set__external_id__in": sets, "project": project}
        for place, answer in chain(
            _verdicts(people, **{f"check_row__{name}": value for name, value in of_sources.items()}),
            _percents(summary_ids, people),
            _verdicts(people, check_row__summary_id__in=summary_ids),
            _ratings(summary_ids, people),
        ):
            found[place].append(tuple(map(answer.get, names)))
        for pk, head in batch:
            if head[1] != document_id:
                document_id = head[1]
                yield from ((*head[:2], None, None, *answer) for answer in found.get(document_id, ()))
            yield from ((*head, *answer) for answer in found.get(pk, ()))


def _percents(summary_ids: Sequence[int], people: People) -> Given:
    is_given = Q(reading__state=Reading.State.SUBMITTED) | Q(role=CoverageJudgment.Role.ADJUDICATOR)
    judgments = CoverageJudgment.objects.filter(
        is_given, comparison__summary_id__in=summary_ids, percent__isnull=False
    )
    given = _read(judgments.order_by("-role", "pk"), _OF_PERCENTS)
    # Rows outside this set are exported as superseded. Decisions have no reading: the last one on a unit counts.
    counting = (row for row in given if row.is_current and row.withdrawn_at is None)
    standing = standing_among(
        (row.pk, (row.comparison_id, row.unit_id, row.claim_id, row.reading_id), True) for row in counting
    )
    for row in given:
        seen, claim = row.reading__assignment__may_have_seen, row.claim__public_id
        number_of = row.claim__position if claim else row.unit__position
        place = (row.comparison__reference__external_id or None, number_of, claim)
        what = (*place, people.name(row.person_id, row.person__username), row.role, str(row.percent))
        said = _answer("unit", row, what, standing, blind=None if seen is None else not seen)
        yield row.comparison__summary_id, said | {"submitted_at": row.reading__submitted_at or row.created_at}
    for each in judge_percents(summary_ids):
        place = (each.reference_id or None, each.number, each.claim_id)
        what = (*place, each.judge, "judge", f"{each.percent:.6g}")
        told = {"kind": "unit", "superseded": False, "evidence": each.marks, "submitted_at": each.at}
        yield each.summary_id, told | dict(zip(_WHAT, what, strict=True))


def _verdicts(people: People, **checks: Any) -> Given:
    given = _read(Verdict.objects.filter(**checks).order_by("pk"), _OF_VERDICTS)
    counting = [row for row in given if row.check_row__is_current and row.withdrawn_at is None]
    sources = ((row.pk, (row.check_row_id, row.role, _who(row)), bool(row.label)) for row in counting)
    standing = standing_among(sources)
    # Only an answer that a SampledCheck names belongs to a sample; a reviewer may also answer other checks.
    sampled = SampledCheck.objects.filter(**checks, verdict__isnull=False, sample__cancelled_at=None)
    columns = ("verdict_id", "sample__method", "inclusion_probability")
    selected = {one: how for one, *how in sampled.order_by("sample_id").values_list(*columns)}
    for row in given:
        is_reviewed, is_person = row.role == Verdict.Role.REVIEWER, row.person_id is not None
        method, chance = selected.get(row.pk, (None, None))
        side, of = row.check_row__side, row.check_row__claim__claim_set__summary__external_id
        what = (reference_of(side, of), row.check_row__claim__unit__position, row.check_row__claim__public_id)
        role = "import" if is_reviewed and not is_person else row.role
        said = _answer(
            "question" if side == Check.Side.QUESTION else "check",
            row,
            (*what, rater(people, row), role, row.label),
            standing,
            selected_by=method,
            inclusion_probability=number(chance),
            blind=not row.had_seen if is_reviewed and is_person else None,
        )
        place = row.check_row__summary_id or row.check_row__document_set__external_id
        yield place, said
        bare = {**said, "reason": None, "evidence": ()}
        if row.repeated:
            yield place, {**bare, "kind": "repeat", "value": row.repeated}
        for name, vote in row.votes if is_reviewed else ():
            who = f"{row.origin_name} {people.rater(name)}"
            yield place, {**bare, "kind": "vote", "rater": who, "value": vote}


def _ratings(summary_ids: Sequence[int], people: People) -> Given:
    is_open = Q(assignment__isnull=False, assignment__closed_at__isnull=True)
    ratings = Rating.objects.filter(~is_open, summary_id__in=summary_ids).order_by("pk")
    given = _read(ratings, _OF_RATINGS)
    # A person's empty answer withdraws the answer before it; a judge's empty answer does not. A decision replaces only
    # decisions.
    counting = [row for row in given if row.criterion__retired_at is None and row.withdrawn_at is None]
    standing = standing_among(
        (row.pk, (row.summary_id, row.criterion_id, _who(row)), row.value is not None or not row.judge__name)
        for row in counting
    )
    sampled = SampledRating.objects.filter(summary_id__in=summary_ids, sample__cancelled_at=None)
    chosen = sampled.exclude(rating=None).order_by("sample_id")
    chances = dict(chosen.values_list("rating_id", "inclusion_probability"))
    for row in given:
        is_judge = row.role == Rating.Role.JUDGE
        is_imported = row.person_id is None and not is_judge
        if row.value is None and not is_judge:
            continue
        who = people.rater(row.origin_name) if is_imported else rater(people, row)
        value = None if row.value is None else f"{row.value:.6g}"
        said = _answer(
            "rating",
            row,
            (None, None, row.criterion__name, who, "import" if is_imported else row.role, value),
            standing,
            selected_by=Sample.Method.UNIFORM if row.pk in chances else None,
            inclusion_probability=number(chances.get(row.pk)),
            blind=None if is_judge else not (row.had_seen or row.assignment__may_have_seen),
            expected=number(row.expected),
        )
        yield row.summary_id, said | {"submitted_at": row.assignment__closed_at or row.created_at}


def _who(row: Any) -> Any:
    """Return the source of an answer, whose answers replace each other; all decisions are one source."""
    is_decision = row.role == Verdict.Role.ADJUDICATOR
    return is_decision, not is_decision and (row.judge__name or row.person_id or row.origin_name)


LEVEL = Level("answers", HEAD + COLUMNS, _rows)
