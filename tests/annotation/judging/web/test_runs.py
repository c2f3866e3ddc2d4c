from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from django.utils import timezone

from annotation.assessing.services.assign import assign
from annotation.judging.queries.run_estimate import run_estimate
from annotation.models import Check, Job, Judge, JudgeCall, Run, Verdict, Worker
from annotation.operator_commands import as_typed
from tests.annotation.conftest import HTMX

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.contrib.auth.models import User
    from django.http import HttpResponse
    from django.test import Client

    from tests.annotation.cast import World

START = "/p/harbour/runs/start/"
ASKED = {"judge": "lexical", "metrics": ["coverage", "alignment"]}


def started(client: Client) -> Run:
    client.post(START, ASKED)
    return Run.objects.get()


def test_a_plain_form_starts_a_run_and_leads_to_it(mona: Client) -> None:
    answer = mona.post(START, ASKED)
    run = Run.objects.get()
    assert answer["Location"] == f"/p/harbour/runs/{run.public_id}/"
    assert run.metrics == ["coverage", "alignment"]


def test_the_list_asks_again_until_its_runs_are_over_and_leads_to_the_ranking(
    world: World, mona: Client
) -> None:
    asks = 'hx-trigger="every 2s"'
    # A run may be starting, so an empty list is also loaded again, but less often.
    assert 'hx-trigger="every 10s"' in mona.get("/p/harbour/runs/", headers=HTMX).content.decode()
    run = started(mona)
    page = mona.get("/p/harbour/runs/", headers=HTMX).content.decode()
    assert "<html" not in page
    assert asks in page
    assert "View ranking" not in page
    Run.objects.filter(pk=run.pk).update(state=Run.State.FINISHED)
    page = mona.get("/p/harbour/runs/", headers=HTMX).content.decode()
    assert asks not in page
    assert "View ranking" in page


@pytest.mark.parametrize("headers", [{}, HTMX], ids=["page", "htmx"])
def test_a_run_for_nothing_is_refused_on_the_form(mona: Client, headers: dict[str, str]) -> None:
    answer = mona.post(START, {"judge": "lexical"}, headers=headers)
    assert answer.status_code == 422
    assert b"A run needs a metric" in answer.content
    assert (b"<html" in answer.content) is not bool(headers)
    assert not Run.objects.exists()


def test_it_says_plainly_when_no_worker_is_alive(mona: Client) -> None:
    address = f"/p/harbour/runs/{started(mona).public_id}/"
    told = f"<code>{as_typed('worker')}</code>"
    assert told in mona.get(address).content.decode()
    assert told in mona.get("/p/harbour/").content.decode()
    now = timezone.now()
    Worker.objects.create(name="w1", started_at=now, seen_at=now)
    for page in (address, "/p/harbour/"):
        assert b"No worker is running" not in mona.get(page).content


def test_what_failed_is_shown_with_its_reason(mona: Client) -> None:
    run = started(mona)
    Job.objects.filter(run=run, document_set__external_id="port").update(
        state=Job.State.FAILED, error="the judge hung up", attempt=3
    )
    page = mona.get(f"/p/harbour/runs/{run.public_id}/").content
    assert b"the judge hung up" in page
    assert b"1 failed" in page


def test_a_run_is_cancelled_and_goes_on(mona: Client) -> None:
    run = started(mona)
    address = f"/p/harbour/runs/{run.public_id}/"
    assert mona.post(f"{address}cancel/")["Location"] == address
    run.refresh_from_db()
    assert run.state == Run.State.CANCELLED
    assert b'id="run-progress"' in mona.post(f"{address}resume/", headers=HTMX).content
    run.refresh_from_db()
    assert run.state == Run.State.ACTIVE


@pytest.fixture
def priced(world: World) -> Judge:
    return Judge.objects.create(
        name="priced",
        kind="openai",
        model="m",
        base_url="http://127.0.0.1:9/v1",
        prompt_price=2.0,
        completion_price=8.0,
    )


def confirmed(client: Client, asked: dict[str, object]) -> HttpResponse:
    page = client.post(START, asked).content.decode()
    [told] = re.findall(r'name="confirmed" value="([^"]+)"', page)
    return client.post(START, {**asked, "confirmed": told})


def test_a_run_starts_with_a_cap_once_its_cost_is_confirmed(mona: Client, priced: Judge) -> None:
    asked: dict[str, object] = {"judge": "priced", "metrics": ["coverage"], "max_cost": "2.5"}
    page = mona.post(START, asked, headers=HTMX).content.decode()
    assert "Start at this cost" in page
    assert "<strong>cost " in page
    assert not Run.objects.exists()
    # A confirmation for one metric is not valid for two.
    [told] = re.findall(r'name="confirmed" value="([^"]+)"', page)
    mona.post(START, {**asked, "metrics": ["coverage", "alignment"], "confirmed": told})
    assert not Run.objects.exists()
    confirmed(mona, asked)
    assert Run.objects.get().max_cost == 2.5


def test_the_form_tells_what_the_run_comes_to(mona: Client, priced: Judge, world: World) -> None:
    about = "/p/harbour/runs/estimate/"
    free = mona.get(about, {"judge": "lexical", "metrics": ["coverage"]}).content.decode()
    assert "4 summaries, judged on this server without cost" in free
    both = mona.get(about, {"judge": "priced", "metrics": ["coverage", "alignment"]}).content.decode()
    estimate = run_estimate(project=world.project, judge=priced, parts=["coverage", "alignment"])
    assert f"About <strong>{estimate.calls} calls</strong>" in both
    assert "estimated from text lengths" in both
    assert mona.get(about, {"judge": "nobody"}).status_code == 404


