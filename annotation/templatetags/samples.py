from __future__ import annotations

from django import template

from annotation.models import Sample

register = template.Library()


@register.filter
def method_label(method: str) -> str:
    """Return the displayed name of a sampling method."""
    return str(Sample.Method(method).label)
