from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from annotation.models import Job, Judge, Project, Run
from tests import parts, redis_server
from tests.annotation.judging.doing import add_document_set
from tests.annotation.judging.processes import manage, wait_until, workers
from tests.llm_server import LLMServer

if TYPE_CHECKING:
    from collections.abc import Iterator

SETS = 6


@pytest.fixture
def server() -> Iterator[LLMServer]:
    # The calls are slow, so that the run outlasts the broker.
    with LLMServer(latency=5.0) as server:
        yield server


@pytest.mark.redis
def test_a_worker_outlives_its_broker(
    transactional_db: None, server: LLMServer, subprocess_env: dict[str, str]
) -> None:
    with ExitStack() as broker:
        try:
            url = broker.enter_context(redis_server.running())
        except redis_server.NoRedis as reason:
            parts.missing("redis", str(reason))
        judge = Judge.objects.create(
            name="slow", kind="openai", model="m", base_url=server.base_url, concurrency=1
        )
        project = Project.objects.create(slug="mill", name="Mill study")
        for number in range(SETS):
            add_document_set(
                project,
                f"On day {number} the mill burned down.",
                external_id=f"set {number}",
                reference=f"On day {number} the mill burned down.",
                a=f"On day {number} it burned.",
            )
        environment = {**subprocess_env, "CELERY_BROKER_URL": url}
        with workers(environment) as [worker]:
            started = manage(environment, "evaluate", project.slug, "--judge", judge.name)
            assert started.returncode == 0, started.stderr
            server.wait_for_calls(1)
            broker.close()
            asked = len(server.calls)
            server.latency = 0.0
            # Work in progress and waiting work both finish.
            wait_until(lambda: Run.objects.filter(state="finished").exists())
            assert not Job.objects.exclude(run=None).filter(state__in=("waiting", "working")).exists()
            assert len(server.calls) > asked
            assert worker.poll() is None
            broker.enter_context(redis_server.running(urlsplit(url).port))
            again = manage(environment, "evaluate", project.slug, "--judge", judge.name)
            assert again.returncode == 0, again.stderr
            wait_until(lambda: Run.objects.filter(state="finished").count() == 2)
            assert worker.poll() is None
