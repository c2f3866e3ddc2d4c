"""The page of an installation's state."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils import timezone

from annotation.operator_commands import as_typed
from annotation.workers import report_alive
from tests.annotation.exports.doing import export_with_job
from tests.annotation.statements import statements_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.test import Client

    from tests.annotation.cast import World


def test_it_is_for_staff_alone(world: World, staff: Callable[[str], Client], client: Client) -> None:
    assert client.get("/status/").status_code == 302
    client.force_login(world.vic)
    assert client.get("/status/").status_code == 404
    assert "/status/" not in client.get("/").content.decode()
    mona = staff("mona")
    assert mona.get("/status/").status_code == 200
    assert "/status/" in mona.get("/").content.decode()


def test_it_tells_of_workers_queue_and_versions(world: World, staff: Callable[[str], Client]) -> None:
    mona = staff("mona")
    page = mona.get("/status/").content.decode()
    assert page.count("No worker is running.") == 2
    assert as_typed("worker") in page
    report_alive("ada:1")
    export_with_job(world.project, state="failed", error="what the file said", finished_at=timezone.now())
    page = mona.get("/status/").content.decode()
    for told in ("ada:1", "alive", "Migrations pending", "Django", "Exports"):
        assert told in page
    assert "No worker is running." not in page
    assert world.project.name not in page
    assert "what the file said" not in page


def test_it_asks_no_more_with_more_rows(world: World, staff: Callable[[str], Client]) -> None:
    mona = staff("mona")
    few = len(statements_of(lambda: mona.get("/status/")))
    for number in range(10):
        report_alive(f"ada:{number}")
        export_with_job(world.project)
    assert len(statements_of(lambda: mona.get("/status/"))) == few
