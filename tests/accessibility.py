"""What axe-core finds wrong with a page for people who cannot see it, or not well; and whether it scrolls sideways."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page

RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
RUN = """
async (rules) => {
  // Preloading asks for stylesheets again and puts them into the page, which its policy forbids.
  const found = await axe.run(document, { runOnly: rules, resultTypes: ["violations"], preload: false });
  return found.violations.flatMap((rule) => rule.nodes.map((node) => `${rule.id}: ${node.target} ${node.html}`));
}
"""


@cache
def _axe() -> str:
    return files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")


def violations(page: Page) -> list[str]:
    """Each fault of the page as it stands: the rule that it breaks, where, and the element."""
    # Evaluated by the browser's own debugger, so the page's policy needs no hole for it.
    page.evaluate(_axe())
    found: list[str] = page.evaluate(RUN, RULES)
    if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
        found.append(f"wider than {page.evaluate('innerWidth')}")
    return found
