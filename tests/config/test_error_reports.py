from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from annotation.config.error_reports import without_texts

ROOT = Path(__file__).resolve().parents[2]
PRIVATE = "the zinnober mill closes in may"
PROGRAM = """
import django
django.setup()
from annotation.config.error_reports import report_errors
report_errors(__import__("os").environ["DSN"], environment="trying")
import logging
import sentry_sdk
from django.test import Client
from django.urls import path
from annotation.config import urls

def fail(request):
    text = request.POST["text"]
    raise ValueError(f"cannot read {text!r}")

urls.urlpatterns.insert(0, path("fails/", fail))
client = Client(raise_request_exception=False)
answer = client.post(
    "/fails/?q=PRIVATE", {"text": "PRIVATE"}, headers={"User-Agent": "PRIVATE", "X-Request-ID": "PRIVATE"}
)
assert answer.status_code == 500, answer.status_code
print(answer["X-Request-ID"])
assert client.get("/", headers={"Host": "10.0.0.1"}).status_code == 400
logging.getLogger("annotation.judging").error("The judge said %s", "PRIVATE")
sentry_sdk.flush(20)
""".replace("PRIVATE", PRIVATE)


class Receiver(HTTPServer):
    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.received: list[bytes] = []


class _Handler(BaseHTTPRequestHandler):
    server: Receiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.received.append(
            gzip.decompress(body) if self.headers.get("Content-Encoding") == "gzip" else body
        )
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def test_an_error_arrives_with_its_place_and_request_and_without_what_people_wrote(
    receiver: Receiver, tmp_path: Path
) -> None:
    environment = {
        **{name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")},
        "DSN": f"http://public@127.0.0.1:{receiver.server_port}/1",
        "DJANGO_SETTINGS_MODULE": "annotation.config.settings.test",
        "COVERDICT_VAR": str(tmp_path),
    }
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    envelopes = [
        [json.loads(line) for line in body.splitlines() if line.strip()] for body in receiver.received
    ]
    events = [part for parts in envelopes for part in parts if "event_id" in part and "level" in part]
    failed = next(event for event in events if event["exception"]["values"])
    [raised] = failed["exception"]["values"]
    assert raised["type"] == "ValueError"
    assert raised["stacktrace"]["frames"][-1]["function"] == "fail"
    assert failed["tags"] == {"request_id": done.stdout.strip()}
    assert failed["environment"] == "trying"
    assert "The judge said %s" in [event.get("logentry", {}).get("message") for event in events]
    # The health checks are not reported.
    assert len(events) == 2
    for body in receiver.received:
        assert PRIVATE.encode() not in body
        assert b"User-Agent" not in body


def test_what_is_not_known_to_be_harmless_is_left_out() -> None:
    """The client library may add further values, now or in its next version."""
    event = {
        "event_id": "1",
        "user": {"email": PRIVATE},
        "request": {"data": PRIVATE, "cookies": PRIVATE, "query_string": PRIVATE, "url": PRIVATE},
        "extra": {"sys.argv": [PRIVATE]},
        "breadcrumbs": {"values": [{"message": PRIVATE}]},
        "contexts": {"trace": {"data": PRIVATE}},
        "something_new": PRIVATE,
        "transaction": f"/setup/{PRIVATE}/",
        "transaction_info": {"source": "url"},
        "exception": {
            "values": [
                {
                    "type": "KeyError",
                    "value": PRIVATE,
                    "stacktrace": {
                        "frames": [{"function": "f", "vars": {"text": PRIVATE}, "context_line": PRIVATE}]
                    },
                }
            ]
        },
    }
    told = without_texts(event, {})  # type: ignore[arg-type]
    assert PRIVATE not in json.dumps(told)
    assert told["event_id"] == "1"
