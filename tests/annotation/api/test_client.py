from __future__ import annotations

import hashlib
import json
import re
import sys
import time
import urllib.request
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow as pa
import pytest
from django.contrib.auth.models import User
from django.db import connection, transaction

from annotation import perform_job
from annotation.accounts.tokens import make_token
from annotation.core import jobs
from annotation.exports.services import cancel_export, request_export
from annotation.models import Export, Job, Project, Summary, Verdict
from evaluation import EvaluationError
from evaluation import client as clients
from evaluation.client import ApiError, Coverdict, ExportEnded, PushResult, RunEnded
from tests.annotation.exports.doing import perform
from tests.annotation.judging.processes import ROOT, wait_until, workers
from tests.bench._serving import served

if TYPE_CHECKING:
    from pytest_django.live_server_helper import LiveServer

ADDRESS = "http://127.0.0.1:8000"
ROWS = [
    {"document_id": "d1", "document": "The mill closes in May. It rains.", "system": system, "summary": text}
    for system, text in (("alder", "The mill closes in May."), ("birch", "It snows."))
]


@pytest.fixture
def token(live_server: LiveServer) -> str:
    person = User.objects.create(username="mona", is_staff=True)
    return make_token(person=person)[1]


@pytest.fixture
def server(live_server: LiveServer, token: str) -> Iterator[Coverdict]:
    with Coverdict(live_server.url, token, frames="rows", progress=False) as made:
        yield made


