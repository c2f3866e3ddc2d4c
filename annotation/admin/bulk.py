"""Acts on several rows of a list: chosen, shown once more, and then carried out one by one by a service."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.contrib import messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.template.response import TemplateResponse

from annotation.admin.reach import person_of
from annotation.core.refusals import Refusal

if TYPE_CHECKING:
    from django.contrib.admin import ModelAdmin
    from django.contrib.auth.models import User
    from django.db.models import QuerySet
    from django.http import HttpRequest, HttpResponse

MOST_ROWS_AT_ONCE = 200
"""Every row is a transaction of its own, with its event, and somebody waits for all of them."""
MOST_TOLD = 20
LEFT_TO_OTHERS = "you have judged it yourself, so another adjudicator must resolve it"


@dataclass(frozen=True, slots=True)
class BulkStep:
    """What would be done to a row, in words; `held` is what the row was seen to hold, for the moment of the act.

    Without `is_possible` the words say why not.
    """

    words: str
    held: str = ""
    is_possible: bool = True


@dataclass(frozen=True, slots=True)
class Bulk:
    """An act on rows: `plan` says what it would do to one, `act` does it or raises a Refusal.

    `act` is given the row, who asks, what `plan` held, and the reason that was typed where `asks_reason`.
    """

    name: str
    title: str
    done: str
    plan: Callable[[Any, User], BulkStep]
    act: Callable[[Any, User, str, str], object]
    asks_reason: bool = False


def confirm_or_do(
    bulk: Bulk, request: HttpRequest, rows: QuerySet[Any], admin: ModelAdmin[Any]
) -> HttpResponse | None:
    """Show what would be done, or do it where that was confirmed; None leads back to the list."""
    chosen = list(rows[: MOST_ROWS_AT_ONCE + 1])
    if len(chosen) > MOST_ROWS_AT_ONCE:
        admin.message_user(
            request,
            f"At most {MOST_ROWS_AT_ONCE} rows can be changed at a time. Choose fewer.",
            messages.ERROR,
        )
        return None
    if "confirmed" in request.POST:
        _do(bulk, request, chosen, admin)
        return None
    steps = [(row, bulk.plan(row, person_of(request))) for row in chosen]
    context = {
        **admin.admin_site.each_context(request),
        "title": bulk.title,
        "opts": admin.opts,
        "bulk": bulk,
        "steps": [(row, step) for row, step in steps if step.is_possible],
        "left_out": [(row, step) for row, step in steps if not step.is_possible],
        "checkbox": ACTION_CHECKBOX_NAME,
        "reason": request.POST.get("reason", ""),
    }
    return TemplateResponse(request, "admin/annotation/confirm.html", context)


def _do(bulk: Bulk, request: HttpRequest, rows: list[Any], admin: ModelAdmin[Any]) -> None:
    done, refused = 0, []
    for row in rows:
        held = request.POST.get(f"held-{row.pk}", "")
        try:
            bulk.act(row, person_of(request), held, request.POST.get("reason", ""))
        except Refusal as refusal:
            refused.append(f"{row}: {refusal.message}")
        else:
            done += 1
    if done:
        admin.message_user(request, f"{done} {bulk.done}.", messages.SUCCESS)
    for told in refused[:MOST_TOLD]:
        admin.message_user(request, told, messages.ERROR)
    if len(refused) > MOST_TOLD:
        admin.message_user(
            request, f"Refused for {len(refused) - MOST_TOLD} more for similar reasons.", messages.ERROR
        )
