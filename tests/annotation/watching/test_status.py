from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from django.utils import timezone

from annotation.core.refusals import NotAllowed
from annotation.judging.services.judges import url_fault
from annotation.judging.services.servers import allow_server
from annotation.models import AllowedServer
from annotation.operator_commands import as_typed
from annotation.workers import report_alive
from tests.annotation.exports.doing import export_with_job

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
    for told in ("1 failed in 7 days,", "ada:1", "alive", "Django", "1 failed</a>"):
        assert told in page
    assert "No worker is running." not in page
    assert world.project.name not in page
    assert "what the file said" not in page


def test_administrators_say_which_servers_judges_call(
    world: World, staff: Callable[[str], Client], admin_client: Client
) -> None:
    url, refused = "https://llm.example.org:8443/v1", NotAllowed
    assert "not allowed here" in url_fault(url)
    assert staff("mona").post("/status/servers/allow/", {"url": url}).status_code == 403
    with pytest.raises(refused):
        allow_server(url=url, by=world.mona)
    admin_client.post("/status/servers/allow/", {"url": f" {url} "})
    admin_client.post("/status/servers/allow/", {"url": url})
    server = AllowedServer.objects.get()
    assert url_fault(url) == ""
    # An entry allows only its path and port; entries of the settings stay allowed.
    assert url_fault("https://llm.example.org:8443/other")
    assert url_fault("https://llm.example.org/v1")
    assert url_fault("http://127.0.0.1:11434/v1") == ""
    assert url in admin_client.get("/status/").content.decode()
    assert admin_client.post("/status/servers/allow/", {"url": "llm.example.org"}).status_code == 422
    assert admin_client.post("/status/servers/allow/", {"url": f"https://{'x' * 500}.org"}).status_code == 422
    assert staff("mona").post(f"/status/servers/{server.public_id}/disallow/").status_code == 403
    admin_client.post(f"/status/servers/{server.public_id}/disallow/")
    assert (
        "COVERDICT_JUDGE_URLS=http://127.0.0.1:*,http://localhost:*,https://llm.example.org:8443"
        in url_fault(url)
    )


def test_no_judge_calls_the_demo_itself(db: None, settings: Any) -> None:
    settings.OWN_PORT = 8000
    assert "Coverdict itself" in url_fault("http://localhost:8000/v1")
    assert url_fault("http://localhost:8001/v1") == ""