@pytest.mark.slow
def test_the_notebook_and_the_example_of_the_readme_run(
    subprocess_env: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, token = make_token(person=User.objects.create(username="mona", is_staff=True))
    monkeypatch.setenv("COVERDICT_TOKEN", token)
    cells = json.loads((ROOT / "docs" / "client.ipynb").read_text())["cells"]
    readme = next(
        each
        for each in re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
        if "evaluation.client" in each
    )
    names: dict[str, Any] = {"token": token}
    # The server and the worker share a queue, which the server inside a test does not.
    with workers(subprocess_env), served(subprocess_env, tmp_path) as port:
        address = f"http://127.0.0.1:{port}"
        for cell in (each for each in cells if each["cell_type"] == "code"):
            exec("".join(cell["source"]).replace(ADDRESS, address), names)  # the project's own file
        told = dict(names)
        exec(readme.replace(ADDRESS, address), names)
    assert told["pushed"] == PushResult(created=4)
    assert told["run"].state == "finished"
    # Each reference has two claims. Both summaries of d1 express one of them, of d2 only the first summary does.
    assert list(told["scores"]["coverage"]) == [0.5, 0.5, 0.5, 0.0]
    assert isinstance(told["board"], pd.DataFrame)
    assert dict(zip(told["board"]["system"], told["board"]["mean"], strict=True)) == {
        "lead": 0.5,
        "short": 0.25,
    }
    assert Verdict.objects.get(public_id=told["outcomes"][0]["verdict"]).label == "yes"
    assert Project.objects.get(name="My study").runs.get().state == "finished"


def test_frames_of_every_kind_are_pushed_without_their_empty_cells(server: Coverdict) -> None:
    project = server.create_project("Mill")
    frame = pd.DataFrame([*ROWS[:1], {**ROWS[1], "target_words": 50}])
    assert frame["target_words"].isna().any()
    assert project.push(frame) == PushResult(created=2)
    assert list(Summary.objects.order_by("pk").values_list("target_words", flat=True)) == [None, 50]
    assert project.push(pa.Table.from_pylist(ROWS[:1])) == PushResult(unchanged=1)
    assert project.push(ROWS[0]) == PushResult(unchanged=1)


def test_what_is_refused_comes_back_with_its_row(server: Coverdict) -> None:
    project, bad = server.create_project("Mill"), {"document_id": "d1", "system": "cedar"}
    result = project.push([*ROWS, bad], skip_invalid=True)
    assert (result.created, result.refused[0]["row"]) == (2, bad)
    assert result.refused[0]["problems"][0]["column"] == "summary"
    with pytest.raises(ApiError) as refused:
        project.push([bad])
    assert (refused.value.status, refused.value.reason) == (422, "import_refused")
    assert refused.value.details["problems"][0]["line"] == 1
    assert "Row 1, summary: " in str(refused.value)


def test_a_refusal_names_its_rows_among_all_that_were_sent(
    server: Coverdict, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clients, "ROWS_AT_ONCE", 2)
    project, lone = (
        server.create_project("Mill"),
        {"document_id": "d9", "system": "cedar", "summary": "Rain."},
    )
    with pytest.raises(
        ApiError, match=r"Row 3, document: is missing.* Send it with the first of its rows"
    ) as refused:
        project.push([*ROWS, lone])
    assert "Send it with the first of its rows." in str(refused.value)
    with pytest.raises(ApiError, match=r"no such check in this project\. It is row 1\."):
        project.answers([{"check": "none", "label": "yes"}])


def test_an_address_without_scheme_is_refused_at_once() -> None:
    with pytest.raises(EvaluationError, match=r"begins with http:// or https://, such as .*'127.0.0.1:8000'"):
        Coverdict("127.0.0.1:8000", "t")


def test_an_empty_row_of_the_leaderboard_says_why() -> None:
    shown = {"mean": 0.5, "low": 0.4, "high": 0.6, "n": 6}
    assert clients._why_empty(shown) == ""
    assert "all values are alike" in clients._why_empty({**shown, "low": None, "high": None})
    assert clients._why_empty(dict.fromkeys(shown)) == "no summary has this score"


def test_many_rows_go_in_batches_and_say_how_far_they_are(live_server: LiveServer, token: str) -> None:
    told: list[tuple[str, int, int]] = []
    with Coverdict(live_server.url, token, progress=lambda *how_far: told.append(how_far)) as server:
        rows = [{**ROWS[0], "document_id": f"d{number}"} for number in range(450)]
        project = server.create_project("Mill")
        assert project.push(rows).created == 450
        assert len(server.project(project.slug).summaries()) == 450
    assert told == [("push", 200, 450), ("push", 400, 450), ("push", 450, 450)]


def test_a_run_without_worker_is_not_waited_for_without_end(server: Coverdict) -> None:
    project = server.create_project("Mill")
    project.push(ROWS)
    run = project.run()
    with pytest.raises(TimeoutError):
        run.wait(timeout=0)
    server.ask("POST", f"projects/{project.slug}/runs/{run.id}/cancel/")
    with pytest.raises(RunEnded, match="cancelled"):
        run.refresh().wait()


class Moody(BaseHTTPRequestHandler):
    answers: list[tuple[int, dict[str, Any] | str] | None]
    retry_after = ""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        answer = self.answers.pop(0)
        if answer is None:
            self.connection.close()
            return
        body = (answer[1] if isinstance(answer[1], str) else json.dumps(answer[1])).encode()
        self.send_response(answer[0])
        self.send_header("Content-Length", str(len(body)))
        if self.retry_after:
            self.send_header("Retry-After", self.retry_after)
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self) -> None:
        self.do_POST()

    def log_message(self, *_: Any) -> None:
        """Do not print requests."""


def fault(code: str) -> dict[str, Any]:
    return {"error": {"code": code, "message": "M.", "field": None, "details": {}}}


@pytest.fixture
def moody(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[type[Moody], str]]:
    monkeypatch.setattr(clients, "FIRST_PAUSE", 0.01)
    handler = type("Handler", (Moody,), {"answers": []})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as served:
        Thread(target=served.serve_forever, daemon=True).start()
        yield handler, f"http://127.0.0.1:{served.server_port}"
        served.shutdown()


def test_a_push_is_repeated_until_it_is_answered(moody: tuple[type[Moody], str]) -> None:
    handler, address = moody
    handler.answers += [None, (503, fault("not_ready")), (200, {"done": 1})]
    with Coverdict(address, "t", patience=10) as server:
        assert server.ask("POST", "projects/mill/push/", {}) == {"done": 1}
    assert handler.answers == []


