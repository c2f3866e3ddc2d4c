"""Long explanations as two sentences and a fold with the rest."""

from __future__ import annotations

import re

from django import template

register = template.Library()

SENTENCES_AT_ONCE = 2
_END = re.compile(r"(?<=[a-z0-9)%][.?]) (?=[A-Z0-9“])")


@register.filter
def opening(text: str) -> str:
    """The first two sentences, which stand on the page."""
    return " ".join(_END.split(text)[:SENTENCES_AT_ONCE])


@register.filter
def remainder(text: str) -> list[str]:
    """The further ones, two to a paragraph, for the fold."""
    further = _END.split(text)[SENTENCES_AT_ONCE:]
    return [
        " ".join(further[start : start + SENTENCES_AT_ONCE])
        for start in range(0, len(further), SENTENCES_AT_ONCE)
    ]
