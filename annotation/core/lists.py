"""Lists. One declaration of columns and filters gives a page, the JSON of the API and a CSV file."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property, reduce
from operator import or_
from typing import TYPE_CHECKING, Any

from django.db import connection
from django.db.models import Q
from django.utils.http import urlencode

from annotation.core.paging import ROWS_ON_A_PAGE, batches, page_after, parts_after
from annotation.core.permissions import Verb, verbs_in
from annotation.core.refusals import Invalid, NotAllowed
from annotation.core.tables.as_csv import cell

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.db.models import QuerySet

    from annotation.models import Project

LARGEST_PAGE = 500
ROWS_AT_ONCE = 500
LARGEST_NUMBER = 2_147_483_647
LONGEST_SEARCH = 200


class Kind(StrEnum):
    TEXT = "text"
    COUNT = "count"
    NUMBER = "number"
    FLAG = "flag"
    MOMENT = "moment"
    TEXTS = "texts"


@dataclass(frozen=True, slots=True)
class Choices:
    """The values of a column or filter with their displayed names. `name` is the name of the choices in the API's
    schema.
    """

    name: str
    words: Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Viewer:
    """The person who looks at a list of a project, with their permissions."""

    person: User
    project: Project
    verbs: frozenset[Verb]

    @classmethod
    def now(cls, person: User, project: Project) -> Viewer:
        """Build the viewer with the person's current permissions in the project."""
        return cls(person, project, verbs_in(person, project))


def sees_scores(viewer: Viewer) -> bool:
    """Return True if the viewer may see scores."""
    return Verb.VIEW_SCORES in viewer.verbs


def _everybody(viewer: Viewer) -> bool:
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """Common fields of columns and filters.

    `help` is the description in the API; `seen_by` returns True for viewers who may see the column or filter.
    """

    kind: Kind = Kind.TEXT
    choices: Choices | None = None
    help: str = ""
    seen_by: Callable[[Viewer], bool] = _everybody


@dataclass(frozen=True, slots=True)
class Column(_Part):
    """One column.

    - `value`: a path of attributes (default: the name), or a function of the row
    - `head`: its head on the page; a column without a head is only in JSON and CSV
    - `order`: the database column for sorting, which must not be null; True means the column of `value`
    - `order_down`: the database column for descending order, if it differs
    - `search`: the database column to search; True means the column of `value`
    - `link`: the name of the URL of the row's page
    - `cell`: the template of its cells
    - `missing`: the text for a missing value
    """

    name: str
    value: str | Callable[[Any], Any] = ""
    head: str = field(default="", kw_only=True)
    nullable: bool = field(default=False, kw_only=True)
    order: str | bool = field(default="", kw_only=True)
    order_down: str = field(default="", kw_only=True)
    search: str | bool = field(default="", kw_only=True)
    link: str = field(default="", kw_only=True)
    cell: str = field(default="", kw_only=True)
    missing: str = field(default="", kw_only=True)

    @property
    def is_for_all(self) -> bool:
        return self.seen_by is _everybody

    @property
    def is_number(self) -> bool:
        return self.kind in (Kind.COUNT, Kind.NUMBER)

    def in_database(self, way: str | bool) -> str:
        """Return the database column that `order` or `search` (given as `way`) names; "" if it names no column."""
        own = self.value if isinstance(self.value, str) and self.value else self.name
        return own.replace(".", "__") if way is True else str(way or "")

    def of(self, row: Any) -> Any:
        """Return the column's value in a row; None if an attribute on the path is None or does not exist."""
        if callable(self.value):
            return self.value(row)
        for name in (self.value or self.name).split("."):
            row = getattr(row, name, None)
        return row


