"""Take the pictures of README.

From a running demo: `python -m tests.shots http://127.0.0.1:8000 docs`.
"""

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from playwright.sync_api import Browser, Page, ViewportSize

from tests import browser as browsers

# The window is small, so that its text can be read when the picture is shown at a third of the page's width.
SCREEN: ViewportSize = {"width": 1000, "height": 620}


@dataclass(frozen=True)
class Shot:
    person: str
    go: Callable[[Page], None]
    viewport: ViewportSize | None = None
    scheme: Literal["light", "dark"] = "light"


@contextmanager
def signed_in(browser: Browser, address: str, shot: Shot) -> Iterator[Page]:
    context = browser.new_context(
        base_url=address,
        viewport=shot.viewport or SCREEN,
        color_scheme=shot.scheme,
        has_touch=shot.viewport is not None,
        device_scale_factor=1,
    )
    page = context.new_page()
    page.goto("/accounts/login/")
    page.locator(f"button[value={shot.person}]").click()
    page.get_by_role("link", name="Harbour study").first.wait_for()
    yield page
    context.close()


def see_form(page: Page) -> None:
    page.goto("/p/harbour/work/")
    page.get_by_role("link", name=re.compile("^(Start|Continue)$")).first.click()
    page.locator("[data-see]").wait_for()
    # Later pictures need the form as the first picture left it.
    if page.locator("[data-answered-count]").inner_text() == "0":
        for key in "a5b4c":
            page.keyboard.press(key)
            page.wait_for_timeout(200)


def claim(page: Page) -> None:
    page.goto("/p/harbour/review/?side=reference")
    page.locator("main tbody th a").nth(3).click()
    page.locator("#claim-room").wait_for()


def leaderboard(page: Page) -> None:
    page.goto("/p/harbour/scores/")
    wait_for_statistics(page)


def wait_for_statistics(page: Page) -> None:
    while page.get_by_role("link", name="Refresh").count():
        page.wait_for_timeout(1000)
        page.reload()


SHOTS: dict[str, Shot] = {
    "see-form": Shot("ana", see_form),
    "see-form-dark": Shot("ana", see_form, scheme="dark"),
    "see-form-phone": Shot("ana", see_form, viewport=browsers.PHONE),
    "review": Shot("cleo", claim),
    "review-dark": Shot("cleo", claim, scheme="dark"),
    "leaderboard": Shot("mona", leaderboard),
    "leaderboard-dark": Shot("mona", leaderboard, scheme="dark"),
}


def main(address: str, folder: str) -> None:
    with browsers.running() as browser:
        for name, shot in SHOTS.items():
            with signed_in(browser, address, shot) as page:
                shot.go(page)
                page.wait_for_timeout(300)
                path = Path(folder) / f"{name}.png"
                page.screenshot(path=path)
                sys.stdout.write(f"{path}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
