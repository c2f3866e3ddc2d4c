from __future__ import annotations

import gc
import threading
import time
import weakref
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from celery.signals import before_task_publish
from django.utils import timezone

from annotation.core import jobs
from annotation.core.jobs import workers_alive
from annotation.core.shared.clock import LeapWatch
from annotation.judging.queries.runs import is_worker_alive
from annotation.models import Worker
from annotation.privacy.retention import APPLY_RETENTION
from annotation.tasks import ask_for_retention
from annotation.workers import Heartbeat, report_alive, worker_environment


def last_seen(name: str, **ago: float) -> None:
    Worker.objects.filter(name=name).update(seen_at=timezone.now() - timedelta(**ago))


def test_a_worker_that_reports_is_alive(db: None) -> None:
    assert not is_worker_alive()
    report_alive("ada:1")
    assert is_worker_alive()


def test_a_worker_that_went_silent_is_not(db: None) -> None:
    report_alive("ada:1")
    last_seen("ada:1", seconds=31)
    assert not is_worker_alive()
    last_seen("ada:1", seconds=20)
    assert is_worker_alive()


def test_reporting_again_keeps_one_row_and_its_start(db: None) -> None:
    report_alive("ada:1")
    last_seen("ada:1", seconds=100)
    started = Worker.objects.get().started_at
    report_alive("ada:1")
    row = Worker.objects.get()
    assert row.started_at == started
    assert timezone.now() - row.seen_at < timedelta(seconds=20)


def test_workers_gone_for_a_day_are_forgotten(db: None) -> None:
    report_alive("ada:1")
    last_seen("ada:1", days=2)
    report_alive("ada:2")
    assert list(Worker.objects.values_list("name", flat=True)) == ["ada:2"]


def test_a_heartbeat_reports_until_it_is_stopped(transactional_db: None, settings: Any) -> None:
    settings.WORKER_SILENT_SECONDS = 0.3
    heartbeat = Heartbeat("ada:1")
    heartbeat.start()
    end = time.monotonic() + 60
    seen = set()
    while len(seen) < 3:
        assert time.monotonic() < end
        seen.update(Worker.objects.values_list("seen_at", flat=True))
        time.sleep(0.02)
    heartbeat.stop()
    assert workers_alive() == 0
    assert not Worker.objects.exists()


def test_a_beat_that_is_slow_brings_no_stopped_worker_back(transactional_db: None) -> None:
    """The beat pauses between two reports, as with a slow reaper, and continues after the worker's row was deleted."""
    is_looking, may_go_on = threading.Event(), threading.Event()

    def look() -> None:
        is_looking.set()
        assert may_go_on.wait(60)

    heartbeat = Heartbeat("ada:1", look=look)
    heartbeat.start()
    assert is_looking.wait(60)
    stopping = threading.Thread(target=heartbeat.stop)
    stopping.start()
    end = time.monotonic() + 60
    while Worker.objects.exists():
        assert time.monotonic() < end
        time.sleep(0.02)
    may_go_on.set()
    stopping.join(60)
    heartbeat._beat()
    assert not Worker.objects.exists()


def test_what_is_due_every_hour_is_done_at_the_first_beat_of_one(
    transactional_db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    # On SQLite the leaping clock is also the shared one, and later tests would see the leap.
    monkeypatch.setattr(jobs, "_leaps", LeapWatch())
    done: list[str] = []
    heartbeat = Heartbeat("ada:1", hourly=lambda: done.append("it"))
    with time_machine.travel("2026-11-26T10:59:50Z", tick=False) as clock:
        heartbeat._beat()
        heartbeat._beat()
        assert len(done) == 1
        clock.shift(10)
        heartbeat._beat()
    assert len(done) == 2


def test_garbage_in_cycles_is_freed_once_a_minute(
    transactional_db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "_leaps", LeapWatch())

    def garbage() -> weakref.ref[threading.Event]:
        left = threading.Event()
        left.itself = left  # type: ignore[attr-defined]
        return weakref.ref(left)

    heartbeat = Heartbeat("ada:1")
    gc.disable()
    try:
        with time_machine.travel("2026-11-26T10:59:20Z", tick=False) as clock:
            first = garbage()
            heartbeat._beat()
            second = garbage()
            heartbeat._beat()
            assert (first() is None, second() is None) == (True, False)
            clock.shift(60)
            heartbeat._beat()
        assert second() is None
    finally:
        gc.enable()


def test_one_of_all_workers_applies_retention_in_an_hour(db: None) -> None:
    asked: list[str] = []

    def note(sender: str = "", **_: Any) -> None:
        asked.append(sender)

    before_task_publish.connect(note)
    try:
        with time_machine.travel("2026-11-26T10:59:50Z", tick=False) as clock:
            ask_for_retention()
            ask_for_retention()
            assert asked == [APPLY_RETENTION]
            clock.shift(10)
            ask_for_retention()
    finally:
        before_task_publish.disconnect(note)
    assert asked == [APPLY_RETENTION] * 2


def test_a_worker_logs_as_its_settings_say() -> None:
    assert "LOG_LEVEL" not in worker_environment()