@dataclass(frozen=True, slots=True)
class Filter(_Part):
    """One filter.

    - `where`: Django's lookup for the value (default: the name), or a function of the viewer and the value
    - `title`: the label of the select field on the page; a filter without a title has no field
    - `options`: returns the options of the select field for a viewer (default: `choices`)
    - `default`: the value if nothing is chosen
    """

    name: str
    where: str | Callable[[Viewer, Any], Q] = ""
    options: Callable[[Viewer], Sequence[tuple[str, str]]] | None = field(default=None, kw_only=True)
    title: str = field(default="", kw_only=True)
    default: str = field(default="", kw_only=True)

    def read(self, text: str) -> Any:
        """Read a value of the filter from text. Raises Invalid for a value that the filter does not have."""
        known: Sequence[str] = [value for value, _ in self.choices.words] if self.choices else ()
        if self.kind == Kind.FLAG:
            known = ("true", "false")
        if known and text not in known:
            raise Invalid(f"{self.name} is one of {', '.join(known)}, not {text!r}.", field=self.name)
        if self.kind == Kind.FLAG:
            return text == "true"
        if self.kind == Kind.COUNT:
            return whole_number(text, self.name, most=LARGEST_NUMBER)
        return text

    def condition(self, viewer: Viewer, value: Any) -> Q:
        """Build the condition for the rows that the filter keeps."""
        if callable(self.where):
            return self.where(viewer, value)
        return Q(**{self.where or self.name: value})


@dataclass(frozen=True, slots=True)
class Order:
    """An order that belongs to no column. `by` has the database columns to sort by, which are unique together.

    A list in this order contains only `rows`, which must have no null in these columns.
    """

    name: str
    title: str
    by: tuple[str, ...]
    rows: Q = field(default_factory=Q)


@dataclass(frozen=True, slots=True, kw_only=True)
class List:
    """The declaration of a list.

    - `name`: its plural noun
    - `verbs`: people with one of these verbs may see it
    - `rows`: returns the rows that a viewer may see
    - `order`: the database columns to sort by, if nothing else is chosen; they are unique together
    - `orders`: named orders; the page shows the first as its default, so its columns must then equal `order`
    - `key`: the path of a row's public id, by which the next page is requested
    - `prepare`: is called with the rows of a page before they are shown
    - `polls`: returns the seconds after which a page loads the list again; 0 means never
    - `below`: the template of a second line of each row
    - `above`: the template of a head for each group of rows, if the first of `orders` is in use
    - `within`: the id of the part of the page that is replaced
    - `title`, `empty`: the heading, and the text for a list without rows
    """

    name: str
    verbs: tuple[Verb, ...]
    rows: Callable[[Viewer], QuerySet[Any]]
    columns: tuple[Column, ...]
    order: tuple[str, ...]
    orders: tuple[Order, ...] = ()
    filters: tuple[Filter, ...] = ()
    key: str = "public_id"
    prepare: Callable[[Viewer, Sequence[Any]], object] = lambda viewer, rows: None
    polls: Callable[[Sequence[Any]], int] = lambda rows: 0
    below: str = ""
    above: str = ""
    within: str = ""
    title: str = ""
    empty: str = ""

    @property
    def slug(self) -> str:
        return self.name.replace(" ", "-")

    @property
    def is_searched(self) -> bool:
        return any(column.search for column in self.columns)

    def look(self, viewer: Viewer, given: Mapping[str, str], *, is_strict: bool = False) -> Listing:
        """Read a request for the list. With `is_strict`, unknown parameters are refused.

        Raises Invalid for an unusable parameter, and NotAllowed for columns and filters that the viewer may not see.
        """
        names = {"q", "sort", "after", "limit", *(each.name for each in self.filters)}
        if is_strict and (unknown := sorted(set(given) - names)):
            message = f"There is no parameter {unknown[0]!r}. Known are: {', '.join(sorted(names))}."
            raise Invalid(message, field=unknown[0])
        if broken := [name for name in names if "\x00" in given.get(name, "")]:
            raise Invalid(f"{broken[0]} holds a character that no text has.", field=broken[0])
        limit = whole_number(given.get("limit") or str(ROWS_ON_A_PAGE), "limit", least=1, most=LARGEST_PAGE)
        wanted = {each.name: given.get(each.name) or each.default for each in self.filters}
        look = Listing(
            of=self,
            viewer=viewer,
            q=searched_for(given.get("q", "")),
            sort=given.get("sort", ""),
            after=given.get("after", ""),
            limit=limit,
            chosen={name: value for name, value in wanted.items() if value},
        )
        _ = look.order, look.condition
        return look


