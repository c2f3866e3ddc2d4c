"""Rendering pages of `docs/` as HTML."""

from __future__ import annotations

import re
from copy import copy
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from django.conf import settings
from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from markdown_it.renderer import RendererHTML
    from markdown_it.token import Token
    from markdown_it.utils import OptionsDict

INDEX = "README"
"""The start page of /help/, which a code host shows for the folder."""

FILE_TYPES = {
    ".png": "image/png",
    ".csv": "text/csv; charset=utf-8",
    ".ipynb": "application/x-ipynb+json",
}
"""The types of other files of `docs/` that are served."""

_FILE_NAME = re.compile(r"[a-z0-9][a-z0-9-]*\.[a-z]+")
_PAGE_NAME = re.compile(r"[a-z0-9][a-z0-9-]*")


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of a page. `anchor` is its id."""

    anchor: str
    text: str


@dataclass(frozen=True, slots=True)
class HelpPage:
    """A rendered page. `headings` has the headings of the second level, in order."""

    title: str
    html: SafeString
    headings: tuple[Heading, ...]


def docs_folder() -> Path:
    folder: Path = settings.BASE_DIR / "docs"
    return folder


def help_page(name: str) -> HelpPage | None:
    """Render the page `docs/<name>.md`; None if there is no such page."""
    if name != INDEX and not _PAGE_NAME.fullmatch(name):
        return None
    path = docs_folder() / f"{name}.md"
    if not path.is_file():
        return None
    return _made(path, path.stat().st_mtime_ns)


def help_file(name: str) -> Path | None:
    """Return the path of a file in `docs/`; None for files that are not served."""
    path = docs_folder() / name
    is_served = bool(_FILE_NAME.fullmatch(name)) and path.suffix in FILE_TYPES and path.is_file()
    return path if is_served else None


def anchor_of(text: str) -> str:
    """Make the id of a heading as code hosts do: `anchor_of("A judge's price")` is "a-judges-price"."""
    return re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", "-")


@lru_cache(maxsize=64)
def _made(path: Path, _changed: int) -> HelpPage:
    environment: dict[str, Any] = {}
    tokens = _MARKDOWN.parse(path.read_text(encoding="utf-8"), environment)
    headings = _give_anchors(tokens)
    for token in tokens:
        for part in token.children or ():
            _lead_here(part)
    html = _MARKDOWN.renderer.render(tokens, _MARKDOWN.options, environment)
    title = next((text for level, text in headings if level == "h1"), path.stem)
    # The HTML is safe: the files are our own, and the parser shows HTML in them as text.
    return HelpPage(
        title,
        mark_safe(html),  # noqa: S308
        tuple(Heading(anchor_of(text), text) for level, text in headings if level == "h2"),
    )


def _give_anchors(tokens: Sequence[Token]) -> list[tuple[str, str]]:
    headings = []
    for opening, inline in pairwise(tokens):
        if opening.type == "heading_open":
            text = "".join(part.content for part in inline.children or ())
            opening.attrSet("id", anchor_of(text))
            headings.append((opening.tag, text))
    return headings


def _lead_here(part: Token) -> None:
    name = {"link_open": "href", "image": "src"}.get(part.type)
    if name is None:
        return
    address = urlsplit(str(part.attrGet(name)))
    if address.scheme:
        part.attrSet("rel", "noopener noreferrer")
    elif address.path:
        part.attrSet(name, _address(address.path) + (f"#{address.fragment}" if address.fragment else ""))


def _address(path: str) -> str:
    if path == f"{INDEX}.md":
        return reverse("help")
    if path.endswith(".md"):
        return reverse("help-page", args=[path.removesuffix(".md")])
    return reverse("help-file", args=[path])


def _scrolling_table(
    renderer: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, _env: object
) -> str:
    return '<div class="scroll" role="group" aria-label="Table" tabindex="0">' + renderer.renderToken(
        tokens, index, options, {}
    )


def _end_of_table(
    renderer: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, _env: object
) -> str:
    return renderer.renderToken(tokens, index, options, {}) + "</div>\n"


def _code(
    renderer: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: dict[str, Any]
) -> str:
    # Let code blocks get the focus, because keyboard users could not scroll a wide one otherwise.
    return renderer.fence(tokens, index, options, env).replace("<pre>", '<pre tabindex="0">', 1)


def _picture(
    renderer: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: dict[str, Any]
) -> str:
    """Render a picture, with its dark version if there is one."""
    by_day = tokens[index]
    by_day.attrSet("loading", "lazy")
    stem, _, ending = str(by_day.attrGet("src")).rpartition(".")
    if help_file(f"{stem.rpartition('/')[2]}-dark.{ending}") is None:
        return renderer.image(tokens, index, options, env)
    by_night = copy(by_day)
    by_night.attrs = {**by_day.attrs, "src": f"{stem}-dark.{ending}", "class": "by-night"}
    by_day.attrSet("class", "by-day")
    return "".join(renderer.image([each], 0, options, env) for each in (by_day, by_night))


def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    parser.add_render_rule("table_open", _scrolling_table)
    parser.add_render_rule("table_close", _end_of_table)
    parser.add_render_rule("fence", _code)
    parser.add_render_rule("image", _picture)
    return parser


_MARKDOWN = _parser()
