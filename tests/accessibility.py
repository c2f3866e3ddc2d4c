"""Checking a page with axe-core for accessibility, and for scrolling sideways."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page, ViewportSize

RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
OF_COLOUR = ["color-contrast", "link-in-text-block"]
RUN = """
async (rules) => {
  // Between two schemes or sizes, colours change gradually.
  document.getAnimations().forEach((each) => each.finish());
  // Preloading asks for stylesheets again and puts them into the page, which its policy forbids.
  const found = await axe.run(document, { runOnly: rules, resultTypes: ["violations"], preload: false });
  return found.violations.flatMap((rule) => rule.nodes.map((node) => `${rule.id}: ${node.target} ${node.html}`));
}
"""


@cache
def _axe() -> str:
    return files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")


def violations(page: Page, *also: ViewportSize) -> list[str]:
    if not page.evaluate("'axe' in window"):
        # The browser's debugger runs the script, so the content policy needs no exception.
        page.evaluate(_axe())
    before = page.viewport_size
    assert before
    found: list[str] = []
    for size in (before, *also):
        found += runs_off(page, size) + page.evaluate(RUN, RULES)
    page.set_viewport_size(before)
    page.emulate_media(color_scheme="dark")
    found += [f"dark: {fault}" for fault in page.evaluate(RUN, OF_COLOUR)]
    page.emulate_media(color_scheme="light")
    return found


def runs_off(page: Page, size: ViewportSize | None = None) -> list[str]:
    if size:
        page.set_viewport_size(size)
    is_wider = page.evaluate("document.documentElement.scrollWidth > innerWidth")
    return [f"wider than {page.evaluate('innerWidth')}"] if is_wider else []
