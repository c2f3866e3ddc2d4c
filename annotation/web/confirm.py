"""A confirmation page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.shortcuts import render

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from django.http import HttpResponse

    from annotation.web.htmx import Request
    from annotation.web.rooms import Room


def is_confirmed(request: Request) -> bool:
    """Return True if the form was sent from the confirmation page."""
    return request.POST.get("confirmed") == "1"


def ask_to_confirm(
    request: Request,
    room: Room,
    *,
    title: str,
    says: Sequence[str],
    act: str,
    back: str,
    fields: Mapping[str, object],
) -> HttpResponse:
    """Show the confirmation page.

    Its button `act` sends the form again with the values in `fields`. `back` is the address of the link that leaves the
    page without acting.
    """
    sent = {**request.POST.dict(), **fields, "confirmed": 1}
    sent.pop("csrfmiddlewaretoken", None)
    context = {"room": room, "title": title, "says": says, "act": act, "back": back, "sent": sent}
    return render(request, "confirm.html", context)
