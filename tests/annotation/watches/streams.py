"""Streams of summaries in the past."""

from __future__ import annotations

import random
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any

from annotation.core import jobs
from annotation.models import Job, Run, SampledCheck, Summary, Verdict, Watch, WatchPeriod
from annotation.watches.make_watch import make_watch
from annotation.watches.periods import GRACE
from annotation.watches.work import ask_for_watches, perform
from tests.annotation.judging.doing import add_document_set, judge_all

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from annotation.models import Project

SENTENCES = 10


def days_ago(days: int) -> date:
    """In the first hour of a day, yesterday can still change and counts as today."""
    return (datetime.now(UTC) - GRACE).date() - timedelta(days=days)


def watched(project: Project, *, ago: int, **choices: Any) -> Watch:
    wanted = {"length": "day", "scores": ["coverage"], "checks": 0, "smallest_drop": 0.01, **choices}
    return make_watch(project=project, by=None, name="live", starts_on=days_ago(ago), **wanted)


def pushed(project: Project, *, ago: int, kept: float, count: int = 12, kind: str = "") -> list[Summary]:
    random_one = random.Random(f"{ago} {kept}")
    found = []
    for number in range(count):
        sentences = [f"Boat{ago}x{number} reached berth{room}." for room in range(SENTENCES)]
        share = kept + random_one.uniform(-0.1, 0.1)
        made = add_document_set(
            project,
            " ".join(sentences),
            external_id=f"{ago}-{kept}-{number}",
            reference=" ".join(sentences),
            ferry=" ".join(sentences[: round(share * SENTENCES)]),
        )
        made.metadata = {"kind": kind} if kind else {}
        made.save(update_fields=["metadata"])
        found.append(Summary.objects.get(document_set=made, is_summary=True))
    moment = datetime.combine(days_ago(ago), datetime.min.time(), tzinfo=UTC) + timedelta(hours=12)
    Summary.objects.filter(pk__in=[each.pk for each in found]).update(created_at=moment)
    return found


def pushed_each(project: Project, *days: int) -> None:
    """Create summaries on each of the days, given as days ago."""
    for ago in days:
        pushed(project, ago=ago, kept=0.8)


def claim(watch: Watch) -> list[jobs.Claimed]:
    Job.objects.filter(watch=watch).update(finished_at=None)
    ask_for_watches()
    return jobs.take(jobs.due(Job.Kind.WATCH).filter(watch=watch))


def work_off(watch: Watch) -> Watch:
    while True:
        for claimed in claim(watch):
            jobs.carry_out(claimed, perform)
        active = list(Run.objects.filter(project=watch.project, state=Run.State.ACTIVE))
        if not active:
            break
        for run in active:
            judge_all(run)
    return Watch.objects.select_related("project", "job").get(pk=watch.pk)


def reopen(watch: Watch) -> None:
    WatchPeriod.objects.filter(watch=watch, total=0).delete()


def answer(period: WatchPeriod, by: User, *, flipped: float = 0.0) -> None:
    waiting = list(
        SampledCheck.objects.filter(sample=period.sample, verdict=None).select_related("check_row")
    )
    random_one = random.Random(period.public_id)
    for each in waiting:
        label = each.check_row.judge_label or "no"
        if label == "yes" and random_one.random() < flipped:
            label = "no"
        each.verdict = Verdict.objects.create(
            check_row=each.check_row, role=Verdict.Role.REVIEWER, person=by, label=label
        )
    SampledCheck.objects.bulk_update(waiting, ["verdict"])
