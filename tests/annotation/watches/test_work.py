from __future__ import annotations

import re
from collections import Counter
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from django.core import mail
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.analysis.estimates.samples import samples
from annotation.core import jobs
from annotation.core.by_hand import rows
from annotation.core.shared.clock import shared_now
from annotation.judging.services.start_run import start_run
from annotation.models import Check, Event, Job, Judge, JudgeCall, Project, Run, Sample, Summary, Watch
from annotation.projects.services.set_criteria import set_criteria
from annotation.projects.services.write_guidelines import write_guidelines
from annotation.sampling.services.cancel_sample import cancel_sample
from annotation.watches import periods as watch_periods
from annotation.watches.periods import choose
from annotation.watches.report import EXIT_CODES, watch_report
from annotation.watches.work import ask_for_watches, perform
from evaluation.metrics import Criterion
from tests.annotation.judging.doing import judge_all
from tests.annotation.watches.streams import answer, claim, pushed, pushed_each, reopen, watched, work_off
from tests.llm_server import faults

if TYPE_CHECKING:
    from tests.annotation.cast import World
    from tests.llm_server import Call, Fault, LLMServer

pytestmark = pytest.mark.django_db(transaction=True)


def states(watch: Watch) -> list[tuple[str, int]]:
    return list(watch.periods.order_by("start").values_list("state", "total"))


def test_a_drop_of_the_judges_line_says_that_either_changed(world: World, mailing: None) -> None:
    world.mona.email = "mona@example.org"
    world.mona.save()
    pushed_each(world.project, 6, 5, 4)
    watch = watched(world.project, ago=6, reference_periods=3)
    pushed(world.project, ago=3, kept=0.4)
    watch = work_off(watch)
    report = watch_report(watch)
    # The two days without summaries have no value and cause no alarm.
    assert states(watch) == [("settled", 12)] * 4 + [("settled", 0)] * 2
    assert (report.state, EXIT_CODES[report.state]) == ("worse", 3)
    assert [(alarm.cause, alarm.subject) for alarm in report.alarms] == [("either", "Coverage fell")]
    assert report.scores[0].window == 1
    # The lexical judge answers the anchors as before.
    assert report.advice.startswith("The judge answers 150 known checks as usual")
    assert [sent.to for sent in mail.outbox] == [["mona@example.org"]]
    assert mail.outbox[0].subject.endswith("Coverage fell")
    assert Event.objects.filter(verb="raise alarm").count() == 1
    work_off(watch)
    assert len(mail.outbox) == 1


def test_peoples_answers_show_a_drop_that_the_judge_does_not_see(world: World) -> None:
    pushed_each(world.project, *range(7, 1, -1))
    watch = watched(world.project, ago=7, reference_periods=3, checks=40)
    work_off(watch)
    assert watch_report(watch).sentence.startswith("Nothing to compare yet: 0 of 3 days")
    for number, period in enumerate(watch.periods.filter(state="answering").order_by("start")):
        answer(period, world.rex, flipped=0.0 if number < 3 else 0.6)
    watch = work_off(watch)
    report = watch_report(watch)
    assert [point.answers for point in report.scores[0].points] == [40] * 6 + [0]
    assert {alarm.cause for alarm in report.alarms} == {"summaries"}
    assert report.state == "worse"
    # People changed 60 % of the yes answers, so the score of about 0.8 drops by about 0.8 * 0.6 = 0.48.
    assert report.scores[0].drop == pytest.approx(0.48, abs=0.15)


def test_a_sample_of_a_watch_is_of_its_period_and_no_estimate_uses_it(world: World) -> None:
    pushed(world.project, ago=3, kept=0.8)
    watch = work_off(watched(world.project, ago=3, checks=30))
    sample = Sample.objects.get()
    assert sample.sampled_checks.count() == 30
    assert set(
        sample.sampled_checks.values_list("check_row__summary__document_set__external_id", flat=True)
    ) <= {f"3-0.8-{number}" for number in range(12)}
    answer(watch.periods.get(sample=sample), world.rex)
    assert samples(world.project) == []


