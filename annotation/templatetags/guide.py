"""The steps to a first judged run, for the pages on which they are taken."""

from __future__ import annotations

from typing import NamedTuple

from django import template

from annotation.projects.queries.guide import GuideStep, guide_steps
from annotation.web.rooms import Room

register = template.Library()


class Guide(NamedTuple):
    """The steps, and the next one from the current page; no steps for people who cannot take them."""

    steps: list[GuideStep]
    following: GuideStep | None


@register.simple_tag
def guide(room: Room, here: str = "") -> Guide:
    """`{% guide room "judges" as way %}`: `way.following` is the next step, None if the current page's step is
    open.
    """
    steps = guide_steps(room.project, room.verbs)
    open_ones = [step for step in steps if not step.is_done]
    is_here_open = any(step.url_name == here for step in open_ones)
    return Guide(steps, open_ones[0] if open_ones and not is_here_open else None)