@dataclass(frozen=True, slots=True)
class Head:
    """A column head. `query` is the query string of a click, or "" if the column cannot be sorted; `aria_sort` is the
    current order.
    """

    column: Column
    query: str
    aria_sort: str


@dataclass(frozen=True)
class Listing:
    """A viewer's request for a list: search, chosen filters and order."""

    of: List
    viewer: Viewer
    q: str
    sort: str
    after: str
    limit: int
    chosen: Mapping[str, str]

    @cached_property
    def columns(self) -> list[Column]:
        return [column for column in self.of.columns if column.seen_by(self.viewer)]

    @cached_property
    def order(self) -> tuple[str, ...]:
        """Return the database columns of the requested order.

        Raises Invalid for an unknown order, and NotAllowed for a column that the viewer may not see.
        """
        if not self.sort:
            return self.of.order
        named = {each.name: each.by for each in self.of.orders}
        if self.sort in named:
            return named[self.sort]
        sign, name = "-" if self.sort.startswith("-") else "", self.sort.removeprefix("-")
        column = next((one for one in self.of.columns if one.name == name and one.order), None)
        if column is None:
            known = ", ".join([*named, *(one.name for one in self.columns if one.order)]) or "nothing"
            raise Invalid(f"This list is sorted by {known}, not by {name!r}.", field="sort")
        _need(column, self.viewer)
        database = (sign and column.order_down) or column.in_database(column.order)
        return tuple(dict.fromkeys((f"{sign}{database}", f"{sign}pk")))

    @cached_property
    def condition(self) -> Q:
        """Combine search and filters into a condition.

        Raises Invalid for an unusable value, and NotAllowed for a filter that the viewer may not see.
        """
        found = self.sorted_by.rows if self.sorted_by else Q()
        for each in self.of.filters:
            if each.name in self.chosen:
                _need(each, self.viewer)
                found &= each.condition(self.viewer, each.read(self.chosen[each.name]))
        searched = [column.in_database(column.search) for column in self.columns if column.search]
        if self.q and not searched:
            raise Invalid("This list has no search.", field="q")
        return found & holds(self.q, *searched)

    @cached_property
    def found(self) -> QuerySet[Any]:
        """Return all rows that match, sorted."""
        return self.of.rows(self.viewer).filter(self.condition).order_by(*self.order)

    def beyond(self, row: Any) -> Iterator[QuerySet[Any]]:
        """Yield the rows after a given row, in consecutive parts (see `parts_after`).

        The given row need not be in the list.
        """
        names = (name.removeprefix("-").split("__") for name in self.order)
        return parts_after(self.found, self.order, [reduce(getattr, name, row) for name in names])

    def page(self) -> tuple[list[Any], str]:
        """Load the rows of a page, and the id after which the next page starts; "" at the end.

        Raises NoSuchPage if the row `after` does not exist.
        """
        shown, following = page_after(
            self.found,
            order=self.order,
            after=self.after,
            size=self.limit,
            scope=self.of.rows(self.viewer),
            id_path=self.of.key,
        )
        self.of.prepare(self.viewer, shown)
        return shown, following

    def as_csv(self) -> Iterator[str]:
        """Yield all rows as CSV, several lines at a time."""
        yield _lines([[column.name for column in self.columns]])
        for some in batches(self.found.iterator(chunk_size=ROWS_AT_ONCE), ROWS_AT_ONCE):
            self.of.prepare(self.viewer, some)
            yield _lines([[cell(column.of(row)) for column in self.columns] for row in some])

    @property
    def heads(self) -> list[Head]:
        return [self._head(column) for column in self.columns if column.head]

    @property
    def selects(self) -> list[tuple[Filter, Sequence[tuple[str, str]], str]]:
        """Return the filters that the page shows, each with its options and the chosen value."""
        shown = [each for each in self.of.filters if each.title and each.seen_by(self.viewer)]
        return [(each, self._options(each), self.chosen.get(each.name, "")) for each in shown]

    @property
    def narrows_more(self) -> bool:
        """Return True if a filter after the first two, which the page folds away, is in use."""
        return any(each.name in self._chosen for each, _, _ in self.selects[2:])

    def _options(self, one: Filter) -> Sequence[tuple[str, str]]:
        if one.options is not None:
            return one.options(self.viewer)
        return one.choices.words if one.choices else ()

    @property
    def kept(self) -> dict[str, str]:
        """Return the parameters that a new search keeps: filters and an order without a field on the page."""
        titles = {each.name: each.title for each in self.of.filters}
        kept = {name: value for name, value in self._chosen.items() if not titles[name]}
        return kept if self.of.orders or not self.sort else {**kept, "sort": self.sort}

    @property
    def sorted_by(self) -> Order | None:
        """Return the named order in use; None if no named order is in use."""
        return next((each for each in self.of.orders if each.by == self.order), None)

    @property
    def is_grouped(self) -> bool:
        return bool(self.of.above) and self.sorted_by in self.of.orders[:1]

    @property
    def is_narrowed(self) -> bool:
        return bool(self.q or self._chosen)

    @property
    def hides_some(self) -> bool:
        """Return True if a filter on the page has a default."""
        return any(each.default for each in self.of.filters if each.title)

    @property
    def _chosen(self) -> dict[str, str]:
        plain = {each.name: each.default for each in self.of.filters}
        return {name: value for name, value in self.chosen.items() if value != plain[name]}

    def query(self, **changed: str) -> str:
        """Return the query string of this request with the parameters in `changed`; "" if it is empty."""
        limit = "" if self.limit == ROWS_ON_A_PAGE else str(self.limit)
        parameters = {**self._chosen, "q": self.q, "sort": self.sort, "limit": limit, **changed}
        kept = {name: value for name, value in parameters.items() if value}
        return f"?{urlencode(kept)}" if kept else ""

    @property
    def as_file(self) -> str:
        return self.query(file="csv")

    def _head(self, column: Column) -> Head:
        if not column.order:
            return Head(column, "", "")
        first = {f"{sign}{column.in_database(column.order)}": f"{sign}{column.name}" for sign in ("", "-")}
        now = self.sort or first.get(self.of.order[0], "")
        turned = f"-{column.name}" if now == column.name else column.name
        aria_sort = {column.name: "ascending", f"-{column.name}": "descending"}.get(now, "")
        return Head(column, self.query(sort=turned), aria_sort)


