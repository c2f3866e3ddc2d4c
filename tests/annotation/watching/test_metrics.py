"""The figures for Prometheus, read by its own parser."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest
from django.db import connection
from prometheus_client.parser import text_string_to_metric_families

from annotation.core import tallies
from annotation.judging.services.permit_texts import permit_texts
from annotation.models import Judge, Tally
from annotation.workers import Heartbeat
from tests.annotation.judging.doing import run_to_end
from tests.annotation.statements import statements_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from django.test import Client

    from tests.annotation.cast import World
    from tests.llm_server import LLMServer

TOKEN = "a-token-of-the-operators-choice"
BEARER = {"Authorization": f"Bearer {TOKEN}"}


@pytest.fixture
def watched(settings: Any) -> None:
    settings.METRICS_TOKEN = TOKEN


@pytest.fixture(autouse=True)
def nothing_counted() -> Iterator[None]:
    tallies._counted.clear()
    yield
    tallies._counted.clear()


def figures(client: Client) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    answer = client.get("/metrics", headers=BEARER)
    assert answer.status_code == 200
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(answer.content.decode())
        for sample in family.samples
    }


def test_there_are_none_unless_the_operator_sets_a_token(client: Client, db: None) -> None:
    assert client.get("/metrics", headers=BEARER).status_code == 404
    assert client.get("/metrics", headers={"Authorization": "Bearer "}).status_code == 404


@pytest.mark.parametrize(
    "said", ["", "Bearer", "Bearer another", f"Token {TOKEN}", f"Bearer {TOKEN}x", "Bearer ä"]
)
def test_nobody_sees_them_without_the_token(client: Client, watched: None, said: str) -> None:
    answer = client.get("/metrics", headers={"Authorization": said})
    assert (answer.status_code, answer["WWW-Authenticate"]) == (401, 'Bearer realm="metrics"')
    assert client.post("/metrics", headers=BEARER).status_code == 405


def test_requests_are_counted_by_route_and_status(client: Client, watched: None, db: None) -> None:
    missing = ("coverdict_requests_total", (("method", "GET"), ("route", "none"), ("status", "404")))
    found = ("coverdict_requests_total", (("method", "GET"), ("route", "healthz"), ("status", "200")))
    took = ("coverdict_request_seconds_count", (("route", "healthz"),))
    before = figures(client)
    for _ in range(3):
        client.get("/healthz")
    client.get("/no/such/page/at/all/")
    after = figures(client)
    assert [after[key] - before.get(key, 0) for key in (missing, found, took)] == [1, 3, 3]
    assert not any("such" in str(key) for key in after)


def test_a_judged_run_is_in_the_figures(
    client: Client, watched: None, world: World, transactional_db: None, llm_server: LLMServer
) -> None:
    llm_server.usage = (1000, 500)
    judge = Judge.objects.create(
        name="scripted",
        kind="openai",
        model="m",
        base_url=llm_server.base_url,
        prompt_price=2,
        completion_price=8,
    )
    permit_texts(project=world.project, judge=judge, by=world.olga)
    run_to_end(world.project, judge)
    tallies.write()
    after = figures(client)
    calls = len(llm_server.calls)
    by_judge = (("judge", "scripted"),)
    assert calls > 0
    assert after["coverdict_judge_calls_total", by_judge] == calls
    assert after["coverdict_judge_tokens_total", (*by_judge, ("kind", "prompt"))] == 1000 * calls
    # 1000 tokens at 2 and 500 at 8 per million are 0.006 a call.
    assert after["coverdict_judge_cost_total", by_judge] == pytest.approx(0.006 * calls)
    jobs = len(world.sets)
    assert after["coverdict_jobs_total", (("lane", "runs"), ("outcome", "done"))] == jobs
    assert after["coverdict_runs_total", (("state", "finished"),)] == 1
    assert after["coverdict_runs_active", ()] == 0


def test_what_failed_is_counted_by_its_kind(
    client: Client, watched: None, world: World, transactional_db: None, llm_server: LLMServer
) -> None:
    llm_server.api_key = "another"
    judge = Judge.objects.create(name="scripted", kind="openai", model="m", base_url=llm_server.base_url)
    permit_texts(project=world.project, judge=judge, by=world.olga)
    run_to_end(world.project, judge)
    tallies.write()
    after = figures(client)
    assert after["coverdict_errors_total", (("kind", "JudgeRefused"),)] >= 1
    assert after["coverdict_runs_total", (("state", "stopped"),)] == 1


def test_several_processes_add_up_and_nothing_is_counted_twice(db: None) -> None:
    tallies.count("judge_calls", 2, judge="a")
    tallies.write()
    tallies.write()
    tallies.count("judge_calls", 3, judge="a")
    tallies.write()
    assert list(Tally.objects.values_list("name", "labels", "value")) == [
        ("judge_calls", '{"judge": "a"}', 5.0)
    ]


def test_a_worker_writes_what_it_counted_at_each_beat(transactional_db: None) -> None:
    heartbeat = Heartbeat("ada:1")
    tallies.count("errors", kind="Broken")
    heartbeat.start()
    end = time.monotonic() + 60
    while not Tally.objects.exists():
        assert time.monotonic() < end
        time.sleep(0.02)
    tallies.count("errors", kind="Broken")
    heartbeat.stop()
    assert Tally.objects.get().value == 2


def test_the_number_of_statements_is_the_same_with_more_rows(
    watched: None, client: Client, world: World
) -> None:
    def ask() -> None:
        figures(client)

    few = len(statements_of(ask))
    for number in range(20):
        tallies.count("judge_calls", judge=f"judge-{number}")
    tallies.write()
    assert len(statements_of(ask)) == few


def test_without_a_database_the_rest_is_told(
    client: Client, watched: None, transactional_db: None, tmp_path: Any
) -> None:
    settings = connection.settings_dict
    before = dict(settings)
    connection.close()
    settings.update(
        {"NAME": tmp_path / "nowhere" / "db"}
        if connection.vendor == "sqlite"
        else {"HOST": "127.0.0.1", "PORT": "1"}
    )
    try:
        told = figures(client)
    finally:
        connection.close()
        settings.update(before)
    assert told["coverdict_database_up", ()] == 0
    assert told["coverdict_disk_bytes", ()] > 0
    assert ("coverdict_jobs_waiting", (("lane", "runs"),)) not in told


IN_ANOTHER_PROCESS = """
import django
django.setup()
from annotation.web.request_figures import observe
for _ in range(3):
    observe(method="GET", route="of-another", status=200, seconds=0.01)
"""


def test_all_processes_of_a_server_are_in_one_answer(
    client: Client, watched: None, db: None, settings: Any
) -> None:
    """Two that have ended, and one of another server, which is removed as it has gone."""
    client.get("/healthz")
    of_server = {**os.environ, "COVERDICT_VAR": str(settings.VAR_DIR)}
    ask = [sys.executable, "-c", IN_ANOTHER_PROCESS]
    for _ in range(2):
        subprocess.run(ask, env=of_server, cwd=settings.BASE_DIR, check=True)
    subprocess.run(ask, env=of_server, cwd=settings.BASE_DIR, check=True, start_new_session=True)
    counted = ("coverdict_requests_total", (("method", "GET"), ("route", "of-another"), ("status", "200")))
    assert figures(client)[counted] == 6
    folders = settings.VAR_DIR / "metrics"
    assert len(list(folders.iterdir())) == 2
    subprocess.run(ask, env=of_server, cwd=settings.BASE_DIR, check=True)
    assert len(list(folders.iterdir())) == 1
