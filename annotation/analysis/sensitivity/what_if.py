"""Score summaries again under other choices, without writing anything: another blend, judge or set of people."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from django.contrib.auth.models import User
from django.db.models import Count, Q

from annotation.analysis.sensitivity.sensitivity import (
    Coverages,
    OtherJudge,
    Scored,
    Variant,
    WhatIf,
    is_apart,
    scored_summaries,
    sensitivity,
)
from annotation.models import Check, Judge, PublishedPercent, UnitJudgment, Verdict
from annotation.models.judgment import COUNTING
from annotation.sampling.queries.check_samples import drawable
from annotation.scoring.published import published_assessor
from annotation.scoring.records import OneVoice, score_rules, summary_records
from evaluation.blend import ScoreRules, score

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from annotation.models import Project


def what_if(project: Project, key: str = "") -> dict[str, Any]:
    """How the order of the systems hangs on choices: see `sensitivity`, whose payload this is."""
    rows = scored_summaries(project)
    checks = _asked(project).count()
    judges, incomplete = _judges(project, checks)
    found = WhatIf(
        blend=_by_blend(project),
        judges=[_with_judge(project, judge) for judge in judges],
        people=_without_each(project, rows),
        incomplete=incomplete,
        checks=checks,
    )
    return sensitivity(project, rows, found)


def _coverages(
    project: Project,
    summary_ids: Sequence[int] | None,
    *,
    rules: ScoreRules | None = None,
    without: OneVoice | None = None,
) -> Coverages:
    rules = rules or score_rules(project)
    records = summary_records(project, summary_ids, without=without)
    return {record.summary.pk: score(record.value, rules).coverage for record in records}


def _with_judge(project: Project, judge: Judge) -> OtherJudge:
    """What all summaries would score if this judge decided."""
    rules = score_rules(project)
    coverage: dict[int, float | None] = {}
    alone: dict[int, float | None] = {}
    for record in summary_records(_deciding(project, judge), None):
        scored = score(record.value, rules)
        coverage[record.summary.pk], alone[record.summary.pk] = scored.coverage, scored.coverage_judge
    return OtherJudge(judge.name, coverage, alone)


def _by_blend(project: Project) -> tuple[Coverages, Coverages]:
    """At both ends of the weight, the summaries whose units got percents; the others do not depend on it."""
    published = _published(project)
    judged = _percents(project).order_by().values_list("assignment__comparison__peer_id", flat=True)
    peers = {*published.order_by().values_list("comparison__peer_id", flat=True), *judged}
    rules = replace(score_rules(project), blend="weighted")
    records = list(summary_records(project, sorted(peers)))
    by_judge, by_people = (
        {
            record.summary.pk: score(record.value, replace(rules, human_weight=weight)).coverage
            for record in records
        }
        for weight in (0.0, 1.0)
    )
    return by_judge, by_people


def _percents(project: Project) -> QuerySet[UnitJudgment]:
    return UnitJudgment.objects.filter(COUNTING, assignment__comparison__peer__document_set__project=project)


def _verdicts(project: Project) -> QuerySet[Verdict]:
    return Verdict.objects.filter(
        check_row__project=project,
        check_row__is_current=True,
        check_row__side=Check.Side.REFERENCE,
        withdrawn_at=None,
    )


def _asked(project: Project) -> QuerySet[Check]:
    """The checks that coverage rests on and no rule decides."""
    return drawable(project, Check.Side.REFERENCE)


def _judges(project: Project, checks: int) -> tuple[list[Judge], list[tuple[str, int]]]:
    """The judges beside the deciding one that have answered every check, and those that have answered a part."""
    rows = _verdicts(project).filter(judge__isnull=False, label__isnull=False)
    rows = rows.filter(check_row__in=_asked(project)).exclude(judge=project.deciding_judge_id)
    counted = rows.order_by().values_list("judge_id").annotate(Count("check_row", distinct=True))
    answered = {judge_id: count for judge_id, count in counted if judge_id is not None}
    judges = Judge.objects.filter(pk__in=answered).order_by("name")
    complete = [judge for judge in judges if answered[judge.pk] >= checks]
    return complete, [(judge.name, answered[judge.pk]) for judge in judges if judge not in complete]


def _deciding(project: Project, judge: Judge) -> Project:
    """The project as it would be with another deciding judge; never to be saved."""
    other = copy.copy(project)
    other.deciding_judge = judge
    return other


def _without_each(project: Project, rows: Sequence[Scored]) -> list[Variant]:
    """What summaries would score without each of those whose answers count.

    Of people who are named in imports those alone whose answers change a score: a file may repeat what others said.
    """
    present = {row.summary: row.coverage for row in rows}
    imported = [_without(project, name, voice) for name, voice in _imported(project)]
    changing = [
        each
        for each in imported
        if any(_is_other(score, present[key]) for key, score in each.coverage.items() if key in present)
    ]
    return [*(_without(project, name, voice) for name, voice in _people(project)), *changing]


def _is_other(one: float | None, other: float | None) -> bool:
    return (one is None) != (other is None) or is_apart(one, other)


def _people(project: Project) -> list[tuple[str, OneVoice]]:
    """The members who have given percents or verdicts that count."""
    assessors = _percents(project).order_by().values("assignment__sitting__assessor")
    reviewers = _verdicts(project).filter(person__isnull=False).order_by().values("person")
    people = User.objects.filter(Q(pk__in=assessors) | Q(pk__in=reviewers)).order_by("username")
    return [(name, OneVoice(person=key)) for key, name in people.values_list("pk", "username")]


def _imported(project: Project) -> list[tuple[str, OneVoice]]:
    """Those who are named in imports with verdicts or percents that count, called as among raters."""
    verdicts = _verdicts(project).filter(source=Verdict.Source.REVIEWER, person__isnull=True)
    reviewers = [
        (origin, OneVoice(origin_name=origin))
        for origin in verdicts.order_by("origin_name").values_list("origin_name", flat=True).distinct()
    ]
    lines = _published(project).order_by("score__origin_name", "score__assessor")
    assessors = [
        (published_assessor(assessor, origin), OneVoice(origin_name=origin, assessor=assessor))
        for origin, assessor in lines.values_list("score__origin_name", "score__assessor").distinct()
    ]
    return [*reviewers, *assessors]


def _published(project: Project) -> QuerySet[PublishedPercent]:
    return PublishedPercent.objects.filter(comparison__peer__document_set__project=project)


def _without(project: Project, name: str, voice: OneVoice) -> Variant:
    """What the summaries that somebody answered on would score without them."""
    verdicts = voice.verdicts(_verdicts(project)).order_by().values_list("check_row__peer_id", flat=True)
    touched = {*_judged_by(project, voice), *verdicts}
    return Variant(name, _coverages(project, sorted(touched), without=voice))


def _judged_by(project: Project, voice: OneVoice) -> set[int]:
    """The summaries that somebody gave percents for."""
    if voice.person is not None:
        own = _percents(project).filter(assignment__sitting__assessor=voice.person).order_by()
        return set(own.values_list("assignment__comparison__peer_id", flat=True))
    if voice.assessor is None:
        return set()
    lines = _published(project).filter(score__assessor=voice.assessor, score__origin_name=voice.origin_name)
    return set(lines.order_by().values_list("comparison__peer_id", flat=True))
