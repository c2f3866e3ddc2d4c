"""The steps to a first judged run."""

from __future__ import annotations

from typing import NamedTuple

from django import template

from annotation.projects.queries.guide import GuideStep, guide_steps
from annotation.web.rooms import Room

register = template.Library()


class Guide(NamedTuple):
    """The steps, and the first open step, which is None if no step or the step of the current page is open.

    `guide_steps` says when there are none.
    """

    steps: list[GuideStep]
    following: GuideStep | None


@register.simple_tag
def guide(room: Room, here: str = "") -> Guide:
    """Build the guide for `{% guide room "judges" as way %}`.

    `way.following` is the first open step; None if no step or the step of the current page is open.
    """
    steps = guide_steps(room.project, room.verbs)
    open_ones = [step for step in steps if not step.is_done]
    is_here_open = any(step.url_name == here for step in open_ones)
    return Guide(steps, open_ones[0] if open_ones and not is_here_open else None)
