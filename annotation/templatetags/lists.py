"""The cells of a list."""

from __future__ import annotations

from typing import Any

from django import template
from django.template.context import Context
from django.template.loader import get_template
from django.urls import reverse
from django.utils.formats import date_format
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import Truncator

from annotation.core.lists import Column, Kind
from annotation.templatetags.numbers import NOTHING, in_words, short

register = template.Library()

LONGEST_SHOWN = 400


@register.simple_tag(takes_context=True)
def cell(context: Context, column: Column, row: Any) -> str | SafeString:
    """Render the cell of a row, by the column's own template or by the kind of the column."""
    value = column.of(row)
    if column.cell:
        own: Any = get_template(column.cell)
        with context.push(row=row, value=value):
            return str(own.template.render(context))
    words = _words(column, value)
    if column.link:
        address = reverse(column.link, args=[context["room"].project.slug, row.public_id])
        return format_html('<a href="{}" dir="auto">{}</a>', address, words)
    return words


def _words(column: Column, value: Any) -> str | SafeString:
    if value is None or value in ("", []):
        return column.missing or format_html('<span class="muted">{}</span>', NOTHING)
    words = dict(column.choices.words) if column.choices else {}
    match column.kind:
        case Kind.TEXTS:
            return ", ".join(words.get(each, in_words(each)) for each in value)
        case Kind.MOMENT:
            text = date_format(value, "j M Y, H:i")
            return format_html('<time datetime="{0}" title="{0}">{1}</time>', value.isoformat(), text)
        case Kind.NUMBER:
            return short(value)
        case Kind.COUNT:
            return f"{value:,}"
        case Kind.FLAG:
            return "yes" if value else "no"
    if value in words:
        return words[value]
    return format_html('<span dir="auto">{}</span>', Truncator(str(value)).chars(LONGEST_SHOWN))
