"""An OpenID Connect provider for tests: a process on loopback, on a free port."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

import httpx2 as httpx

from tests.parts import free_port

START_SECONDS = 60
STOP_SECONDS = 60


@dataclass(frozen=True)
class Provider:
    issuer: str

    def knows(self, sub: str, **claims: object) -> None:
        httpx.put(f"{self.issuer}/users/{sub}", json=claims).raise_for_status()

    def let_in(self, address: str, sub: str, *, denies: bool = False) -> str:
        form = {"action": "deny"} if denies else {"sub": sub}
        answer = httpx.post(address, data=form)
        assert answer.status_code == 302, answer.text
        back = urlsplit(answer.headers["Location"])
        return f"{back.path}?{back.query}"


@contextmanager
def running() -> Iterator[Provider]:
    port = free_port()
    server = subprocess.Popen(
        [sys.executable, "-m", "oidc_provider_mock", "--port", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        provider = Provider(f"http://127.0.0.1:{port}")
        _wait_until_ready(server, provider)
        yield provider
    finally:
        server.terminate()
        server.wait(timeout=STOP_SECONDS)


def _wait_until_ready(server: subprocess.Popen[bytes], provider: Provider) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and server.poll() is None:
        try:
            httpx.get(f"{provider.issuer}/.well-known/openid-configuration").raise_for_status()
            return
        except httpx.TransportError:
            time.sleep(0.05)
    raise RuntimeError("the OpenID Connect provider did not come up")


def onward(page: str) -> str:
    found = re.search(r'http-equiv="refresh" content="0; url=([^"]+)"', page)
    assert found, page
    return found[1].replace("&amp;", "&")
