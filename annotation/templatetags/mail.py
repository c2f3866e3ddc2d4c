from __future__ import annotations

from django import template
from django.conf import settings

register = template.Library()


@register.simple_tag
def has_mail() -> bool:
    """Return True if the installation sends mail."""
    return bool(settings.EMAIL_URL)
