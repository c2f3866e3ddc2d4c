"""Format numbers, labels and log values for pages."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from annotation.analysis.intervals import why_no_interval
from annotation.models import Label
from annotation.models.base import ID_LENGTH
from annotation.models.claim import SIGNS
from evaluation.statistics import FEWEST_FOR_INTERVAL

if TYPE_CHECKING:
    from annotation.analysis.leaderboard.leaderboard import Average
    from annotation.assessing.queries.assessment import JudgedUnit
    from annotation.models import Project

register = template.Library()

NOTHING = "–"
_PUBLIC_ID = re.compile(rf"(?=.*\d)[a-z2-7]{{{ID_LENGTH}}}")


@register.filter
def target_length(own: int | None, project: Project) -> str:
    """Describe a target length: "100 words", "default 100 words" if it is the project's, or "no target"."""
    if own:
        return f"{own} {project.length_unit}"
    return f"default {project.target_length} {project.length_unit}" if project.target_length else "no target"


@register.filter
def score(value: float | None) -> str:
    """Format a score with three decimals; a missing score is a dash."""
    return NOTHING if value is None else f"{value:.3f}"


@register.filter
def short(value: float | None) -> str:
    """Format a score with two decimals; a missing score is a dash."""
    # Adding 0 removes the sign of a number that is rounded to -0.
    return NOTHING if value is None else f"{round(value, 2) + 0.0:.2f}".replace("-", "−")


@register.filter
def points(value: float | None) -> str:
    """Format a difference of shares in percentage points with its sign, "+3.2"; a missing difference is a dash."""
    return NOTHING if value is None else f"{round(100 * value, 1) + 0.0:+.1f}".replace("-", "−")


@register.simple_tag
def between(low: float, high: float, unit: str = "%") -> str:
    """Format the bounds of a share, or of a difference of shares: "46–85 %", "−2 to 14 points".

    If `high` rounds to more than 100 %, both bounds have two decimals.
    """
    dash = "–" if unit == "%" else " to "
    if unit == "%" and round(100 * high) > 100:
        return f"{short(low)}{dash}{short(high)}"
    return f"{round(100 * low)}{dash}{round(100 * high)} {unit}".replace("-", "−")


@register.filter
def more_often(value: float | None) -> str:
    """Write a difference of two shares in words: "6 points more often", "1 point less often" or "as often"."""
    if value is None:
        return NOTHING
    gap = round(100 * abs(value))
    often = f"{gap} point{'' if gap == 1 else 's'} {'more' if value > 0 else 'less'} often"
    return often if gap else "as often"


@register.filter
def thousands(count: int) -> str:
    """Format a whole number with commas between thousands: "10,000"."""
    return f"{count:,}"


@register.simple_tag
def why_no_bounds(clusters: int) -> str:
    """Write why there is no interval, such as "no interval: 3 document sets, 5 needed"."""
    return why_no_interval(clusters)


@register.simple_tag
def no_bounds(clusters: int) -> SafeString:
    """Render a short reason for a missing interval, with a longer reason in the tooltip."""
    why = (
        f"only {clusters} set{'' if clusters == 1 else 's'}"
        if clusters < FEWEST_FOR_INTERVAL
        else "all equal"
    )
    return format_html('<abbr class="muted" title="{}">{}</abbr>', why_no_interval(clusters), why)


@register.simple_tag
def fewest_sets() -> int:
    """Return the smallest number of clusters for which intervals are shown."""
    return FEWEST_FOR_INTERVAL


@register.filter
def p_value(value: float | None) -> str:
    """Format a p-value with three decimals, never as 0; a missing p-value is a dash."""
    return "< 0.001" if value is not None and value < 0.001 else score(value)


def mean(average: Average, n: int) -> SafeString:
    """Format a mean in percent; a missing mean is a dash.

    The number of its document sets is shown if it differs from `n`.
    """
    if average.mean is None or average.n == n:
        return format_html("{}", percent(average.mean))
    return format_html(
        '{} <span class="muted">{} {}</span>',
        percent(average.mean),
        average.n,
        "set" if average.n == 1 else "sets",
    )


@register.filter
def percent(value: float | None) -> str:
    """Format a share in whole percent; a missing share is a dash.

    A share between 0 and 1 is never shown as 0 % or 100 %. A number that rounds to more than 100 % has two decimals.
    """
    if value is None:
        return NOTHING
    rounded = round(value * 100)
    if rounded in (0, 100) and 0 < value < 1:
        return "< 1 %" if rounded == 0 else "> 99 %"
    return f"{rounded} %" if rounded <= 100 else short(value)


@register.filter
def sign(label: str | None) -> str:
    """Return the sign of a label; "·" for None."""
    return SIGNS[Label(label)] if label in Label.values else "·"


@register.filter
def marked_by(units: list[JudgedUnit], number: int) -> list[int]:
    """Return the numbers of the reference units for which this summary unit is marked."""
    return [unit.number for unit in units if number in unit.marks]


@register.simple_tag
def label(value: str | None) -> SafeString:
    """Render a label with its sign. None is "unscored"."""
    word = value or "unscored"
    return format_html(
        '<span class="label {}"><span aria-hidden="true">{}</span> {}</span>', word, sign(value), word
    )


@register.simple_tag
def share(value: float | None, words: str = "") -> SafeString:
    """Render a share as a small bar and in percent. A missing share is a dash."""
    if value is None:
        return format_html('<span class="muted">{}</span>', NOTHING)
    return format_html(
        '<svg class="share" width="64" height="8" viewBox="0 0 64 8" role="img" aria-label="{}">'
        '<rect class="rest" width="64" height="8" rx="2"></rect>'
        '<rect class="part" width="{}" height="8" rx="2"></rect></svg> <span class="num">{}</span>',
        f"{words} {percent(value)}".strip(),
        f"{64 * min(max(value, 0.0), 1.0):.1f}",
        percent(value),
    )


@register.filter
def in_words(name: str) -> str:
    """Turn a name in the code into words: `factual_alignment` becomes "factual alignment"."""
    return name.replace("_", " ")


@register.filter
def as_words(value: object) -> object:
    """Write a value of a log entry as text: "a.csv, b.csv" for a list, "claims 2, checks 4" for an object.

    A public id becomes "".
    """
    if isinstance(value, str) and _PUBLIC_ID.fullmatch(value):
        return ""
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if isinstance(value, dict):
        return ", ".join(f"{in_words(name)} {part}" for name, part in value.items())
    return value


@register.filter
def about_time(seconds: float | None) -> str:
    """Write a duration in words: "about 40 seconds", "about 12 minutes", "about 3.5 hours"; "" for None."""
    if seconds is None:
        return ""
    if seconds < 90:
        whole = max(1, round(seconds))
        return f"about {whole} second{'' if whole == 1 else 's'}"
    if seconds < 5400:
        return f"about {round(seconds / 60)} minutes"
    return f"about {seconds / 3600:.1f} hours"
