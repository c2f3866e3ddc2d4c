"""Template tags for the group letters of a ranking."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

if TYPE_CHECKING:
    from annotation.analysis.leaderboard.ranking import Place

register = template.Library()


@register.simple_tag
def alike(places: Mapping[str, Place], system: str) -> SafeString:
    """Render the system's letters, each in its group's column; a dash for a system without a place."""
    place = places.get(system)
    if place is None:
        return format_html('<span class="muted">{}</span>', "–")
    letters = iter(_letters(place.letters))
    # Every group has a column, with or without this system, so that equal letters are aligned.
    cells = [(next(letters),) if is_in else ("",) for is_in in place.group_marks]
    return format_html('<span class="groups">{}</span>', format_html_join("", "<i>{}</i>", cells))


@register.simple_tag
def alike_heads(places: Mapping[str, Place]) -> SafeString:
    """Render the letters of all groups, each above its group's column."""
    named: dict[int, str] = {}
    for place in places.values():
        groups = (number for number, is_in in enumerate(place.group_marks) if is_in)
        named |= dict(zip(groups, _letters(place.letters), strict=True))
    letters = ((named[number],) for number in sorted(named))
    return format_html('<span class="groups">{}</span>', format_html_join("", "<i>{}</i>", letters))


def _letters(letters: str) -> list[str]:
    """Split a text into letters with their numbers: "ab" and "a1b1" have two each."""
    found: list[str] = []
    for character in letters:
        if character.isdigit() and found:
            found[-1] += character
        else:
            found.append(character)
    return found
