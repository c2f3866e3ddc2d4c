"""A page between a form and its act, where somebody should first see what the act will ask of people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.shortcuts import render

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from django.http import HttpResponse

    from annotation.web.htmx import Request
    from annotation.web.rooms import Room


def is_confirmed(request: Request) -> bool:
    """Whether the form was sent from that page."""
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
    """The page: what was sent goes with the button `act` to the same address, with `fields` in place of its own.

    `back` is the address that leads back without the act.
    """
    sent = {**request.POST.dict(), **fields, "confirmed": 1}
    sent.pop("csrfmiddlewaretoken", None)
    context = {"room": room, "title": title, "says": says, "act": act, "back": back, "sent": sent}
    return render(request, "confirm.html", context)
