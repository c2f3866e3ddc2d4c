from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.core.guidelines import rendered

if TYPE_CHECKING:
    pass


class Tags(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def test_markdown_reads_as_a_text_below_the_pages_own_headings() -> None:
    html = rendered("# Units\n\n- one\n- **two**\n\n## Marks\n\n###### Deep")
    assert "<h3>Units</h3>" in html
    assert "<h4>Marks</h4>" in html
    assert "<h5>Deep</h5>" in html
    assert "<li><strong>two</strong></li>" in html


@pytest.mark.parametrize(
    "text",
    [
        "> " * 30 + "innermost",
        "- " * 30 + "innermost",
        "1. " * 30 + "innermost",
        "\n".join("  " * depth + f"- item {depth}" for depth in range(30)) + "\n" + "  " * 30 + "- innermost",
        "> - " * 20 + "innermost",
        "> " * 25 + "first\n" + "> " * 25 + "\n" + "> " * 25 + "- innermost\n\nafter",
    ],
)
def test_words_within_any_number_of_lists_and_quotations_are_kept(text: str) -> None:
    html = rendered(text)
    assert "innermost" in html
    for words in re.findall("item [0-9]+|first|after", text):
        assert words in html


def test_lists_and_quotations_as_deep_as_the_parser_reads_are_such() -> None:
    # The parser reads 20 levels. 19 block quotes leave the twentieth level to the paragraph. Each list takes two
    # levels, so 9 lists fit.
    assert rendered("> " * 19 + "a").count("<blockquote>") == 19
    assert rendered("> " * 20 + "a").count("<blockquote>") == 19
    assert rendered("- " * 9 + "a").count("<ul>") == 9
    assert rendered("- " * 10 + "a").count("<ul>") == 9


@given(st.lists(st.sampled_from(["> ", "- ", "1. ", "\n", "   ", "word "]), max_size=120))
def test_no_word_is_ever_lost(pieces: list[str]) -> None:
    text = "".join(pieces)
    assert rendered(text).count("word") == text.count("word")


def test_a_link_leads_out_and_gives_nothing_away() -> None:
    (link,) = (
        attributes for tag, attributes in Tags(rendered("[a](https://x.example/)")).found if tag == "a"
    )
    assert link == {"href": "https://x.example/", "rel": "noopener noreferrer nofollow"}


def test_code_that_is_too_wide_can_be_scrolled_by_keyboard() -> None:
    assert '<pre tabindex="0">' in rendered("```\ncode\n```")


@pytest.mark.parametrize(
    "hostile",
    [
        "<script>alert(1)</script>",
        '<img src=x onerror="alert(1)">',
        "[a](javascript:alert(1))",
        "[a](data:text/html;base64,PHNjcmlwdD4=)",
        "![a](https://x.example/tracker.png)",
        '<a href="https://x.example" onclick="alert(1)">a</a>',
        "<style>*{}</style>",
        '<iframe src="https://x.example"></iframe>',
        "<svg/onload=alert(1)>",
        '<https://x.example/" onmouseover="alert(1)>',
    ],
)
def test_nothing_hostile_is_let_through(hostile: str) -> None:
    for tag, attributes in Tags(rendered(hostile)).found:
        assert tag in {"p", "a", "em", "strong", "code"}
        assert set(attributes) <= {"href", "rel", "title"}
        assert not (attributes.get("href") or "").startswith(("javascript:", "data:"))


ALLOWED = {
    *("h3", "h4", "h5", "h6", "p", "br", "hr", "ul", "ol", "li", "strong", "em", "s", "code", "pre"),
    *("blockquote", "a", "table", "thead", "tbody", "tr", "th", "td"),
}


@given(st.text(alphabet=st.sampled_from("<>\"'=&/:#*_-[]()`!| \nabjs"), max_size=80))
def test_whatever_is_written_only_plain_tags_come_out(text: str) -> None:
    for tag, attributes in Tags(rendered(text)).found:
        assert tag in ALLOWED
        assert set(attributes) <= {"href", "rel", "title", "start", "tabindex"}
