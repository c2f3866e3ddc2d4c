"""Show code in messages, and commands in the form in which an operator types them."""

from __future__ import annotations

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from annotation import operator_commands

register = template.Library()
register.simple_tag(operator_commands.as_typed)


@register.filter
def in_code(message: str) -> str | SafeString:
    """Mark text between backticks as code. A message with an unpaired backtick stays unchanged."""
    parts = str(message).split("`")
    if len(parts) % 2 == 0:
        return message
    shown = (format_html("<code>{}</code>", part) if place % 2 else part for place, part in enumerate(parts))
    return format_html_join("", "{}", ((part,) for part in shown))
