"""How somebody looks at a long list: what they search for, its order, where the page starts, and the ways on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from django.utils.http import urlencode

from annotation.core.refusals import Invalid
from annotation.core.search import LONGEST_SEARCH, searched_for

if TYPE_CHECKING:
    from annotation.web.htmx import Request


@dataclass(frozen=True, slots=True)
class SortingHead:
    """The head of a column: the query of a click on it, and the present order for `aria-sort`, "" for another's."""

    query: str
    aria_sort: str


@dataclass(frozen=True, slots=True)
class Listing:
    """One way to look at a list.

    `what` stands at `address` and is searched for `words`; `target` is the selector of what a script replaces, if any.
    `columns` are those that sort, by their names in addresses, the default first; `keep` is what else an address says.
    """

    address: str
    what: str
    target: str
    words: str
    after: str
    sort: str = ""
    columns: Mapping[str, str] = field(default_factory=dict)
    keep: Mapping[str, str] = field(default_factory=dict)
    longest: int = LONGEST_SEARCH

    @property
    def order(self) -> tuple[str, str]:
        """The columns of the database, for `page_after`. The public id comes last."""
        sign = "-" if self.sort.startswith("-") else ""
        name = self.sort.removeprefix("-") or next(iter(self.columns))
        return f"{sign}{self.columns[name]}", f"{sign}public_id"

    @property
    def heads(self) -> dict[str, SortingHead]:
        """Of each column that sorts; a click on the one that sorts now turns the order around."""
        now = self.sort or next(iter(self.columns))
        return {name: self._head(name, now) for name in self.columns}

    @property
    def hidden(self) -> dict[str, str]:
        """What the form of the search sends along."""
        return _said({**self.keep, "sort": self.sort})

    @property
    def cleared(self) -> str:
        """The query of the list without the search."""
        return f"?{urlencode(self.hidden)}"

    @property
    def next_page(self) -> str:
        """The query to which the place of the next page is added."""
        return f"?{urlencode(_said({**self.hidden, 'q': self.words}))}"

    def _head(self, name: str, now: str) -> SortingHead:
        turned = f"-{name}" if now == name else name
        query = urlencode(_said({**self.hidden, "q": self.words, "sort": turned}))
        aria_sort = {name: "ascending", f"-{name}": "descending"}.get(now, "")
        return SortingHead(f"?{query}", aria_sort)


def listing_of(
    request: Request,
    *,
    what: str,
    target: str,
    address: str = "",
    columns: Mapping[str, str] | None = None,
    keep: Mapping[str, str] | None = None,
) -> Listing:
    """How an address looks at a list; see `Listing`. Raises Invalid for an order that the list does not have."""
    columns, sort = columns or {}, request.GET.get("sort", "")
    if sort and sort.removeprefix("-") not in columns:
        raise Invalid(f"This list cannot be sorted by {sort!r}.", field="sort")
    return Listing(
        address=address or request.path,
        what=what,
        target=target,
        words=searched_for(request.GET.get("q", "")),
        after=request.GET.get("after", ""),
        sort=sort,
        columns=columns,
        keep=keep or {},
    )


def _said(words: Mapping[str, str]) -> dict[str, str]:
    return {name: word for name, word in words.items() if word}
