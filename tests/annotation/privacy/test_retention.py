from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from allauth.usersessions.models import UserSession
from django.conf import settings as installed
from django.contrib.sessions.models import Session
from django.utils import timezone

from annotation.demo.project import is_sample
from annotation.exports.services import request_export
from annotation.judging.queries.run_estimate import run_estimate
from annotation.models import AccountEvent, Event, Job, JudgeCall, Run
from annotation.privacy.retention import apply_retention
from annotation.tasks import apply_retention as task
from tests.annotation.exports.doing import perform

if TYPE_CHECKING:
    from tests.annotation.cast import World


def add_call(world: World, key: str, *, days: int, run: Run | None) -> JudgeCall:
    call = JudgeCall.objects.create(
        judge=world.judge, key=key, step="check", request="asked", reply="said", prompt_tokens=70, run=run
    )
    JudgeCall.objects.filter(pk=call.pk).update(created_at=timezone.now() - timedelta(days=days))
    return call


def a_run(world: World, state: str = "finished") -> Run:
    return Run.objects.create(project=world.project, judge=world.judge, state=state)


def words(*calls: JudgeCall) -> list[str]:
    return [JudgeCall.objects.get(pk=call.pk).reply for call in calls]


def test_without_a_rule_everything_is_kept(world: World) -> None:
    call = add_call(world, "old", days=9999, run=a_run(world))
    assert apply_retention() == {}
    assert words(call) == ["said"]


def test_calls_of_all_runs_and_of_none_go_by_age(world: World, settings: Any) -> None:
    settings.COVERDICT_KEEP_CALLS_DAYS = 10
    run, stray = a_run(world), add_call(world, "stray", days=11, run=None)
    old, fresh = add_call(world, "old", days=11, run=run), add_call(world, "fresh", days=9, run=run)
    assert apply_retention() == {"calls": 2}
    assert words(stray, old, fresh) == ["", "", "said"]


def test_an_erased_call_keeps_what_it_cost_and_is_asked_again(world: World, settings: Any) -> None:
    settings.COVERDICT_KEEP_CALLS_DAYS = 1
    run = a_run(world)
    call = add_call(world, "old", days=2, run=run)
    world.judge.kind, world.judge.model = "openai", "some-model"
    world.judge.save()
    estimate = run_estimate(project=world.project, judge=world.judge, parts=["coverage"])
    assert estimate.erased == 0
    apply_retention()
    call.refresh_from_db()
    assert (call.request, call.reply, call.prompt_tokens, call.run) == ("", "", 70, run)
    # The call is no longer found under its question, so the judge would be asked again.
    assert not JudgeCall.objects.filter(key="old").exists()
    estimate = run_estimate(project=world.project, judge=world.judge, parts=["coverage"])
    assert estimate.erased == 1


def test_calls_of_a_run_that_is_under_way_stay(world: World, settings: Any) -> None:
    settings.COVERDICT_KEEP_CALLS_DAYS = 1
    call = add_call(world, "old", days=2, run=a_run(world, "active"))
    assert apply_retention() == {}
    assert words(call) == ["said"]


def test_an_exported_file_goes_and_its_row_says_so(world: World, settings: Any) -> None:
    export = request_export(project=world.project, level="scores", format="csv", by=world.olga)
    perform(export)
    folder = installed.VAR_DIR / "exports" / export.public_id
    Job.objects.update(finished_at=timezone.now() - timedelta(days=8))
    settings.COVERDICT_KEEP_EXPORTS_DAYS = 7
    assert apply_retention() == {"exports": 1}
    assert not folder.exists()
    export.refresh_from_db()
    assert (export.path, export.manifest["level"]) == ("", "scores")
    assert apply_retention() == {}


def test_the_log_keeps_what_others_go_by(world: World, settings: Any) -> None:
    long_ago = timezone.now() - timedelta(days=400)
    kept = [("add sample project", "project"), ("assign", "sample"), ("start run", "run")]
    for verb, kind in [*kept, ("override", "check"), ("comment", "comment")]:
        Event.objects.create(project=world.project, verb=verb, target_kind=kind, target_id="x")
    settings.COVERDICT_KEEP_LOG_DAYS = 365
    assert apply_retention() == {}
    _made_at(long_ago)
    assert apply_retention() == {"log": 2}
    verbs = set(Event.objects.values_list("verb", flat=True))
    assert verbs == {"add sample project", "assign", "start run"}
    assert is_sample(world.project)


def _made_at(moment: Any) -> None:
    from annotation.privacy.project_rows import unlock_log

    rows = list(Event.objects.values("project_id", "verb", "target_kind", "target_id"))
    for row in Event.objects.select_related("project"):
        unlock_log(row.project)
    Event.objects.all()._raw_delete(using="default")
    for row in rows:
        field = Event._meta.get_field("created_at")
        field.auto_now_add = False  # type: ignore[attr-defined]
        try:
            Event.objects.create(**row, created_at=moment)
        finally:
            field.auto_now_add = True  # type: ignore[attr-defined]


def test_sessions_that_are_over_go_and_others_stay(world: World) -> None:
    now = timezone.now()
    for key, ends in (("old", now - timedelta(days=1)), ("new", now + timedelta(days=1))):
        Session.objects.create(session_key=key, session_data="", expire_date=ends)
        UserSession.objects.create(session_key=key, user=world.mona, ip="192.0.2.1")
    assert apply_retention() == {"sessions": 1}
    for kind in (Session, UserSession):
        assert [row.session_key for row in kind.objects.all()] == ["new"]


def test_sign_ins_go_with_the_log(world: World, settings: Any) -> None:
    now = timezone.now()
    for days in (10, 80):
        AccountEvent.objects.create(kind="sign in", person=world.mona, at=now - timedelta(days=days))
    assert apply_retention() == {}
    settings.COVERDICT_KEEP_LOG_DAYS = 30
    assert apply_retention() == {"sign-ins": 1}


def test_the_task_does_it(world: World, settings: Any) -> None:
    settings.COVERDICT_KEEP_CALLS_DAYS = 1
    call = add_call(world, "old", days=2, run=a_run(world))
    task()
    assert words(call) == [""]
