"""The job of a watch."""

from __future__ import annotations

import random
from contextlib import suppress
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.urls import reverse

from annotation.core.criteria import criteria_in_force
from annotation.core.events import log
from annotation.core.guidelines import current
from annotation.core.jobs import MAIL, Claimed, Lease, StoppedJob, again, hint, hold
from annotation.core.refusals import Invalid
from annotation.core.shared.clock import shared_now
from annotation.judging.services.start_run import start_run
from annotation.models import (
    SCORE_SIDES,
    Check,
    Job,
    JudgeCall,
    Membership,
    Project,
    Rating,
    Role,
    Run,
    Verdict,
    Watch,
    WatchPeriod,
)
from annotation.sampling.queries.check_samples import eligible
from annotation.sampling.services.sample_checks import sample_checks
from annotation.watches.periods import GRACE, choose, document_values, next_period
from annotation.watches.report import MOST_TESTS, era_of, watch_report

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

ANCHORS = 150
LOOKED_EVERY = timedelta(seconds=10)
"""The minimum pause between two jobs of a watch."""


@transaction.atomic
def ask_for_watches() -> None:
    """Queue the jobs of the watches that are due."""
    has_rested = Q(job__finished_at=None) | Q(job__finished_at__lte=shared_now() - LOOKED_EVERY)
    live = Watch.objects.filter(archived_at=None, project__archived_at=None, project__deleted_at=None)
    again(Job.objects.filter(watch__in=live.filter(has_rested)))


def perform(claimed: Claimed, lease: Lease) -> None:
    """Take the steps that are possible now. Raises the Refusal of a step."""
    while any(_took(step, claimed) for step in (_end_judging, _settle, _ask_anchors, _close)):
        lease.require()


@transaction.atomic
def _took(step: Callable[[Watch], bool], claimed: Claimed) -> bool:
    # Lock the project first, as starting a run does.
    Project.objects.select_for_update(of=("self",), no_key=True).get(pk=claimed.job.project_id)
    if not hold([claimed]):
        raise StoppedJob
    watch = Watch.objects.select_related("project__deciding_judge").get(job=claimed.job)
    if is_moved := step(watch):
        _announce(watch)
    return is_moved


def _close(watch: Watch) -> bool:
    start, end = next_period(watch)
    is_busy = Q(state=WatchPeriod.State.JUDGING) | Q(anchor_run__state=Run.State.ACTIVE)
    if shared_now() < end + GRACE or watch.periods.filter(is_busy).exists():
        return False
    chosen, total = choose(watch, start, end)
    run = _started(watch, chosen) if chosen else None
    period = WatchPeriod.objects.create(watch=watch, start=start, total=total, run=run)
    data = {"watch": watch.name, "from": f"{start:%Y-%m-%d}", "summaries": total, "chosen": len(chosen)}
    log(project=watch.project, actor=None, verb="close watched period", target=period, data=data)
    return True


def _started(watch: Watch, summaries: list[int], *, repeat: float | None = None) -> Run:
    judge = watch.project.deciding_judge
    if judge is None:
        raise Invalid("The project has no deciding judge. Start a run once, or choose a judge.")
    metrics = [score if score in SCORE_SIDES else "criteria" for score in watch.scores]
    return start_run(
        project=watch.project, judge=judge, metrics=metrics, trial_of=summaries, repeat_share=repeat, by=None
    )


def _end_judging(watch: Watch) -> bool:
    ended = watch.periods.filter(state=WatchPeriod.State.JUDGING).exclude(run__state=Run.State.ACTIVE)
    period = ended.select_related("run__judge").first()
    if period is None:
        return False
    summaries = _summaries(period)
    period.state, period.basis = WatchPeriod.State.ANSWERING, _basis(watch, period.run, summaries)
    if period.basis and watch.checks:
        side = SCORE_SIDES[watch.scores[0]] if len(watch.scores) == 1 else ""
        share = min(1.0, watch.checks / max(1, eligible(watch.project, side, summaries).count()))
        # Without a sample, the period has no answers.
        with suppress(Invalid), transaction.atomic():
            period.sample = sample_checks(
                project=watch.project, by=None, method="uniform", share=share, side=side, among=summaries
            )
    period.save()
    return True


def _settle(watch: Watch) -> bool:
    """A period without a sample, or with a cancelled one, gets its values from the judge alone."""
    for period in watch.periods.filter(state=WatchPeriod.State.ANSWERING).select_related("sample", "run"):
        sample = period.sample if period.sample and period.sample.cancelled_at is None else None
        if sample and sample.sampled_checks.filter(verdict=None).exists():
            continue
        period.answers = sample.sampled_checks.count() if sample else 0
        period.values = document_values(watch, _summaries(period), sample)
        period.state, period.settled_at = WatchPeriod.State.SETTLED, shared_now()
        period.save()
        return True
    return False


def _summaries(period: WatchPeriod) -> list[int]:
    return list(period.run.summaries.values_list("pk", flat=True)) if period.run else []


def _basis(watch: Watch, run: Run | None, summaries: list[int]) -> str:
    """Return the versions of guidelines and criteria and the judge's signature; "" if no answer is usable."""
    given = (
        Verdict.objects.filter(check_row__summary__in=summaries, label__isnull=False),
        Rating.objects.filter(summary__in=summaries, value__isnull=False),
    )
    newest = [rows.filter(judge=run.judge).order_by("-pk") for rows in given] if run else []
    found = (rows.values_list("origin_name", flat=True).first() for rows in newest)
    guidelines, asked = current(watch.project), criteria_in_force(watch.project).filter(name__in=watch.scores)
    versions = [guidelines.version if guidelines else 0, *asked.values_list("version", flat=True)]
    signature = next(filter(None, found), "")
    return f"{' '.join(map(str, versions))}|{signature}"[:300] if signature else ""


