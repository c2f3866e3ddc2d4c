"""Take the pictures of README from a running demo: `python -m tests.shots http://127.0.0.1:8000 docs`."""

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page

from tests import browser as browsers


@contextmanager
def signed_in(browser: Browser, address: str, person: str) -> Iterator[Page]:
    context = browser.new_context(base_url=address, viewport=browsers.DESKTOP, device_scale_factor=1)
    page = context.new_page()
    page.goto("/sign-in/")
    page.locator(f"button[value={person}]").click()
    page.get_by_role("link", name="Harbour study").first.wait_for()
    yield page
    context.close()


def see_form(page: Page) -> None:
    page.goto("/p/harbour/work/")
    page.get_by_role("link", name=re.compile("Begin|Go on")).click()
    page.locator("[data-see]").wait_for()
    for key in "a5jb4jc2":
        page.keyboard.press(key)
        page.wait_for_timeout(200)


def claim(page: Page) -> None:
    page.goto("/p/harbour/review/?side=reference")
    page.locator("main .rows a, main tbody a").nth(3).click()
    page.locator("#claim-room").wait_for()


def scores(page: Page) -> None:
    page.goto("/p/harbour/scores/?target=60")


SHOTS: dict[str, tuple[str, Callable[[Page], None]]] = {
    "see-form": ("ana", see_form),
    "review": ("cleo", claim),
    "scores": ("mona", scores),
}


def main(address: str, folder: str) -> None:
    with browsers.running() as browser:
        for name, (person, go) in SHOTS.items():
            with signed_in(browser, address, person) as page:
                go(page)
                page.wait_for_timeout(300)
                path = Path(folder) / f"{name}.png"
                page.screenshot(path=path)
                sys.stdout.write(f"{path}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
