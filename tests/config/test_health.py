import os
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import OperationalError, connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.test import Client
from django.utils import timezone

from annotation.config.celery import app
from annotation.operator_commands import as_typed, own_user
from annotation.watching.queries import files_fault

pytestmark = pytest.mark.django_db


@pytest.fixture
def worker() -> Any:
    from annotation.models import Worker

    now = timezone.now()
    return Worker.objects.create(name="one@here", started_at=now, seen_at=now)


def test_healthz_answers_in_plain_text(client: Client) -> None:
    answer = client.get("/healthz")
    assert (answer.status_code, answer.content, answer["Content-Type"]) == (200, b"ok", "text/plain")
    assert "no-store" in answer["Cache-Control"]


def test_readyz_says_that_all_is_well(client: Client, worker: Any) -> None:
    answer = client.get("/readyz")
    parts = {"database": "ok", "migrations": "ok", "broker": "ok", "worker": "ok", "files": "ok"}
    assert (answer.status_code, answer.json()) == (200, {"ready": True, "parts": parts, "warnings": {}})


def warnings_of(client: Client, part: str) -> str:
    answer = client.get("/readyz")
    told: dict[str, str] = answer.json()["warnings"]
    assert (answer.status_code, answer.json()["ready"], list(told)) == (200, True, [part])
    assert answer.json()["parts"][part] == told[part]
    return told[part]


def test_readyz_warns_of_a_worker_that_is_missing_or_has_fallen_silent(
    client: Client, admin_client: Client, settings: Any, request: pytest.FixtureRequest
) -> None:
    told = warnings_of(client, "worker")
    assert "no worker" in told
    assert told.endswith(f"start one: {as_typed('worker')}")
    worker = request.getfixturevalue("worker")
    worker.seen_at = timezone.now() - timedelta(seconds=settings.WORKER_SILENT_SECONDS + 1)
    worker.save(update_fields=["seen_at"])
    assert warnings_of(client, "worker") == told
    assert "No worker is running" in admin_client.get("/status/").content.decode()


def test_readyz_misses_a_migration(client: Client, worker: Any) -> None:
    [newest] = MigrationLoader(connection).graph.leaf_nodes("sessions")
    MigrationRecorder(connection).record_unapplied(*newest)
    answer = client.get("/readyz")
    assert (answer.status_code, answer.json()["ready"]) == (503, False)
    assert "migrate" in answer.json()["parts"]["migrations"]


def test_readyz_is_not_ready_without_the_database(client: Client, worker: Any) -> None:
    def away(*_: Any) -> None:
        raise OperationalError("the server closed the connection")

    with connection.execute_wrapper(away):
        answer = client.get("/readyz")
    assert (answer.status_code, answer.json()["ready"]) == (503, False)
    assert answer.json()["parts"]["database"] == "the database does not answer"


def test_readyz_warns_of_the_broker(
    client: Client, admin_client: Client, worker: Any, unreachable_broker: None
) -> None:
    assert warnings_of(client, "broker") == "the broker does not answer"
    assert "The broker does not respond" in admin_client.get("/status/").content.decode()


def test_readyz_warns_and_status_names_the_folder_that_cannot_be_written(
    client: Client, worker: Any, admin_client: Client, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    # Simulate the lack of permission, because root may write everywhere.
    monkeypatch.setattr("os.access", lambda _, mode: mode == os.F_OK)
    told = warnings_of(client, "files")
    assert told == "the folder for files is not writable; see the page Status"
    named = f"{settings.VAR_DIR} is not writable by the user {own_user()}"
    assert named in admin_client.get("/status/").content.decode()


def test_a_disk_that_is_not_mounted_is_a_warning_and_breaks_neither_status_nor_figures(
    client: Client, worker: Any, admin_client: Client, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.VAR_DIR = Path("/no/such/disk")
    # Simulate the lack of permission, because root may write everywhere.
    access = os.access
    monkeypatch.setattr("os.access", lambda path, mode: mode == os.F_OK and access(path, mode))
    settings.METRICS_TOKEN = "token"
    warnings_of(client, "files")
    page = admin_client.get("/status/")
    assert f"{settings.VAR_DIR} is not writable" in page.content.decode()
    assert client.get("/metrics", headers={"Authorization": "Bearer token"}).status_code == 200


def test_a_folder_that_this_user_may_not_look_into_is_not_writable(
    monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    settings.VAR_DIR = Path("/closed/to/others")
    monkeypatch.setattr("os.access", lambda path, mode: path == Path("/") and mode == os.F_OK)
    assert files_fault() == f"/closed/to/others is not writable by the user {own_user()}"


@pytest.fixture
def unreachable_broker() -> Any:
    before = app.conf.broker_url, app.conf.broker_transport
    # Nothing listens on port 1.
    app.conf.broker_url, app.conf.broker_transport = "redis://127.0.0.1:1/0", None
    yield
    app.conf.broker_url, app.conf.broker_transport = before