def failed_run(world: World, *, usable: int, unusable: int) -> Run:
    judge = Judge.objects.create(name="mute", kind="openai", model="m")
    run = Run.objects.create(
        project=world.project, judge=judge, metrics=["coverage"], state="finished", finished_at=timezone.now()
    )
    Job.objects.create(
        kind="run",
        project=run.project,
        run=run,
        document_set=world.sets["port"],
        state="done",
        total=1,
        done=1,
        unscored=unusable,
        usable=usable,
    )
    checks = list(Check.objects.filter(project=world.project)[: usable + unusable])
    assert len(checks) == usable + unusable
    for number, check in enumerate(checks):
        said = {"label": "yes"} if number < usable else {"reason": "the reply holds no answer."}
        Verdict.objects.create(
            check_row=check, role="judge", judge=judge, run=run, origin_name="mute", **said
        )
    JudgeCall.objects.create(
        judge=judge, run=run, key="k", step="extract", prompt_version="1", request="{}", reply="<b>Sorry</b>"
    )
    return run


def test_a_run_without_a_usable_answer_is_no_success(mona: Client, world: World) -> None:
    run = failed_run(world, usable=0, unusable=3)
    page = " ".join(mona.get(f"/p/harbour/runs/{run.public_id}/").content.decode().split())
    assert "Finished: no usable answers" in page
    assert "3 of 3 answers are unusable" in page
    assert f'href="/p/harbour/runs/{run.public_id}/calls/">Read the replies' in page
    assert "Use one that supports JSON schemas, or a larger one." in page
    assert 'class="panel progress unusable"' in page
    assert "for scores</button>" not in page
    assert "3 unusable answers" in " ".join(mona.get("/p/harbour/runs/").content.decode().split())


def test_a_run_whose_sets_all_failed_is_not_offered_for_scores(mona: Client, world: World) -> None:
    run = failed_run(world, usable=3, unusable=0)
    address = f"/p/harbour/runs/{run.public_id}/"
    assert "for scores</button>" in mona.get(address).content.decode()
    Job.objects.update(state="failed")
    assert "for scores</button>" not in mona.get(address).content.decode()


def test_calls_are_read_word_for_word_but_not_by_the_blind(
    world: World, signed_in: Callable[[User], Client]
) -> None:
    run = failed_run(world, usable=0, unusable=1)
    address = f"/p/harbour/runs/{run.public_id}/calls/"
    assert b"&lt;b&gt;Sorry&lt;/b&gt;" in signed_in(world.vic).get(address).content
    assign(document_set=world.sets["port"], assessor=world.ana, by=None, seed=1)
    assert signed_in(world.ana).get(address).status_code == 403


def test_the_page_tells_what_was_paid_and_takes_a_higher_cap(
    mona: Client, world: World, priced: Judge
) -> None:
    run = Run.objects.create(
        project=world.project, judge=priced, metrics=["coverage"], state="cancelled", cost=1.5, max_cost=1.6
    )
    Job.objects.create(
        kind="run", project=run.project, run=run, document_set=world.sets["port"], state="cancelled"
    )
    JudgeCall.objects.create(
        judge=priced,
        run=run,
        key="k",
        step="extract",
        prompt_version="1",
        request="{}",
        prompt_tokens=750_000,
    )
    page = mona.get(f"/p/harbour/runs/{run.public_id}/").content.decode()
    assert "1 call</a> paid · 750,000 tokens sent" in " ".join(page.split())
    assert "cost 1.5000 of at most 1.6" in page
    resume = f"/p/harbour/runs/{run.public_id}/resume/"
    refused = mona.post(resume, {"max_cost": "1.2"}, headers=HTMX)
    assert refused.status_code == 422
    assert b"has cost 1.5 already" in refused.content
    mona.post(resume, {"max_cost": "3"}, headers=HTMX)
    run.refresh_from_db()
    assert (run.state, run.max_cost) == ("active", 3.0)


def test_a_fault_of_the_form_is_named_at_its_field(mona: Client) -> None:
    for typed, told in (
        ({"n_questions": "some"}, "The number of questions must be a whole number."),
        ({"max_cost": "1"}, "The judge lexical has no price"),
    ):
        page = mona.post(START, {**ASKED, **typed}, headers=HTMX).content.decode()
        assert told in page
        assert page.count('aria-invalid="true"') == 1
    assert not Run.objects.exists()


def answered(run: Run | None, judge: Judge, *models: str) -> None:
    for model in models:
        key = f"{model} {JudgeCall.objects.count()}"
        JudgeCall.objects.create(judge=judge, run=run, key=key, step="extract", served_model=model)


@pytest.mark.parametrize(
    ("before", "models", "told"),
    [
        (
            "gpt-may",
            ["gpt-june"],
            "Judge lexical is now served by another model: gpt-june (before this run: gpt-may).",
        ),
        ("", ["gpt-june", "gpt-may"], "Judge lexical is now served by another model: gpt-june, gpt-may."),
        ("gpt-may", ["gpt-may", "gpt-may"], "Model behind lexical: gpt-may."),
        ("gpt-may", [""], ""),
    ],
)
def test_a_run_tells_where_another_model_answers_for_the_judge(
    world: World, mona: Client, before: str, models: list[str], told: str
) -> None:
    answered(None, world.judge, before)
    run = started(mona)
    answered(run, world.judge, *models)
    page = mona.get(f"/p/harbour/runs/{run.public_id}/").content.decode()
    words = " ".join(re.sub("<[^>]*>", "", page).split())
    assert told in words