def whole_number(text: str, name: str, *, least: int = 0, most: int) -> int:
    """Read a whole number between `least` and `most`. Raises Invalid (field `name`) for other texts."""
    if not (text.isascii() and text.isdigit() and len(text) <= 12 and least <= int(text) <= most):
        raise Invalid(f"{name} is a whole number from {least} to {most:,}, not {text!r}.", field=name)
    return int(text)


def _need(part: Column | Filter, viewer: Viewer) -> None:
    if not part.seen_by(viewer):
        raise NotAllowed(f"{part.name} is hidden from you here, so this list cannot go by it.")


def _lines(rows: Iterable[Sequence[Any]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def searched_for(given: str) -> str:
    """Remove NUL and outer white space from the text of a search field, and cut it to LONGEST_SEARCH characters."""
    return given.replace("\x00", "").strip()[:LONGEST_SEARCH]


def holds(wanted: str, *columns: str) -> Q:
    """Build the condition that one of the columns contains the text, ignoring case. "" gives no condition."""
    if not wanted:
        return Q()
    # SQLite's LIKE ignores case only for A to Z. For other texts use a regular expression, which runs in Python and
    # ignores the case of all letters.
    is_folded = connection.vendor != "sqlite" or wanted.isascii()
    lookup, words = ("icontains", wanted) if is_folded else ("iregex", re.escape(wanted))
    return reduce(or_, (Q(**{f"{column}__{lookup}": words}) for column in columns))
