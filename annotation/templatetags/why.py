"""Scores as links."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import template
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from annotation.core.permissions import Verb
from annotation.templatetags.numbers import NOTHING, mean, percent

if TYPE_CHECKING:
    from annotation.analysis.leaderboard.leaderboard import Average, SystemRow
    from annotation.models import Score

register = template.Library()

NEEDS_TARGET = ("brevity", "composite_2_3", "composite_custom")


@register.simple_tag(takes_context=True)
def why(context: dict[str, Any], row: Score, column: str) -> SafeString:
    """Render a summary's score, linked to its explanation. A missing score is a dash, which may be linked to the
    settings.
    """
    value: float | None = getattr(row, column)
    if value is None:
        return _blank(context, column, row.summary.target_words)
    page = reverse("summary", args=[context["room"].project.slug, row.summary.public_id])
    return format_html('<a class="why" href="{}#{}">{}</a>', page, column, percent(value))


@register.simple_tag(takes_context=True)
def why_mean(context: dict[str, Any], row: SystemRow, column: str, n: int = 0) -> SafeString:
    """Render a system's mean, linked to the system's page."""
    average = row.scores[column]
    if average.mean is None:
        return _blank(context, column, context["table"].target_words)
    page = reverse("system", args=[context["room"].project.slug, row.system_id])
    return format_html('<a class="why" href="{}?by={}">{}</a>', page, column, mean(average, n))


@register.simple_tag
def value(row: SystemRow, column: str) -> Average:
    return row.scores[column]


def _blank(context: dict[str, Any], column: str, target: int | None) -> SafeString:
    room = context["room"]
    if column not in NEEDS_TARGET or target or room.project.target_length:
        return format_html('<span class="muted">{}</span>', NOTHING)
    if Verb.CHANGE_PROJECT not in room.verbs:
        return format_html('<abbr title="No target length">{}</abbr>', NOTHING)
    page = reverse("project-settings", args=[room.project.slug])
    return format_html(
        '<a class="why" href="{}#id_target_length" title="{}" aria-label="{}">{}</a>',
        page,
        "No target length",
        "No target length: set a default",
        NOTHING,
    )
