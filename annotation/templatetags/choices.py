"""Options of selects, and the possible answers to a check."""

from __future__ import annotations

from functools import lru_cache

from django import template
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from annotation.models import Label

register = template.Library()


@register.simple_tag
def answers() -> tuple[tuple[str, str, str], ...]:
    """Return the possible answers to a check, as label, word and key."""
    return tuple((value, word, str(key)) for key, (value, word) in enumerate(Label.choices, start=1))


_SELECTED = SafeString(" selected")

REMEMBERED = 64
"""The number of cached option lists."""


@register.simple_tag
@lru_cache(REMEMBERED)
def options(choices: tuple[tuple[str, str], ...], chosen: str) -> SafeString:
    """Render the options of a select field. The option with the value `chosen` is selected."""
    return format_html_join(
        "",
        '<option value="{}"{}>{}</option>',
        ((value, _SELECTED if value == chosen else "", words) for value, words in choices),
    )
