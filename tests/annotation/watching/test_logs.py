from __future__ import annotations

import io
import json
import logging.config
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest
from django.conf import settings as all_settings
from django.test import Client
from django.urls import reverse

from annotation import perform_job
from annotation.config import logs
from annotation.models import Export, Job, Judge, Run
from tests.annotation.judging.doing import perform_all
from tests.llm_server import faults

if TYPE_CHECKING:
    from rest_framework.test import APIClient

    from tests.annotation.cast import World
    from tests.llm_server import LLMServer

KEY = "sk-a-key-that-nobody-may-see"
HERE = "/api/v1/projects/harbour/"
ROW = {
    "document_id": "mill",
    "document": "The zinnober mill closes in May.",
    "reference": "The zinnober mill will close.",
    "system": "alder",
    "summary": "Zinnober: the mill closes.",
}
OF_PROXY = "proxy-gave-this-1"

Lines = Callable[[], list[dict[str, Any]]]


@pytest.fixture
def lines() -> Iterator[Lines]:
    written = io.StringIO()
    config = logs.json_lines("INFO")
    config["handlers"]["standard error"]["stream"] = written
    logging.config.dictConfig(config)
    yield lambda: [json.loads(line) for line in written.getvalue().splitlines()]
    logging.config.dictConfig(all_settings.LOGGING)


def scripted(llm_server: LLMServer, monkeypatch: pytest.MonkeyPatch) -> Judge:
    monkeypatch.setenv("SCRIPTED_KEY", KEY)
    llm_server.api_key = KEY
    return Judge.objects.create(
        name="scripted", kind="openai", model="m", base_url=llm_server.base_url, api_key_env="SCRIPTED_KEY"
    )


def test_an_import_is_judged_under_one_id_and_no_text_is_logged(
    world: World,
    transactional_db: None,
    client_of: Callable[[str], APIClient],
    llm_server: LLMServer,
    lines: Lines,
    monkeypatch: pytest.MonkeyPatch,
    settings: Any,
) -> None:
    settings.TRUST_REQUEST_ID = True
    judge = scripted(llm_server, monkeypatch)
    # One call gets an unusable answer, and one is refused with a message that repeats the text.
    llm_server.then(faults.status(500, ROW["summary"]), faults.text(ROW["document"]))
    client = client_of("olga")
    pushed = client.post(f"{HERE}push/", {"rows": [ROW]}, format="json")
    assert pushed.status_code == 200, pushed.content
    body = {"judge": judge.name}
    started = client.post(f"{HERE}runs/", body, format="json", headers={"X-Request-ID": OF_PROXY})
    assert (started.status_code, started["X-Request-ID"]) == (201, OF_PROXY)
    run = Run.objects.get()
    assert set(run.jobs.values_list("request_id", flat=True)) == {OF_PROXY}
    perform_all(run)
    assert run.state == Run.State.FINISHED
    logged = lines()
    [web] = [line for line in logged if line["event"] == "request" and line["route"].endswith("/runs/")]
    assert (web["request_id"], web["status"], web["project"]) == (OF_PROXY, 201, "harbour")
    calls = [line for line in logged if line["event"] == "call answered"]
    judged = [line for line in logged if line["event"] == "A document set is judged"]
    assert len(calls) >= len(judged) == run.jobs.count()
    for line in (*calls, *judged):
        assert (line["request_id"], line["run"]) == (OF_PROXY, run.public_id)
    assert {line["job"] for line in judged} == set(run.jobs.values_list("public_id", flat=True))
    written = json.dumps(logged, ensure_ascii=False).lower()
    assert "zinnober" not in written
    assert KEY not in written
    for text in ("The ferry", world.summaries["port", "alder"].text):
        assert text.lower() not in written


@pytest.mark.parametrize(
    ("is_trusted", "given", "is_kept"),
    [
        (True, OF_PROXY, True),
        (False, OF_PROXY, False),
        (True, "short", False),
        (True, "a" * 65, False),
        (True, 'two words and a "quote"', False),
        (True, "", False),
    ],
)
def test_an_id_from_outside_is_kept_where_it_is_trusted_and_sane(
    client: Any, settings: Any, is_trusted: bool, given: str, is_kept: bool
) -> None:
    settings.TRUST_REQUEST_ID = is_trusted
    told = client.get("/healthz", headers={"X-Request-ID": given})["X-Request-ID"]
    assert (told == given) == is_kept
    assert len(told) == (len(given) if is_kept else 32)


def test_the_secret_of_a_link_is_not_logged(client: Any, db: None, lines: Lines) -> None:
    client.get(reverse("invitation", kwargs={"secret": "very-secret-invitation"}))
    # Django logs a request without a CSRF token with its address.
    refused = Client(enforce_csrf_checks=True).post("/invitations/very-secret-invitation/")
    assert refused.status_code == 403
    logged = lines()
    requests = [line for line in logged if line["event"] == "request"]
    assert {line["route"] for line in requests} == {"invitations/<str:secret>/"}
    assert any(line["logger"] == "django.security.csrf" for line in logged)
    assert "very-secret-invitation" not in json.dumps(logged)


def test_an_unknown_host_is_a_warning_in_one_line(client: Any, lines: Lines) -> None:
    assert client.get("/", headers={"Host": "10.0.0.1"}).status_code == 400
    [told] = [line for line in lines() if line["event"] != "request"]
    assert (told["level"], told["logger"]) == ("warning", "django.security.DisallowedHost")
    assert "10.0.0.1" in told["event"]
    assert "exception" not in told


def test_an_export_is_logged_with_its_job(
    world: World, client_of: Callable[[str], APIClient], lines: Lines
) -> None:
    answer = client_of("mona").post(f"{HERE}exports/", {"level": "scores", "format": "csv"}, format="json")
    job = Job.objects.get(export=Export.objects.get())
    assert job.request_id == answer["X-Request-ID"]
    perform_job.work_on(Job.Kind.EXPORT)
    events = {line["event"]: line for line in lines() if line.get("job") == job.public_id}
    assert set(events) >= {"A job begins", "A job is done"}
    assert events["A job is done"]["request_id"] == job.request_id
