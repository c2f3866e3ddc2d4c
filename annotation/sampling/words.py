"""How work was chosen at random, and that what waits is on somebody else's screen, in words."""

from __future__ import annotations

from datetime import datetime

from django.utils.formats import date_format
from django.utils.timezone import localdate, localtime

from annotation.models import Draw, Event
from annotation.sampling.queries.check_samples import HeldChecks

_METHOD_WORDS: dict[str, str] = {
    Draw.Method.UNIFORM: "by lot",
    Draw.Method.STRATIFIED: "by lot within each system and length",
    Draw.Method.ACTIVE: "the doubtful more often",
}
_PLANNED_STRATA = "by lot within each system, length and doubt of the judge"
"""What a stratified draw of the plan is: its strata are finer than those of others."""


def held_in_words(held: HeldChecks | None) -> str:
    """How many are on somebody else's screen, since when, and when they are free again; empty for none."""
    if held is None:
        return ""
    what = "1 claim is" if held.count == 1 else f"{held.count:,} claims are"
    since = f", opened {_moment(held.since)}" if held.since else ""
    free = "It is" if held.count == 1 else "The first is"
    return f"{what} with somebody else{since}. {free} free again at {_moment(held.until)}, unless they go on."


def _moment(moment: datetime) -> str:
    here = localtime(moment)
    return date_format(here, "H:i" if here.date() == localdate() else "j M, H:i")


def method_in_words(method: str, event: Event | None) -> str:
    """How checks were drawn; `event` is the log's line about the draw, which knows whether the plan made it."""
    if method == Draw.Method.STRATIFIED and event is not None and "planned" in event.data:
        return _PLANNED_STRATA
    return _METHOD_WORDS[method]


def items_in_words(item: str) -> str:
    """What is drawn for assessors."""
    return "document sets" if item == Draw.Item.DOCUMENT_SET else "summaries"


def chances_in_words(least: float | None, most: float | None) -> str:
    """The chance of what was drawn, or the least and the greatest; empty where nothing was.

    Told to four digits: what is exact is in the API and in the judgments' export.
    """
    if least is None or most is None:
        return ""
    return f"{least:.4g}" if f"{least:.4g}" == f"{most:.4g}" else f"{least:.4g} to {most:.4g}"
