"""The current guidelines of a project, and the rendering of Markdown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import nh3
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock, blockquote, list_block

from annotation.models import Guideline

if TYPE_CHECKING:
    from django.db.models import QuerySet
    from markdown_it.rules_core import StateCore

    from annotation.models import Project
RENDERED_KEPT = 64
HIGHEST_HEADING, LOWEST_HEADING = 3, 6
"""Headings of guidelines start below the page's own two levels."""
_TAGS = frozenset(
    {
        "h3",
        "h4",
        "h5",
        "h6",
        "p",
        "br",
        "hr",
        "ul",
        "ol",
        "li",
        "strong",
        "em",
        "s",
        "code",
        "pre",
        "blockquote",
    }
    | {"a", "table", "thead", "tbody", "tr", "th", "td"}
)
_ATTRIBUTES = {"a": {"href", "title"}, "ol": {"start"}}
_SCHEMES = frozenset({"http", "https", "mailto"})
_INTERRUPTED = ["paragraph", "reference", "blockquote"]
BlockRule = Callable[[StateBlock, int, int, bool], bool]


@dataclass(frozen=True, slots=True)
class InForce:
    """The current guidelines, ready for display."""

    public_id: str
    version: int
    html: SafeString


def current(project: Project) -> Guideline | None:
    """Load the current version of the guidelines, which is the highest; None if there are none."""
    return _newest(project).select_related("by").first()


def current_id(project: Project) -> int | None:
    """Load the key of the current guidelines, which answers store; None if there are none."""
    return _newest(project).values_list("pk", flat=True).first()


def in_force(project: Project) -> InForce | None:
    """Load the current guidelines, ready for display; None if there are none."""
    row = _newest(project).first()
    return None if row is None else InForce(row.public_id, row.version, rendered(row.text))


@lru_cache(maxsize=RENDERED_KEPT)
def rendered(text: str) -> SafeString:
    """Render Markdown as safe HTML: no raw HTML, images, scripts or styles.

    The dialect is CommonMark with tables and strikethrough. HTML in the text is shown as text. Headings start at the
    third level.
    """
    made = nh3.clean(
        _MARKDOWN.render(text),
        tags=set(_TAGS),
        attributes={tag: set(names) for tag, names in _ATTRIBUTES.items()},
        url_schemes=set(_SCHEMES),
        link_rel="noopener noreferrer nofollow",
    )
    # Let code blocks get the focus, because keyboard users could not scroll a wide one otherwise.
    return mark_safe(made.replace("<pre>", '<pre tabindex="0">'))  # noqa: S308 - sanitised above


def _newest(project: Project) -> QuerySet[Guideline]:
    return Guideline.objects.filter(project=project).order_by("-version")


def _lower_headings(state: StateCore) -> None:
    headings = [token for token in state.tokens if token.type in ("heading_open", "heading_close")]
    levels = sorted({token.tag for token in headings})
    for token in headings:
        level = HIGHEST_HEADING + levels.index(token.tag)
        token.tag = f"h{min(level, LOWEST_HEADING)}"


def _as_deep_as_is_read(rule: BlockRule, *, levels: int) -> BlockRule:
    """Limit a block rule to the parser's depth, because the parser silently drops deeper content.

    Deeper lines become a paragraph that shows their Markdown characters.
    """

    def limited(state: StateBlock, start: int, end: int, silent: bool) -> bool:
        is_too_deep = state.level + levels >= state.md.options["maxNesting"]
        return not is_too_deep and rule(state, start, end, silent)

    return limited


def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"]).disable("image")
    rules = parser.block.ruler
    # Replacing a rule removes it from the lists of the rules that it interrupts, so name these rules again.
    rules.at("blockquote", _as_deep_as_is_read(blockquote, levels=1), {"alt": [*_INTERRUPTED, "list"]})
    rules.at("list", _as_deep_as_is_read(list_block, levels=2), {"alt": _INTERRUPTED})
    parser.core.ruler.push("lower_headings", _lower_headings)
    return parser


_MARKDOWN = _parser()
