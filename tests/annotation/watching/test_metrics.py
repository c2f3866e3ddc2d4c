from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from django.db import connection
from prometheus_client.parser import text_string_to_metric_families

from annotation.models import Job, JudgeCall, Run
from tests.annotation.statements import statements_of

if TYPE_CHECKING:
    from django.test import Client

    from tests.annotation.cast import World

TOKEN = "a-token-of-the-operators-choice"
BEARER = {"Authorization": f"Bearer {TOKEN}"}


@pytest.fixture
def watched(settings: Any) -> None:
    settings.METRICS_TOKEN = TOKEN


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


def test_open_jobs_are_in_the_figures(client: Client, watched: None, world: World) -> None:
    run = Run.objects.create(project=world.project, judge=world.judge)
    Job.objects.bulk_create(
        Job(kind="run", project=world.project, run=run, document_set=each) for each in world.sets.values()
    )
    told = figures(client)
    assert told["coverdict_jobs_waiting", (("kind", "run"),)] == len(world.sets)
    assert (told["coverdict_runs_active", ()], told["coverdict_workers", ()]) == (1, 0)


def test_active_runs_have_their_calls_tokens_and_cost(client: Client, watched: None, world: World) -> None:
    run = Run.objects.create(project=world.project, judge=world.judge, cost=0.25)
    Run.objects.create(project=world.project, judge=world.judge, state="finished", cost=9)
    for key in ("a", "b"):
        JudgeCall.objects.create(
            judge=world.judge, run=run, key=key, step="cover", prompt_tokens=70, completion_tokens=30
        )
    shown, label = figures(client), (("run", run.public_id),)
    assert [shown[f"coverdict_run_{name}", label] for name in ("calls", "tokens", "cost")] == [2, 200, 0.25]
    assert sum(name == "coverdict_run_cost" for name, _ in shown) == 1


def test_the_number_of_statements_is_the_same_with_more_rows(
    watched: None, client: Client, world: World
) -> None:
    def ask() -> None:
        figures(client)

    few = len(statements_of(ask))
    run = Run.objects.create(project=world.project, judge=world.judge)
    Job.objects.bulk_create(
        Job(kind="run", project=world.project, run=run, document_set=each) for each in world.sets.values()
    )
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
    assert ("coverdict_jobs_waiting", (("kind", "run"),)) not in told
