"""The search of a page that is no list of `core.lists`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from django.utils.http import urlencode

from annotation.core.search import LONGEST_SEARCH, searched_for

if TYPE_CHECKING:
    from annotation.web.htmx import Request


@dataclass(frozen=True, slots=True)
class Listing:
    """`what` stands at `address` and is searched for `words`; `target` is the selector of what a script replaces.

    `hidden` is what else the address says.
    """

    address: str
    what: str
    target: str
    words: str
    hidden: Mapping[str, str] = field(default_factory=dict)
    longest: int = LONGEST_SEARCH

    @property
    def cleared(self) -> str:
        """The query of the page without the search."""
        return f"?{urlencode(self.hidden)}"


def listing_of(
    request: Request, *, what: str, target: str, address: str = "", keep: Mapping[str, str] | None = None
) -> Listing:
    """How an address searches a page; see `Listing`."""
    hidden = {name: word for name, word in (keep or {}).items() if word}
    return Listing(address or request.path, what, target, searched_for(request.GET.get("q", "")), hidden)
