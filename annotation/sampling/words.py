"""How work was chosen at random, and that what waits is on somebody else's screen, in words."""

from __future__ import annotations

from datetime import datetime

from django.utils.formats import date_format
from django.utils.timezone import localdate, localtime

from annotation.sampling.queries.check_samples import HeldChecks

SAMPLE_TERMS = (
    "Reviewers get these claims first. Estimates use it once every claim is answered. You can "
    "cancel the sample until then; it stays in the log, and no estimate uses it."
)
UNKNOWN_SECONDS = 30.0
"""What an answer is taken to cost where nobody's time is known."""


def held_in_words(held: HeldChecks | None) -> str:
    """How many are on somebody else's screen, since when, and when they are free again; empty for none."""
    if held is None:
        return ""
    what = "1 claim is" if held.count == 1 else f"{held.count:,} claims are"
    since = f", opened {_moment(held.since)}" if held.since else ""
    free = "It is" if held.count == 1 else "The first is"
    return f"{what} open by someone else{since}. {free} released at {_moment(held.until)} if inactive."


def work_in_words(checks: int, seconds: float | None, timed: int) -> str:
    """How long so many answers take people, and how that is known: `seconds` each, the median of `timed` answers."""
    each = UNKNOWN_SECONDS if seconds is None else seconds
    how = (
        f"assuming {each:.0f} s each, because no answers have been timed yet"
        if seconds is None
        else f"at {each:.0f} s each, the median of the {timed:,} newest timed answers"
        if timed > 1
        else f"at {each:.0f} s each, as the 1 timed answer took"
    )
    what = "1 answer" if checks == 1 else f"{checks:,} answers"
    return f"{what}: {_duration(checks, each)} of work, {how}."


def _duration(checks: int, each: float) -> str:
    hours, minutes = divmod(max(1, round(checks * each / 60)), 60)
    said = " ".join(
        f"{count:,} {noun if count == 1 else noun + 's'}"
        for count, noun in ((hours, "hour"), (minutes, "minute"))
        if count
    )
    return f"about {said}"


def _moment(moment: datetime) -> str:
    here = localtime(moment)
    return date_format(here, "H:i" if here.date() == localdate() else "j M, H:i")