def three_periods(project: Project, judge: Judge) -> Watch:
    project.deciding_judge = judge
    project.save()
    pushed_each(project, 6, 5, 4)
    return work_off(watched(project, ago=6, reference_periods=2))


def test_a_judge_that_changes_is_named_with_the_checks(
    world: World, llm_judge: Judge, llm_server: LLMServer
) -> None:
    watch = three_periods(world.project, llm_judge)
    steady = watch_report(watch)
    assert [(test.count, test.flips, test.is_alarm) for test in steady.anchors] == [(150, 0, False)] * 2
    # The first test belongs to the reference; without flips, the p-value of the second is 1.
    assert [test.p for test in steady.anchors] == [None, pytest.approx(1.0)]
    # The server now has a model with another name, which answers three of ten claims differently.
    llm_server.served_model = "scripted-2"
    llm_server.where(flips_three)
    reopen(watch)
    pushed(world.project, ago=3, kept=0.8)
    for claimed in claim(watch):
        jobs.carry_out(claimed, perform)
    tested = watch.periods.exclude(basis="").latest("start")
    tested.asked, tested.anchor_run = [], Run.objects.filter(repeat_share=1.0).latest("pk")
    tested.save()
    # While a period is judged, a new name has no effect: anchors are asked at the end of the period.
    JudgeCall.objects.create(judge=llm_judge, key="k", step="check", served_model="scripted-2")
    for claimed in claim(watch):
        jobs.carry_out(claimed, perform)
    assert Job.objects.get(watch=watch).error == ""
    watch = work_off(watch)
    report = watch_report(watch)
    assert len(report.anchors) == len(steady.anchors) + 1
    assert (report.state, EXIT_CODES[report.state]) == ("judge_changed", 4)
    changed = report.anchors[-1]
    assert (changed.model, changed.is_alarm) == ("scripted-2", True)
    assert changed.flips == len(changed.changed)
    assert report.sentence.startswith(f"The judge changed: it answered {changed.flips} of 150")
    assert report.advice.startswith("Its server names the model scripted-2; at first it named scripted.")


def test_the_anchors_are_asked_again_once_when_the_server_names_another_model(
    world: World, llm_judge: Judge, llm_server: LLMServer
) -> None:
    watch = three_periods(world.project, llm_judge)

    def asked() -> list[tuple[str, int, bool]]:
        return [(test.model, test.flips, test.is_alarm) for test in watch_report(watch).anchors]

    def serve(model: str, *, ago: int) -> None:
        llm_server.served_model = model
        [summary] = pushed(world.project, ago=ago, kept=0.8, count=1)
        start_run(project=world.project, judge=llm_judge, trial_of=[summary.pk], by=None)
        work_off(watch)

    first = asked()
    assert [model for model, *_ in first] == ["scripted"] * len(first)
    serve("scripted", ago=0)
    assert asked() == first
    llm_server.where(flips_three)
    serve("scripted-2", ago=-1)
    report = watch_report(watch)
    assert (len(report.anchors), report.state) == (len(first) + 1, "judge_changed")
    again, before = report.anchors[-1], report.anchors[-2]
    assert (again.period, again.model, again.is_alarm) == (before.period, "scripted-2", True)
    # A period has two tests at most.
    serve("scripted-3", ago=-2)
    assert len(asked()) == len(first) + 1


def test_summaries_are_chosen_alike_by_every_repetition(world: World) -> None:
    made = pushed(world.project, ago=3, kept=0.8)
    watch = watched(world.project, ago=3, summaries=5)
    start, end = watch_periods.next_period(watch)
    chosen, total = choose(watch, start, end)
    assert (len(set(chosen)), total) == (5, 12)
    assert choose(watch, start, end) == (chosen, 12)
    assert set(chosen) <= {each.pk for each in made}
    work_off(watch)
    run = watch.periods.get(start=start).run
    assert run is not None
    assert set(run.summaries.values_list("pk", flat=True)) == set(chosen)


@pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL chooses by the tables' sizes")
def test_no_statement_of_a_period_reads_the_whole_stream(world: World) -> None:
    # SQLite takes another way to a few keys than to many.
    pushed(world.project, ago=3, kept=0.8, count=40)
    with CaptureQueriesContext(connection) as asked:
        work_off(watched(world.project, ago=3, reference_periods=1))
    found = {each["sql"] for each in asked if each["sql"].lstrip().startswith(("SELECT", "WITH"))}
    assert any("annotation_verdict" in sql for sql in found)
    # A statement for one row stops at the newest one.
    for sql in (each for each in found if not each.endswith("LIMIT 1")):
        plan = str(rows(f"EXPLAIN QUERY PLAN {sql.replace('%', '%%')}", ()))
        assert not re.search(
            r"_(documentset|summary|verdict|rating)_\w+ \((project|system|judge)_id=\?\)", plan
        ), sql


def test_a_late_summary_is_never_chosen(world: World) -> None:
    pushed(world.project, ago=4, kept=0.8)
    watch = watched(world.project, ago=4, summaries=100)
    work_off(watch)
    pushed(world.project, ago=4, kept=0.5, count=3)
    reopen(watch)
    work_off(watch)
    first = watch.periods.get(run__isnull=False)
    assert first.run is not None
    assert (first.total, first.run.summaries.count()) == (12, 12)


def test_two_beats_at_once_and_a_killed_worker_judge_each_period_once(world: World) -> None:
    pushed_each(world.project, 4, 3)
    watch = watched(world.project, ago=4)
    [claimed] = claim(watch)
    ask_for_watches()
    assert claim(watch) == []
    # The worker dies: its lease ends and another worker takes the job. Nothing that the first worker does is written.
    Job.objects.filter(pk=claimed.job.pk).update(lease_until=shared_now() - timedelta(seconds=1))
    jobs.reap()
    jobs.carry_out(claimed, perform)
    assert watch.periods.count() == 0
    work_off(watch)
    summaries = Counter(
        Run.objects.filter(project=world.project, repeat_share=None).values_list("summaries", flat=True)
    )
    assert set(summaries.values()) == {1}
    assert len(summaries) == 24


def test_changed_guidelines_begin_a_new_reference_and_no_alarm(world: World) -> None:
    watch = three_periods(world.project, world.judge)
    assert watch_report(watch).state == "steady"
    write_guidelines(project=world.project, text="Judge strictly.", by=world.mona)
    reopen(watch)
    pushed(world.project, ago=3, kept=0.3)
    watch = work_off(watch)
    report = watch_report(watch)
    assert report.sentence == "Nothing to compare yet: 1 of 2 days of the reference are complete."
    assert report.alarms == ()


def test_a_criterion_is_watched_by_the_judges_ratings_and_a_new_version_begins_a_new_reference(
    world: World, llm_judge: Judge, llm_server: LLMServer
) -> None:
    Project.objects.update(deciding_judge=llm_judge)
    set_criteria(world.project, [Criterion("tone", "Is it neutral?", (1, 5), answered_by="judge")])
    llm_server.where(rates_long_ones_high)
    pushed_each(world.project, 7, 6)
    pushed(world.project, ago=5, kept=0.4)
    watch = work_off(watched(world.project, ago=7, reference_periods=2, scores=["tone"]))
    report = watch_report(watch)
    # Long summaries get 4 or 5 of 1 to 5, so .75 or 1; short ones 2, so .25.
    means = [point.mean for point in report.scores[0].points if point.mean is not None]
    assert (means[0] >= 0.75, means[1] >= 0.75, means[2]) == (True, True, 0.25)
    assert (report.state, [alarm.cause for alarm in report.alarms]) == ("worse", ["either"])
    assert report.sentence.startswith("The judge's tone fell by")
    # Anchors are claims, and this watch does not judge claims.
    assert report.anchors == ()
    set_criteria(world.project, [Criterion("tone", "Is it calm?", (1, 5), answered_by="judge")])
    reopen(watch)
    pushed(world.project, ago=4, kept=0.4)
    report = watch_report(work_off(watch))
    assert report.sentence == "Nothing to compare yet: 1 of 2 days of the reference are complete."
    assert report.alarms == ()


