"""A judge tried with one sample claim."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from django.utils import timezone

from annotation import perform_job
from annotation.core import jobs
from annotation.core.jobs import Lane
from annotation.core.refusals import Invalid, NotAllowed
from annotation.judging.services import try_judge as module
from annotation.judging.services.request_trial import request_trial
from annotation.judging.services.try_judge import try_judge
from annotation.models import Job, Judge, JudgeCall, JudgeTrial, Membership, Project
from tests.annotation.judging.doing import perform_asked
from tests.annotation.statements import statements_of
from tests.llm_server import faults, llm_server

if TYPE_CHECKING:
    from django.test import Client

    from tests.annotation.cast import World
    from tests.llm_server import LLMServer

__all__ = ["llm_server"]

KEY = "sk-a-key-that-nobody-may-see"


@pytest.fixture
def judge(db: None, llm_server: LLMServer) -> Judge:
    return Judge.objects.create(
        name="scripted",
        kind="openai",
        model="scripted",
        base_url=llm_server.base_url,
        prompt_price=2.0,
        completion_price=8.0,
    )


def test_the_lexical_judge_answers_without_a_server(world: World) -> None:
    trial = try_judge(judge=world.judge, by=world.mona)
    assert (trial.label, trial.calls, trial.format, trial.cost) == ("yes", 0, "", 0.0)


def test_a_server_answers_with_its_latency_tokens_and_cost(
    world: World, judge: Judge, llm_server: LLMServer
) -> None:
    llm_server.latency = 0.05
    trial = try_judge(judge=judge, by=world.mona)
    # Each word of the claim stands in the sample text, which is all that the scripted server looks at.
    assert (trial.label, trial.calls, trial.format) == ("yes", 1, "json_schema")
    assert trial.seconds >= 0.05
    paid = trial.prompt_tokens * 2.0 + trial.completion_tokens * 8.0
    assert paid > 0
    assert trial.cost == pytest.approx(paid / 1_000_000)
    assert not JudgeCall.objects.exists()


@pytest.mark.parametrize(
    ("formats", "best"), [(("json_object",), "json_object"), ((), "text")], ids=["object", "text"]
)
def test_what_the_server_supports_is_told(
    world: World, judge: Judge, llm_server: LLMServer, formats: tuple[str, ...], best: str
) -> None:
    llm_server.formats = formats
    assert try_judge(judge=judge, by=world.mona).format == best
    judge.refresh_from_db()
    assert judge.reply_format == best


def test_a_trial_finds_anew_what_the_server_supports(
    world: World, judge: Judge, llm_server: LLMServer
) -> None:
    """So that a server that has learned something is used for what it can do."""
    Judge.objects.filter(pk=judge.pk).update(reply_format="text")
    judge.refresh_from_db()
    assert try_judge(judge=judge, by=world.mona).format == "json_schema"
    judge.refresh_from_db()
    assert judge.reply_format == "json_schema"


def test_a_trial_without_an_answer_leaves_what_is_known(
    world: World, judge: Judge, llm_server: LLMServer
) -> None:
    Judge.objects.filter(pk=judge.pk).update(reply_format="text")
    llm_server.api_key = "another"
    with pytest.raises(Invalid):
        try_judge(judge=judge, by=world.mona)
    judge.refresh_from_db()
    assert judge.reply_format == "text"


def test_a_panel_is_tried_with_all_its_members(world: World, judge: Judge, llm_server: LLMServer) -> None:
    llm_server.usage = (1000, 500)
    panel = Judge.objects.create(name="three", kind="panel")
    plainer = Judge.objects.create(name="plainer", kind="openai", model="plainer", base_url=judge.base_url)
    panel.members.set([world.judge, judge, plainer])
    llm_server.where(
        lambda call: (
            faults.status(400, "no such format")
            if (call.body["model"], call.format) == ("plainer", "json_schema")
            else None
        )
    )
    trial = try_judge(judge=panel, by=world.mona)
    assert (trial.label, trial.calls, trial.format) == ("yes", 2, "json_object")
    assert (trial.prompt_tokens, trial.completion_tokens) == (2000, 1000)
    # Of the two one has a price: 1000 tokens at 2 and 500 at 8 per million.
    assert trial.cost == pytest.approx(0.006)
    assert set(Judge.objects.values_list("name", "reply_format")) == {
        ("lexical", ""),
        ("three", ""),
        ("scripted", "json_schema"),
        ("plainer", "json_object"),
    }


def test_a_refusal_is_told_without_the_key(
    world: World, judge: Judge, llm_server: LLMServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SCRIPTED_KEY", KEY)
    judge.api_key_env = "SCRIPTED_KEY"
    llm_server.api_key = "another"
    with pytest.raises(Invalid, match="401") as refused:
        try_judge(judge=judge, by=world.mona)
    assert refused.value.code == "judge_failed"
    assert KEY not in refused.value.message


def test_a_missing_key_names_the_variable(world: World, judge: Judge) -> None:
    judge.api_key_env = "SCRIPTED_KEY"
    with pytest.raises(Invalid, match="SCRIPTED_KEY"):
        try_judge(judge=judge, by=world.mona)


def test_an_address_that_is_not_allowed_is_never_called(
    world: World, judge: Judge, llm_server: LLMServer, settings: Any
) -> None:
    settings.COVERDICT_JUDGE_URLS = ["https://elsewhere.example"]
    with pytest.raises(Invalid, match="COVERDICT_JUDGE_URLS"):
        try_judge(judge=judge, by=world.mona)
    assert not llm_server.calls


def test_a_server_that_hangs_is_given_up_early(
    world: World, judge: Judge, llm_server: LLMServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LONGEST_SECONDS", 0.3)
    llm_server.always(faults.hang())
    with pytest.raises(Invalid, match=r"within 0\.3 seconds") as refused:
        try_judge(judge=judge, by=world.mona)
    assert refused.value.code == "judge_failed"


@pytest.mark.parametrize("name", ["rex", "ana", "vic", "cleo"])
def test_only_those_who_may_run_judges_try_them(world: World, name: str) -> None:
    with pytest.raises(NotAllowed):
        try_judge(judge=world.judge, by=world.users[name])


# The doors


def test_the_api_tells_the_trial(world: World, client: Client) -> None:
    client.force_login(world.mona)
    begun = client.post("/api/v1/judges/lexical/try/")
    here = f"/api/v1/judges/trials/{begun.json()['id']}/"
    assert (begun.status_code, begun.json()["is_over"], begun.json()["outcome"]) == (202, False, None)
    perform_asked()
    told = client.get(here).json()
    answer = told["outcome"]
    assert (told["is_over"], told["fault"]) == (True, "")
    assert (answer["answer"], answer["calls"], answer["format"]) == ("yes", 0, "")
    client.force_login(world.olga)
    assert client.get(here).status_code == 404


def test_the_api_tells_why_a_judge_failed(
    world: World, judge: Judge, llm_server: LLMServer, client: Client
) -> None:
    llm_server.api_key = "another"
    client.force_login(world.mona)
    begun = client.post("/api/v1/judges/scripted/try/").json()
    perform_asked()
    told = client.get(f"/api/v1/judges/trials/{begun['id']}/").json()
    assert (told["is_over"], told["outcome"]) == (True, None)
    assert "401" in told["fault"]


def test_a_judge_that_nobody_could_ask_is_refused_at_once(
    world: World, judge: Judge, client: Client, settings: Any
) -> None:
    settings.COVERDICT_JUDGE_URLS = []
    client.force_login(world.mona)
    answer = client.post("/api/v1/judges/scripted/try/")
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "unusable_judge")
    assert not JudgeTrial.objects.exists()


def test_judges_that_hang_keep_no_request_waiting_and_are_asked_together(
    world: World,
    transactional_db: None,
    client: Client,
    llm_server: LLMServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Three that hang are begun at once; all are given up when one would be, and not one after the other."""
    monkeypatch.setattr(module, "LONGEST_SECONDS", 2.0)
    llm_server.always(faults.hang())
    for name in ("a", "b", "c"):
        Judge.objects.create(name=name, kind="openai", model=name, base_url=llm_server.base_url)
    client.force_login(world.mona)
    for name in ("a", "b", "c"):
        assert client.post(f"/api/v1/judges/{name}/try/").status_code == 202
    assert not llm_server.calls
    perform_job.pull(Lane.TRIALS)
    assert {call.body["model"] for call in llm_server.calls} == {"a", "b", "c"}
    assert all("no answer within 2 seconds" in each.fault for each in JudgeTrial.objects.all())
    begun = list(Job.objects.filter(trial__isnull=False).values_list("started_at", "finished_at"))
    assert max(start for start, _ in begun) < min(end for _, end in begun)


