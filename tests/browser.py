"""A real Chromium for tests, which records the errors of its pages."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Error,
    Page,
    Response,
    ViewportSize,
    sync_playwright,
)

NAMES = ("chromium", "chromium-browser", "google-chrome")
QUIET = [
    "--disable-dev-shm-usage",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
DESKTOP: ViewportSize = {"width": 1280, "height": 900}
PHONE: ViewportSize = {"width": 390, "height": 844}
# A 4xx response to one of these is a broken page. Other requests may get 4xx on purpose.
PARTS_OF_A_PAGE = {"stylesheet", "script", "image", "font"}
FAILED, BROKEN = 500, 400
REST_MS, LONGEST_REST_MS = 20, 1000
# Wait long enough for a busy machine; waits end as soon as their condition holds.
PATIENCE_MS = 60_000
AHEAD_S = 20
# Chromium's console repeats these errors, which the responses describe more exactly.
SAID_BY_THE_RESPONSE = "Failed to load resource"
WATCH_POLICY = """
document.addEventListener("securitypolicyviolation", (event) =>
  {
    const what = event.blockedURI || "inline";
    console.error(`content security policy: ${event.violatedDirective} blocked ${what}`);
  });
"""


class NoBrowser(Exception):
    """The machine has no Chromium; the message names the places that were searched."""


def find_chromium() -> str:
    """Return the path of $CHROMIUM if set, else of the first of NAMES on PATH. Raises NoBrowser."""
    named = os.environ.get("CHROMIUM")
    for name in (named,) if named else NAMES:
        found = shutil.which(name)
        if found:
            return found
    looked = f"CHROMIUM={named}" if named else ", ".join(NAMES)
    raise NoBrowser(f"no Chromium ({looked}); on Debian: apt install chromium")


@contextmanager
def running() -> Iterator[Browser]:
    """Raises NoBrowser if there is no Chromium."""
    program = find_chromium()
    # Chromium's sandbox does not run as root.
    flags = [*QUIET, "--no-sandbox"] if os.geteuid() == 0 else QUIET
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=flags)
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def standing_still(page: Page) -> Iterator[None]:
    """Stop the page's clock within the with block, after it has advanced by AHEAD_S.

    Call `page.clock.install()` before opening a page.
    """
    page.clock.pause_at(page.evaluate("Date.now()") / 1000 + AHEAD_S)
    yield
    page.clock.resume()


@dataclass
class Watch:
    complaints: list[str] = field(default_factory=list)
    under_way: int = 0

    def over(self, context: BrowserContext) -> None:
        context.add_init_script(WATCH_POLICY)
        context.on("console", self._heard)
        context.on("weberror", lambda error: self._note(f"exception: {error.error}"))
        context.on("response", self._answered)
        context.on("request", lambda _: self._count(1))
        context.on("requestfinished", lambda _: self._count(-1))
        context.on("requestfailed", lambda _: self._count(-1))

    def expect(self, text: str) -> None:
        """Remove the recorded problems that contain this text."""
        self.complaints = [complaint for complaint in self.complaints if text not in complaint]

    def _count(self, by: int) -> None:
        self.under_way += by

    def _note(self, complaint: str) -> None:
        self.complaints.append(complaint)

    def _heard(self, message: ConsoleMessage) -> None:
        if message.type == "error" and not message.text.startswith(SAID_BY_THE_RESPONSE):
            self._note(f"console: {message.text}")

    def _answered(self, response: Response) -> None:
        is_part = response.request.resource_type in PARTS_OF_A_PAGE
        if response.status >= FAILED or (is_part and response.status >= BROKEN):
            self._note(f"{response.status} for {response.request.method} {response.url}")


@dataclass
class Desk:
    browser: Browser
    address: str
    watch: Watch = field(default_factory=Watch)
    contexts: list[BrowserContext] = field(default_factory=list)

    def __call__(self, *, viewport: ViewportSize = DESKTOP, **options: Any) -> Page:
        """`goto("/…")` of the page is relative to the live server."""
        context = self.browser.new_context(base_url=self.address, viewport=viewport, **options)
        context.set_default_timeout(PATIENCE_MS)
        self.watch.over(context)
        self.contexts.append(context)
        return context.new_page()

    def close(self) -> None:
        for context in self.contexts:
            try:
                self._come_to_rest(context)
                context.close()
            except Error as fault:
                self.watch.complaints.append(f"closing: {fault}")

    def _come_to_rest(self, context: BrowserContext) -> None:
        for _ in range(0, LONGEST_REST_MS, REST_MS):
            if context.pages:
                context.pages[0].wait_for_timeout(REST_MS)
            if self.watch.under_way <= 0:
                return
