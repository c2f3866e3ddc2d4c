"""What the lists of random samples say of them."""

from __future__ import annotations

from django import template

from annotation.models import Sample

register = template.Library()


@register.filter
def method_label(method: str) -> str:
    """How checks were sampled."""
    return str(Sample.Method(method).label)