def test_a_watch_goes_on_without_the_checks_of_its_anchors(world: World) -> None:
    watch = three_periods(world.project, world.judge)
    Check.objects.filter(public_id__in=watch.anchors["checks"]).delete()
    reopen(watch)
    pushed(world.project, ago=3, kept=0.8)
    watch = work_off(watch)
    assert watch.job is not None
    assert watch.job.error == ""
    assert set(watch.periods.filter(total__gt=0).values_list("state", flat=True)) == {"settled"}
    assert watch.periods.filter(total__gt=0).count() == 4


def test_a_deleted_summary_changes_no_closed_period(world: World) -> None:
    pushed(world.project, ago=3, kept=0.8)
    watch = work_off(watched(world.project, ago=3))
    before = watch_report(watch).scores
    Check.objects.filter(document_set__external_id="3-0.8-0").delete()
    Summary.objects.filter(document_set__external_id="3-0.8-0", is_summary=True).delete()
    assert watch_report(work_off(watch)).scores == before


def test_a_cancelled_sample_leaves_the_period_without_answers(world: World) -> None:
    pushed(world.project, ago=2, kept=0.8)
    watch = work_off(watched(world.project, ago=2, checks=10))
    cancel_sample(sample=Sample.objects.get(), by=world.mona)
    watch = work_off(watch)
    [point, *_] = watch_report(watch).scores[0].points
    assert (point.state, point.answers) == ("Complete", 0)
    assert watch_report(watch).state == "unknown"


def test_two_periods_without_answers_leave_the_present_unknown(world: World) -> None:
    pushed(world.project, ago=4, kept=0.8)
    watch = work_off(watched(world.project, ago=4, checks=10, reference_periods=1))
    answer(watch.periods.get(state="answering"), world.rex)
    watch = work_off(watch)
    assert watch_report(watch).sentence.startswith("The reference is complete")
    # Nobody can answer blind where verdicts are shown at once.
    world.project.reveal = Project.Reveal.SHOWN
    world.project.save()
    reopen(watch)
    for ago in (3, 2):
        pushed(world.project, ago=ago, kept=0.3)
    report = watch_report(work_off(watch))
    assert [(point.state, point.answers) for point in report.scores[0].points][1:3] == [("Complete", 0)] * 2
    assert (report.state, report.alarms) == ("unknown", ())
    assert report.sentence == "The last 2 days have no value, so the present is unknown."


def test_a_watch_says_for_what_it_waits(world: World) -> None:
    pushed(world.project, ago=2, kept=0.8)
    world.project.deciding_judge = None
    world.project.save()
    watch = work_off(watched(world.project, ago=2))
    assert watch.job.error.startswith("The project has no deciding judge.")
    world.project.deciding_judge = world.judge
    world.project.save()
    run = start_run(project=world.project, judge=world.judge, by=None)
    for claimed in claim(watch):
        jobs.carry_out(claimed, perform)
    assert "already" in Job.objects.get(watch=watch).error
    judge_all(run)
    assert work_off(watch).job.error == ""
    assert watch.periods.get(total=12).state == "settled"


def test_an_archived_watch_or_project_does_nothing(world: World) -> None:
    pushed(world.project, ago=2, kept=0.8)
    watch = watched(world.project, ago=2)
    Watch.objects.filter(pk=watch.pk).update(archived_at=shared_now())
    assert claim(watch) == []
    Watch.objects.filter(pk=watch.pk).update(archived_at=None)
    world.project.archived_at = shared_now()
    world.project.save()
    assert claim(watch) == []


def rates_long_ones_high(call: Call) -> Fault | None:
    length = len(call.question.get("text", ()))
    value = 5 if length > 7 else 4 if length > 6 else 2

    def changed(reply: dict[str, Any]) -> dict[str, Any]:
        return {**reply, "criteria": [{**each, "value": value} for each in reply["criteria"]]}

    return faults.changed(changed) if "criteria" in call.question else None


def flips_three(call: Call) -> Fault | None:
    def changed(reply: dict[str, Any]) -> dict[str, Any]:
        first, others = reply["answers"][:3], reply["answers"][3:]
        flipped = [{**each, "label": "no" if each["label"] == "yes" else "yes"} for each in first]
        return {**reply, "answers": [*flipped, *others]}

    return faults.changed(changed) if "claims" in call.question else None
