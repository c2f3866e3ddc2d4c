"""A manager checks files and imports them, in a real browser under the strict content policy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from annotation.models import PublishedScore
from tests.accessibility import violations
from tests.annotation.imports.duc.packages import ROW_2002, row_2002
from tests.annotation.web.test_flow_in_browser import sign_in
from tests.browser import PHONE

if TYPE_CHECKING:
    from pathlib import Path

    from tests.annotation.cast import World
    from tests.browser import Desk

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize("view", [{}, {"viewport": PHONE, "color_scheme": "dark"}], ids=["desktop", "phone"])
def test_files_are_checked_mended_and_imported(
    world: World, desk: Desk, tmp_path: Path, view: dict[str, Any]
) -> None:
    good, bad = tmp_path / "results.table", tmp_path / "more.table"
    good.write_text(f"{ROW_2002}\n")
    bad.write_text(f"{row_2002(c8='20')}\n{row_2002(c27='7')}\n")
    page = sign_in(desk(**view), "mona")
    page.goto("/p/harbour/")
    page.locator(".doors summary", has_text="Data").click()
    page.get_by_role("navigation", name="Project").get_by_role("link", name="Import").click()
    page.get_by_label("Files to import").set_input_files([good, bad])
    page.get_by_role("button", name="Check").click()
    page.get_by_text("more.table, line 2, column 27").wait_for()
    assert violations(page) == []
    # What was chosen is still there, and so the tick alone is enough.
    page.get_by_label("Leave bad rows out, and name them").check()
    page.get_by_role("button", name="Check").click()
    page.get_by_role("heading", name="Checked: an import would bring this").wait_for()
    assert page.evaluate("document.activeElement.id") == "outcome"
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert not PublishedScore.objects.exists()
    page.get_by_role("button", name="Import", exact=True).click()
    page.get_by_role("heading", name="Imported").wait_for()
    assert PublishedScore.objects.count() == 2