def _ask_anchors(watch: Watch) -> bool:
    period = watch.periods.exclude(basis="").select_related("anchor_run__judge").order_by("-start").first()
    if period is None:
        return False
    if run := period.anchor_run:
        if run.state == Run.State.ACTIVE:
            return False
        period.asked, period.anchor_run = [*period.asked, _answers(watch, run)], None
    elif watch.periods.filter(state=WatchPeriod.State.JUDGING).exists():
        return False
    else:
        is_as_before = bool(period.asked) and period.asked[-1]["model"] == _served_model(watch)
        is_fixed = watch.anchors.get("basis") == period.basis or _fix_anchors(watch, period)
        if is_as_before or len(period.asked) == MOST_TESTS or not is_fixed:
            return False
        of_anchors = Check.objects.filter(public_id__in=watch.anchors["checks"])
        if not (summaries := list(of_anchors.values_list("summary", flat=True).distinct())):
            # All anchors are gone.
            return False
        period.anchor_run = _started(watch, summaries, repeat=1.0)
    period.save(update_fields=["anchor_run", "asked"])
    return True


def _fix_anchors(watch: Watch, period: WatchPeriod) -> bool:
    """Choose the anchors at random. Returns False if there are too few checks yet."""
    era = era_of(list(watch.periods.select_related("run").order_by("start")))
    own = Check.objects.filter(is_current=True, judge_label__isnull=False)
    if watch.checks:
        own = own.filter(sampled__sample__in=[each.sample_id for each in era if each.answers])
    else:
        own = own.filter(summary__in=[key for each in era for key in _summaries(each)])
    sides = [SCORE_SIDES[score] for score in watch.scores if score in SCORE_SIDES]
    labels = dict(own.filter(side__in=sides).order_by("pk").values_list("public_id", "judge_label"))
    is_whole = sum(each.state == WatchPeriod.State.SETTLED for each in era) >= watch.reference_periods
    if not labels or (len(labels) < ANCHORS and not is_whole):
        return False
    fixed = random.Random(f"{watch.public_id} {period.basis}")
    chosen = fixed.sample(list(labels), min(ANCHORS, len(labels)))
    watch.anchors = {"basis": period.basis, "checks": {key: labels[key] for key in chosen}}
    watch.save(update_fields=["anchors"])
    return True


def _answers(watch: Watch, run: Run) -> dict[str, object]:
    """Return the served model, the number of answered anchors, and the changed labels by anchor."""
    first: Mapping[str, str] = watch.anchors["checks"]
    done = run.jobs.filter(state=Job.State.DONE).values("document_set")
    asked = Verdict.objects.filter(check_row__public_id__in=first, check_row__document_set__in=done)
    rows = asked.filter(label__isnull=False).exclude(repeated="").order_by("pk")
    # The query does not name the judge, because SQLite would then read all verdicts of the judge.
    found = rows.values_list("judge_id", "check_row__public_id", "repeated")
    now = {key: label for by, key, label in found if by == run.judge_id}
    return {
        "model": _served_model(watch),
        "count": len(now),
        "changed": {key: label for key, label in now.items() if label != first[key]},
    }


def _served_model(watch: Watch) -> str:
    """Return the model that the judge's server named last; "" for a panel, whose members have the calls."""
    calls = JudgeCall.objects.filter(judge=watch.project.deciding_judge_id).exclude(served_model="")
    return calls.order_by("-pk").values_list("served_model", flat=True).first() or ""


def _announce(watch: Watch) -> None:
    report, noun = watch_report(watch), watch.length
    alarms = {f"{each.subject} in the {noun} from {each.period:%d %b %Y}.": each for each in report.alarms}
    new = {said: alarm for said, alarm in alarms.items() if said not in watch.latest["alarms"]}
    means = {each.score: mean for each in report.scores if (mean := each.latest) is not None}
    watch.latest = {
        "state": report.state,
        "sentence": report.sentence,
        "means": means,
        "alarms": list(alarms),
    }
    watch.save(update_fields=["latest"])
    for alarm in new.values():
        data = {"watch": watch.name, "cause": alarm.cause, "said": alarm.subject}
        log(project=watch.project, actor=None, verb="raise alarm", target=watch, data=data)
    if new and settings.EMAIL_URL:
        place = reverse("watch", args=[watch.project.slug, watch.public_id])
        now = f"{report.sentence} {report.advice}".rstrip()
        body = "\n\n".join([*new, now, f"{watch.project.name}, Results, Watch: {place}\n"])
        subject = f"{watch.name}: {next(iter(new.values())).subject}"
        for address in _managers(watch.project):
            mail = {"to": address, "subject": subject, "body": body}
            transaction.on_commit(partial(hint, MAIL, kwargs=mail, waits="a mail of an alarm"))


def _managers(project: Project) -> list[str]:
    members = Membership.objects.filter(project=project, user__is_active=True).select_related("user")
    managing = {Role.OWNER, Role.MANAGER}
    return sorted({each.user.email for each in members if each.user.email and managing & each.role_set})