def test_a_first_push_that_finds_the_database_busy_is_repeated_after_the_pause_that_the_server_names(
    moody: tuple[type[Moody], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # After the first answer, the short patience for unanswered addresses no longer applies.
    monkeypatch.setattr(clients, "FIRST_PATIENCE", 0.0)
    handler, address = moody
    handler.retry_after = "1"
    handler.answers += [(503, fault("database_away")), (200, {"done": 1})]
    began = time.monotonic()
    with Coverdict(address, "t", patience=10) as server:
        assert server.ask("POST", "projects/mill/push/", {}) == {"done": 1}
    assert time.monotonic() - began >= 1


def test_a_change_that_may_have_been_carried_out_is_not_repeated(moody: tuple[type[Moody], str]) -> None:
    handler, address = moody
    handler.answers += [None, (200, {"done": 2})]
    with Coverdict(address, "t", patience=10) as server:
        with pytest.raises(ApiError, match="It may have been carried out") as refused:
            server.ask("POST", "x/", {})
        assert refused.value.reason == "no_answer"
    assert len(handler.answers) == 1


def test_a_refusal_is_not_repeated(moody: tuple[type[Moody], str]) -> None:
    handler, address = moody
    handler.answers += [(409, fault("slug_taken")), (500, fault("internal")), (502, fault("proxy"))]
    with Coverdict(address, "t", patience=10) as server:
        for reason in ("slug_taken", "internal", "proxy"):
            with pytest.raises(ApiError) as refused:
                server.ask("POST", "x/", {})
            assert refused.value.reason == reason
    assert handler.answers == []


def test_a_page_in_place_of_an_answer_is_an_error_of_the_api(
    moody: tuple[type[Moody], str], tmp_path: Path
) -> None:
    handler, address = moody
    handler.answers += [(200, "<html>Sign in</html>")] * 2
    with Coverdict(address, "t") as server, pytest.raises(ApiError, match="other than JSON") as refused:
        server.ask("POST", "x/", {})
    assert (refused.value.status, refused.value.reason) == (200, "unreadable")
    with Coverdict(address, "t") as server, pytest.raises(ApiError, match="one of its files"):
        server.download("x/file/", tmp_path / "x.zip")
    assert list(tmp_path.iterdir()) == []


def test_a_server_that_is_away_is_given_up(moody: tuple[type[Moody], str]) -> None:
    _, address = moody
    with Coverdict("http://127.0.0.1:9", "t", patience=0.05) as server, pytest.raises(ApiError) as refused:
        server.projects()
    assert (refused.value.status, refused.value.reason) == (None, "no_answer")
    assert address


def test_a_server_that_never_answered_is_given_up_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clients, "FIRST_PATIENCE", 0.05)
    with Coverdict("http://127.0.0.1:9", "t") as server, pytest.raises(ApiError, match="did not answer"):
        server.projects()


class Cutting(BaseHTTPRequestHandler):
    behind: str
    cuts: list[int]
    """The numbers of bytes after which the next files break off."""
    files: int

    def do_GET(self) -> None:
        self._hand_on(None)

    def do_POST(self) -> None:
        self._hand_on(self.rfile.read(int(self.headers["Content-Length"])))

    def _hand_on(self, body: bytes | None) -> None:
        given = {name: value for name, value in self.headers.items() if name != "Host"}
        with urllib.request.urlopen(urllib.request.Request(self.behind + self.path, body, given)) as answer:
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.end_headers()
            content = answer.read()
        if "/file/" in self.path:
            type(self).files += 1
            content = content[: self.cuts.pop(0)] if self.cuts else content
        self.wfile.write(content)
        self.close_connection = True

    def log_message(self, *_: Any) -> None:
        """Do not print requests."""


@pytest.fixture
def cutting(live_server: LiveServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[type[Cutting], str]]:
    monkeypatch.setattr(clients, "FIRST_PAUSE", 0.01)
    monkeypatch.setattr(clients, "LOOK_EVERY", 0.01)
    handler = type("Handler", (Cutting,), {"behind": live_server.url, "cuts": [], "files": 0})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as served:
        Thread(target=served.serve_forever, daemon=True).start()
        yield handler, f"http://127.0.0.1:{served.server_port}"
        served.shutdown()


def write_exports() -> None:
    try:
        wait_until(lambda: jobs.due(Job.Kind.EXPORT).exists())
        perform_job.work_on(Job.Kind.EXPORT)
    finally:
        connection.close()


def test_a_download_that_breaks_off_starts_again(
    cutting: tuple[type[Cutting], str], server: Coverdict, token: str, tmp_path: Path
) -> None:
    handler, address = cutting
    project = server.create_project("Mill")
    project.push(ROWS)
    handler.cuts += [100, 50]
    worker = Thread(target=write_exports)
    worker.start()
    with Coverdict(address, token, progress=False, patience=10) as broken:
        path = broken.project(project.slug).export(
            "scores", tmp_path / "scores.csv", format="csv", timeout=60
        )
    worker.join()
    assert handler.files == 3
    assert path.read_text().startswith("project,document_id,system")
    assert hashlib.sha256(path.read_bytes()).hexdigest() == Export.objects.get().manifest["sha256"]
    assert [file.name for file in tmp_path.iterdir() if file.is_file()] == ["scores.csv"]


def test_a_download_that_gets_on_is_not_given_up(
    cutting: tuple[type[Cutting], str],
    server: Coverdict,
    token: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    handler, address = cutting
    # The patience is longer than one pause but shorter than two, so two cuts are survived only if progress renews it.
    monkeypatch.setattr(clients, "FIRST_PAUSE", 0.5)
    project = server.create_project("Mill")
    project.push(ROWS)
    export = request_export(project=Project.objects.get(), level="scores", format="csv", by=None)
    perform(export)
    handler.cuts += [50, 100]
    with Coverdict(address, token, progress=False, patience=0.8) as broken:
        broken.download(f"projects/{project.slug}/exports/{export.public_id}/file/", tmp_path / "scores.csv")
    assert handler.files == 3


def test_a_file_that_is_another_by_then_is_fetched_anew(
    cutting: tuple[type[Cutting], str], server: Coverdict, token: str, tmp_path: Path
) -> None:
    handler, address = cutting
    project = server.create_project("Mill")
    project.push(ROWS)
    export = request_export(project=Project.objects.get(), level="scores", format="csv", by=None)
    perform(export)
    handler.cuts += [100]
    file = f"projects/{project.slug}/exports/{export.public_id}/file/"

    def written_again(what: str, done: int, total: int) -> None:
        if done == 100:
            server.project(project.slug).push({**ROWS[0], "document_id": "d2"})
            with transaction.atomic():
                jobs.again(Job.objects.filter(export=export))
            perform(export)

    with Coverdict(address, token, progress=written_again, patience=10) as broken:
        broken.download(file, tmp_path / "scores.csv")
    assert handler.files == 2
    assert len((tmp_path / "scores.csv").read_text().splitlines()) == 4


def cancel_exports() -> None:
    try:
        wait_until(Export.objects.exists)
        cancel_export(export=Export.objects.get(), by=None)
    finally:
        connection.close()


def test_an_export_that_is_cancelled_or_waits_too_long_is_said(
    server: Coverdict, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clients, "LOOK_EVERY", 0.01)
    project = server.create_project("Mill")
    other = Thread(target=cancel_exports)
    other.start()
    with pytest.raises(ExportEnded, match="cancelled"):
        project.export("scores", tmp_path / "scores.csv", format="csv", timeout=60)
    other.join()
    with pytest.raises(TimeoutError):
        project.export("scores", tmp_path / "scores.csv", format="csv", timeout=0)
    assert list(tmp_path.iterdir()) == []


def test_tables_come_as_what_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [{"a": 1}, {"a": None}]
    assert isinstance(Coverdict(ADDRESS, "t").table(rows), pd.DataFrame)
    assert Coverdict(ADDRESS, "t", frames="arrow").table(rows).to_pylist() == rows
    assert Coverdict(ADDRESS, "t", frames="rows").table(rows) == rows
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert isinstance(Coverdict(ADDRESS, "t").table(rows), pa.Table)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert Coverdict(ADDRESS, "t").table(rows) == rows
    with pytest.raises(ImportError):
        Coverdict(ADDRESS, "t", frames="pandas").table(rows)


def test_the_notebook_was_saved_without_outputs() -> None:
    cells = json.loads(Path(ROOT / "docs" / "client.ipynb").read_text())["cells"]
    assert all(not cell.get("outputs") for cell in cells)
