"""That what waits is on somebody else's screen, in words."""

from __future__ import annotations

from datetime import datetime

from django.utils.formats import date_format
from django.utils.timezone import localdate, localtime

from annotation.queries.check_draws import Held


def held_in_words(held: Held | None) -> str:
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
