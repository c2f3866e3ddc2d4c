from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from annotation.help import pages
from annotation.help.pages import Heading, anchor_of, help_file, help_page

if TYPE_CHECKING:
    from pathlib import Path

TEXT = """# A judge's *price*

[Other](other.md#one-two), [first](README.md), [file](rows.csv), [here](#two), [out](https://example.org/x.md)

![Seen](shot.png)

## One, `two`

<script>alert(1)</script> [bad](javascript:alert(1))

| a | b |
|---|---|
| 1 | 2 |

## Two

```sh
make demo
```
"""


@pytest.fixture
def folder(tmp_path: Path, settings: object) -> Path:
    settings.BASE_DIR = tmp_path  # type: ignore[attr-defined]
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "price.md").write_text(TEXT)
    return docs


def shown(name: str) -> str:
    page = help_page(name)
    return page.html


def test_headings_have_the_anchors_of_code_hosts(folder: Path) -> None:
    page = help_page("price")
    assert page.title == "A judge's price"
    assert page.headings == (Heading("one-two", "One, two"), Heading("two", "Two"))
    assert '<h2 id="one-two">One, <code>two</code></h2>' in page.html
    assert anchor_of("Why random samples?") == "why-random-samples"


def test_links_lead_to_the_pages_of_the_app(folder: Path) -> None:
    html = shown("price")
    assert 'href="/help/other/#one-two"' in html
    assert 'href="/help/"' in html
    assert 'href="/help/files/rows.csv"' in html
    assert 'href="#two"' in html
    assert 'href="https://example.org/x.md" rel="noopener noreferrer"' in html
    assert 'src="/help/files/shot.png" alt="Seen"' in html


def test_a_picture_with_a_dark_twin_comes_with_it(folder: Path) -> None:
    (folder / "shot.png").write_bytes(b"")
    assert "by-night" not in shown("price")
    (folder / "shot-dark.png").write_bytes(b"")
    (folder / "price.md").write_text("![Seen](shot.png)")
    assert shown("price").count("<img") == 2
    assert 'src="/help/files/shot-dark.png" alt="Seen" loading="lazy" class="by-night"' in shown("price")


def test_html_in_a_page_is_shown_as_text_and_scripts_are_no_links(folder: Path) -> None:
    html = shown("price")
    assert "<script" not in html
    assert "&lt;script&gt;" in html
    assert 'href="javascript' not in html


def test_wide_tables_and_code_scroll_by_keyboard(folder: Path) -> None:
    html = shown("price")
    assert '<div class="scroll" role="group" aria-label="Table" tabindex="0"><table>' in html
    assert "</table>\n</div>" in html
    assert '<pre tabindex="0"><code class="language-sh">make demo' in html


def test_a_changed_file_is_read_again(folder: Path) -> None:
    assert "Changed" not in shown("price")
    (folder / "price.md").write_text("# Changed")
    assert "Changed" in shown("price")


@pytest.mark.parametrize(
    "name", ["nothing", "", "../price", "..", "Price", "price.md", "price\n", "/etc/passwd"]
)
def test_other_names_are_no_pages(folder: Path, name: str) -> None:
    assert help_page(name) is None


@pytest.mark.parametrize(
    "name", ["price.md", "notes.txt", "../secret.png", "none.png", ".png", "a/b.png", "shot.png\n"]
)
def test_only_files_of_served_types_in_the_folder_are_given_out(folder: Path, name: str) -> None:
    (folder / "notes.txt").write_text("")
    (folder / "shot.png").write_bytes(b"")
    (folder.parent / "secret.png").write_bytes(b"")
    assert help_file("shot.png") == folder / "shot.png"
    assert help_file(name) is None


def test_the_folder_is_that_of_the_project() -> None:
    assert (pages.docs_folder() / "tutorial.md").is_file()