def test_a_trial_whose_worker_died_at_each_attempt_is_over(world: World, client: Client) -> None:
    trial = request_trial(judge=world.judge, project=world.project, by=world.mona)
    [claimed] = jobs.take(lane=Lane.TRIALS)
    attempts = len(jobs.PAUSES_SECONDS) + 1
    Job.objects.update(attempt=attempts, lease_until=timezone.now() - timedelta(seconds=1))
    jobs.reap()
    claimed.job.refresh_from_db()
    assert claimed.job.state == Job.State.FAILED
    client.force_login(world.mona)
    told = client.get(f"/api/v1/judges/trials/{trial.public_id}/").json()
    assert (told["is_over"], told["fault"]) == (True, claimed.job.error)
    page = client.get(f"/p/harbour/settings/judges/trials/{trial.public_id}/").content.decode()
    assert "hx-trigger" not in page
    assert claimed.job.error in page


def test_trials_are_kept_for_a_day(world: World) -> None:
    old = request_trial(judge=world.judge, by=world.mona)
    JudgeTrial.objects.filter(pk=old.pk).update(created_at=timezone.now() - timedelta(hours=25))
    new = request_trial(judge=world.judge, by=world.mona)
    assert list(JudgeTrial.objects.all()) == [new]
    assert list(Job.objects.values_list("trial", flat=True)) == [new.pk]


def test_who_may_try_is_asked_in_one_statement(world: World) -> None:
    Membership.objects.create(project=world.other_project, user=world.mona, roles=["reviewer"])
    for person in (world.mona, world.rex):
        assert len(statements_of(lambda: module.may_try(person))) == 1  # noqa: B023 - asked at once
    assert module.may_try(world.mona)
    Project.objects.filter(pk=world.project.pk).update(archived_at=timezone.now())
    assert not module.may_try(world.mona)


def test_the_api_names_no_judges_to_those_who_may_run_none(world: World, client: Client) -> None:
    client.force_login(world.rex)
    for name in ("lexical", "no-such-judge"):
        assert client.post(f"/api/v1/judges/{name}/try/").status_code == 403
