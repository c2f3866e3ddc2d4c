"""A real server behind a real proxy, both on loopback: whose address is counted, and who is kept waiting."""

from __future__ import annotations

import http.client
import threading
from contextlib import contextmanager
from http.cookies import SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import pytest

from annotation.accounts.lock_out import FAILURES_HERE, FAILURES_OF_ACCOUNT
from annotation.models import AccountEvent
from tests.annotation.gunicorn_server import Server

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.annotation.cast import World

OFFICE, STRANGER = "127.0.0.5", "127.0.0.6"
"""Every address of 127.0.0.0/8 is this machine's, so that clients can come from several."""

pytestmark = pytest.mark.django_db(transaction=True)


@contextmanager
def proxy(port: int) -> Iterator[int]:
    """The port of a proxy before the server, which appends to X-Forwarded-For from where it was called."""

    class Forward(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            told = self.headers.get("X-Forwarded-For")
            headers = {name: value for name, value in self.headers.items() if name != "X-Forwarded-For"}
            headers["X-Forwarded-For"] = ", ".join(filter(None, (told, self.client_address[0])))
            behind = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
            behind.request(self.command, self.path, body, headers)
            answer = behind.getresponse()
            content = answer.read()
            self.send_response(answer.status)
            for name, value in answer.getheaders():
                if name not in {"Transfer-Encoding", "Connection", "Server", "Date"}:
                    self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)
            behind.close()

        do_POST = do_GET  # noqa: N815

        def log_message(self, *_: object) -> None:
            """Nothing: the tests' own words are enough."""

    front = ThreadingHTTPServer(("127.0.0.1", 0), Forward)
    threading.Thread(target=front.serve_forever, daemon=True).start()
    try:
        yield front.server_address[1]
    finally:
        front.shutdown()
        front.server_close()


@contextmanager
def served(environment: dict[str, str], proxies: int) -> Iterator[int]:
    """The proxy's port, before a server that trusts so many proxies."""
    guarded = {
        "DJANGO_SETTINGS_MODULE": "tests.annotation.accounts.guarded_settings",
        "TRUSTED_PROXIES": str(proxies),
    }
    server = Server(environment | guarded)
    server.start()
    try:
        with proxy(server.port) as port:
            yield port
    finally:
        server.kill()


def signs_in(port: int, password: str, *, at: str, claims: str = "") -> int:
    """The status of the answer to name and password, sent from an address by a browser without cookies."""
    cookie = {"coverdict_csrf": "a" * 32}
    form = urlencode({"username": "rex", "password": password, "csrfmiddlewaretoken": "a" * 32})
    headers = {
        "Cookie": "; ".join(f"{name}={value}" for name, value in cookie.items()),
        "Content-Type": "application/x-www-form-urlencoded",
        **({"X-Forwarded-For": claims, "Forwarded": f"for={claims}", "X-Real-IP": claims} if claims else {}),
    }
    line = http.client.HTTPConnection("127.0.0.1", port, timeout=60, source_address=(at, 0))
    line.request("POST", "/sign-in/", form, headers)
    answer = line.getresponse()
    answer.read()
    line.close()
    assert "coverdict_device" in str(SimpleCookie(answer.getheader("Set-Cookie"))) or answer.status != 302
    return answer.status


def addresses() -> set[str | None]:
    return set(AccountEvent.objects.values_list("address", flat=True))


def test_each_client_behind_the_proxy_waits_for_its_own_wrong_passwords_whatever_it_claims(
    world: World, subprocess_env: dict[str, str]
) -> None:
    with served(subprocess_env, proxies=1) as port:
        said = [
            signs_in(port, "wrong", at=STRANGER, claims=f"203.0.113.{number}")
            for number in range(FAILURES_HERE)
        ]
        assert said == [422] * (FAILURES_HERE - 1) + [429]
        assert signs_in(port, "rex-secret", at=STRANGER, claims="203.0.113.99") == 429
        assert signs_in(port, "rex-secret", at=OFFICE) == 302
        assert addresses() == {STRANGER, OFFICE}
        # From everywhere now: anyone who is not known waits, and the office goes on.
        for number in range(FAILURES_OF_ACCOUNT):
            signs_in(port, "wrong", at=f"127.0.1.{number + 1}")
        assert signs_in(port, "rex-secret", at="127.0.2.1") == 429
        assert signs_in(port, "rex-secret", at=OFFICE) == 302


def test_without_declared_proxies_no_header_counts(world: World, subprocess_env: dict[str, str]) -> None:
    with served(subprocess_env, proxies=0) as port:
        assert signs_in(port, "wrong", at=STRANGER, claims="203.0.113.1") == 422
        assert addresses() == {"127.0.0.1"}
