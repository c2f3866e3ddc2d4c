"""The browser fixtures: they drive a real Chromium, and a page that complains fails its test."""

from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import TYPE_CHECKING, Any

import pytest

from tests import browser as browsers

if TYPE_CHECKING:
    from playwright.sync_api import Browser

POLICY = "default-src 'self'; script-src 'self'; style-src 'self'"
PAGES = {
    "/quiet": (200, "text/html", "<title>Quiet</title>"),
    "/inline": (200, "text/html", "<title>Inline</title><script>document.title = 'ran'</script>"),
    "/styled": (200, "text/html", "<title>Styled</title><p style='color: red'>red</p>"),
    "/lost": (200, "text/html", "<title>Lost</title><script src='/nowhere.js'></script>"),
    "/noisy": (200, "text/html", "<title>Noisy</title><script src='/noise.js'></script>"),
    "/noise.js": (200, "text/javascript", "throw new Error('bang')"),
    "/refused": (422, "text/html", "<title>Refused</title>"),
    "/broken": (500, "text/html", "<title>Broken</title>"),
}


class Pages(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        status, kind, body = PAGES.get(self.path, (404, "text/plain", "nothing here"))
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Security-Policy", POLICY)
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *args: Any) -> None:
        """Say nothing on the terminal of the tests."""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Pages) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


@pytest.fixture
def watched(browser: "Browser", address: str) -> Iterator[browsers.Desk]:
    desk = browsers.Desk(browser=browser, address=address)
    yield desk
    desk.close()


def test_a_page_in_order_is_not_complained_about(watched: browsers.Desk) -> None:
    page = watched()
    for path in ("/quiet", "/refused"):
        page.goto(path, wait_until="networkidle")
    assert watched.watch.complaints == []


def test_a_page_that_is_not_in_order_is_complained_about_unless_expected(watched: browsers.Desk) -> None:
    page = watched()
    for path, complaint in (
        ("/inline", "content security policy: script-src-elem blocked inline"),
        ("/styled", "content security policy: style-src-attr blocked inline"),
        ("/lost", "404 for GET"),
        ("/noisy", "bang"),
        ("/broken", "500 for GET"),
    ):
        page.goto(path, wait_until="networkidle")
        assert any(complaint in found for found in watched.watch.complaints), watched.watch.complaints
        watched.watch.expect(complaint)
        assert not any(complaint in found for found in watched.watch.complaints)


def test_two_people_share_no_cookies(watched: browsers.Desk) -> None:
    ana, ben = watched(), watched()
    ana.context.add_cookies([{"name": "who", "value": "ana", "url": watched.address}])
    assert [cookie["value"] for cookie in ana.context.cookies()] == ["ana"]
    assert ben.context.cookies() == []


def test_a_browser_that_is_named_and_not_there_is_said_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHROMIUM", "no-such-chromium")
    with pytest.raises(browsers.NoBrowser, match="CHROMIUM=no-such-chromium"):
        browsers.find_chromium()
