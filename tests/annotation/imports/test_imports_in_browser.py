from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from annotation.models import DocumentSet, Summary
from tests.accessibility import violations
from tests.annotation.imports.files import DOCUMENT, HEADER
from tests.annotation.web.test_flow_in_browser import sign_in
from tests.browser import DESKTOP, PHONE

if TYPE_CHECKING:
    from pathlib import Path

    from tests.annotation.cast import World
    from tests.browser import Desk

pytestmark = pytest.mark.django_db(transaction=True)


def test_files_are_checked_mended_and_imported_on_a_phone(world: World, desk: Desk, tmp_path: Path) -> None:
    rows = tmp_path / "rows.csv"
    rows.write_text(f"{HEADER}d1,{DOCUMENT},,alder,Two.,10\nd2,{DOCUMENT},,alder,Three.,ten\n")
    page = sign_in(desk(viewport=PHONE), "mona")
    page.goto("/p/harbour/")
    page.locator(".doors summary", has_text="Data").click()
    page.get_by_role("navigation", name="Project").get_by_role("link", name="Import").click()
    page.get_by_label("Choose files").set_input_files(rows)
    page.get_by_role("button", name="Continue").click()
    # The files are checked after the upload and after every change of a choice.
    page.locator("table.problems").wait_for()
    assert violations(page, DESKTOP) == []
    page.get_by_label("Skip invalid rows").check()
    page.get_by_role("heading", name="Checked: changes on import").wait_for()
    assert violations(page, DESKTOP) == []
    assert not Summary.objects.filter(text="Two.").exists()
    page.get_by_role("button", name="Import", exact=True).click()
    page.get_by_role("heading", name="Imported").wait_for()
    assert Summary.objects.filter(text="Two.").exists()


def test_an_odd_csv_of_fifty_rows_makes_fifty_sets(world: World, desk: Desk, tmp_path: Path) -> None:
    path = tmp_path / "outputs.csv"
    rows = [
        f"Rain fell on town {number}. Its trams stopped.,It rained in town {number}.,alder,Trams stopped {number}."
        for number in range(50)
    ]
    path.write_text("\n".join(["article,highlights,model,output", *rows]))
    page = sign_in(desk(), "mona")
    page.goto("/p/harbour/import/")
    page.get_by_label("Choose files").set_input_files(path)
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("heading", name="Checked: changes on import").wait_for()
    assert page.get_by_label("article contains").input_value() == "document"
    assert page.get_by_label("output contains").input_value() == "summary"
    assert violations(page, PHONE) == []
    page.get_by_label("highlights contains").focus()
    page.keyboard.press("Home")
    page.get_by_text("50 of 50 document sets have no reference here.").wait_for()
    assert violations(page, PHONE) == []
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "highlights contains"
    page.get_by_label("highlights contains").select_option("Reference summary")
    page.get_by_text("50 of 50 document sets have no reference here.").wait_for(state="detached")
    page.get_by_label("Target length in words, because no column has it").fill("5")
    page.get_by_role("button", name="Import", exact=True).click()
    page.get_by_role("heading", name="Imported").wait_for()
    sets = DocumentSet.objects.filter(project=world.project, external_id__startswith="doc-")
    assert sets.count() == 50
    summaries = Summary.objects.filter(document_set__in=sets, is_summary=True)
    assert set(summaries.values_list("system__name", "target_words")) == {("alder", 5)}
    assert Summary.objects.filter(document_set__in=sets, is_reference=True).count() == 50
