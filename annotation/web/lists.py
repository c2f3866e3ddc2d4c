"""Showing a list of `core.lists` as a page, a fragment or a CSV file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from annotation.core.lists import List, Listing, Viewer
from annotation.core.tables.answer import streamed_file
from annotation.web.htmx import Request, page_or_fragment

if TYPE_CHECKING:
    from django.http.response import HttpResponseBase

    from annotation.web.rooms import Room


def listed(
    request: Request, room: Room, what: List, *, address: str = "", is_beside: bool = False
) -> dict[str, Any]:
    """Build the context of `_list.html`. `address` is the list's own address, if it differs from the request's.

    With `is_beside`, the list is not the main content of the page: it shows its first rows and ignores the query.
    """
    look = look_of(request, room, what, {} if is_beside else request.GET.dict())
    rows, following = look.page()
    return {
        "look": look,
        "rows": rows,
        "more": look.query(after=following) if following and not is_beside else "",
        "address": address or request.path,
        "polls": what.polls(rows),
        "is_beside": is_beside,
        "room": room,
    }


def look_of(request: Request, room: Room, what: List, given: Mapping[str, str]) -> Listing:
    """Build the listing that the parameters ask for. Raises the errors of `List.look`."""
    return what.look(Viewer(request.user, room.project, room.verbs), given)


def list_page(
    request: Request,
    room: Room,
    what: List,
    *,
    page: str,
    fragment: str = "_list.html",
    context: Mapping[str, object] | Callable[[Listing], Mapping[str, object]] | None = None,
) -> HttpResponseBase:
    """Respond with the page that includes `_list.html`, or for htmx with its fragment.

    With `file=csv`, the response is a file with all rows. `context` may be a function of the listing.
    """
    if request.GET.get("file") == "csv":
        name = f"{room.project.slug}-{what.name}.csv"
        look = look_of(request, room, what, request.GET.dict())
        return streamed_file(look.as_csv(), content_type="text/csv; charset=utf-8", name=name)
    shown = listed(request, room, what)
    shown |= context(shown["look"]) if callable(context) else context or {}
    return page_or_fragment(request, page=page, fragment=fragment, context=shown)
