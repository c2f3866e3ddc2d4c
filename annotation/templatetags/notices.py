"""The count of unread notices in the header."""

from __future__ import annotations

from typing import Any

from django import template

from annotation.projects.queries.notices import COUNTED_UP_TO, unread_count

register = template.Library()


@register.simple_tag
def unread_notices(user: Any) -> str:
    """How many notices the person has not read: "" for none, "99+" for more than can be counted at a glance."""
    if not user.is_authenticated:
        return ""
    count = unread_count(user)
    if not count:
        return ""
    return str(count) if count <= COUNTED_UP_TO else f"{COUNTED_UP_TO}+"
