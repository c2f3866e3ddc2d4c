"""What figures of agreement say in words, and no more than they say."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.utils.formats import date_format

from annotation.analysis.agreement.ratings import PERCENTS, UNMARKED
from annotation.analysis.intervals import no_interval_in_words
from annotation.models import Check
from evaluation.statistics import Estimate

RELIABLE, TENTATIVE = 0.8, 0.667
"""What Krippendorff asks of alpha: to rely on data, and to draw tentative conclusions from them."""
FEW_ITEMS = 20
"""Items with two answers below which nothing is said of how good agreement is."""
ROUGH_BELOW = 10
"""Document sets below which an interval is called rough."""
SCALES: Mapping[str, tuple[str, str, str]] = {
    f"verdicts-{Check.Side.REFERENCE.value}": (
        "Verdicts, coverage",
        "Is the claim expressed in the summary?",
        "checks",
    ),
    f"verdicts-{Check.Side.PEER.value}": (
        "Verdicts, alignment",
        "Is the claim of the summary supported by its source?",
        "checks",
    ),
    PERCENTS: (
        "Percents",
        "How much of the model unit do the marked peer units express together?",
        "model units",
    ),
    UNMARKED: (
        "Unmarked",
        "How much of the unmarked peer units is related to the subject all the same?",
        "summaries",
    ),
}
"""By the key of a scale that every project has: its name, what is asked, and what of."""


NO_SPREAD_SHOWN = "no interval: all document sets give the same value"
"""Said of a figure that is the same in every draw of enough document sets."""


def told(agreement: Mapping[str, Any]) -> dict[str, Any]:
    """The stored agreement with its sentences."""
    return {**agreement, "scales": [_told_scale(scale) for scale in agreement["scales"]]}


def _told_scale(scale: Mapping[str, Any]) -> dict[str, Any]:
    key, thirds = scale["key"], scale["thirds"]
    own = (key.replace("quality-", "Quality ", 1).replace("_", " "), scale["question"], "summaries")
    name, question, noun = SCALES.get(key, own)
    unit = " %" if key in (PERCENTS, UNMARKED) else ""
    return {
        **scale,
        "name": name,
        "question": question,
        "items_in_words": noun,
        "thirds": tuple(
            {**third, "first_day": _day(third["first_at"]), "last_day": _day(third["last_at"])}
            for third in thirds
        ),
        "divided": [
            {**item, "answers": [(f"{answer}{unit}", count) for answer, count in item["answers"]]}
            for item in scale["divided"]
        ],
        "sentence": scale_in_words(
            Estimate(**scale["alpha"]), Estimate(**scale["equal"]), items=scale["items"], noun=noun
        ),
        "drift": drift_in_words(*(Estimate(**third["alpha"]) for third in (thirds[0], thirds[-1])))
        if thirds
        else "",
    }


def _day(moment: str) -> str:
    return date_format(datetime.fromisoformat(moment), "j M Y")


def between(estimate: Estimate, *, digits: int = 2) -> str:
    """The value with its interval: "0.83 (0.79 to 0.87)"."""
    if estimate.value is None:
        return "not known"
    value = f"{estimate.value:.{digits}f}".replace("-", "−")
    if estimate.low is None or estimate.high is None:
        return f"{value} ({no_interval_in_words(estimate.clusters) or NO_SPREAD_SHOWN})"
    bounds = f"{estimate.low:.{digits}f} to {estimate.high:.{digits}f}"
    return f"{value} ({bounds.replace('-', '−')})"


def in_percent(share: float | None) -> str:
    """A share in whole percent, never rounded up to all or down to nothing."""
    if share is None:
        return "not known"
    rounded = round(100 * share)
    if rounded in (0, 100) and 0 < share < 1:
        return "under 1 %" if rounded == 0 else "over 99 %"
    return f"{rounded} %"


def scale_in_words(alpha: Estimate, equal: Estimate, *, items: int, noun: str) -> str:
    """How far people agree on one scale, with the numbers that it rests on."""
    if not items:
        return f"No agreement yet: no two people have answered the same {noun}."
    counted = f"{items:,} {noun if items != 1 else noun.removesuffix('s')}"
    few = f" {items:,} {noun if items != 1 else noun.removesuffix('s')} in {_sets(alpha.clusters)}"
    too_few = f"{few} {'is' if items == 1 else 'are'} too few to tell how well people agree."
    if alpha.value is None:
        return (
            f"People gave the same answer to all {counted} that two or more answered. Alpha is undefined "
            f"without any disagreement.{too_few if items < FEW_ITEMS else ''}"
        )
    return (
        f"Two people gave the same answer on {in_percent(equal.value)} of the {noun} that both answered."
        f"{too_few if items < FEW_ITEMS else ''} Alpha is {between(alpha)} over {counted} in "
        f"{_sets(alpha.clusters)}.{'' if items < FEW_ITEMS else f' {_meaning(alpha)}'}{_roughness(alpha)}"
    )


def drift_in_words(first: Estimate, last: Estimate) -> str:
    """Whether agreement moved between the first and the last third of the work, as far as intervals tell."""
    if first.low is None or first.high is None or last.low is None or last.high is None:
        if fewest := no_interval_in_words(min(first.clusters, last.clusters)):
            return f"Any change over time is unknown: a third of the work is too small ({fewest})."
        return f"Any change over time is unknown for a third of the work ({NO_SPREAD_SHOWN})."
    numbers = (
        f"alpha is {between(first)} in the first third of the work and {between(last)} in the last third"
    )
    if last.high < first.low:
        return f"Agreement fell: {numbers}."
    if first.high < last.low:
        return f"Agreement rose: {numbers}."
    return f"Over time, {numbers}."


def _meaning(alpha: Estimate) -> str:
    value = alpha.value or 0.0
    if value >= RELIABLE:
        return f"Krippendorff's threshold for reliable data is {RELIABLE}; {_reached(alpha)}."
    if value >= TENTATIVE:
        return (
            f"The value reaches Krippendorff's threshold for tentative conclusions ({TENTATIVE}), not the "
            f"one for reliable data ({RELIABLE})."
        )
    if value > 0:
        return f"That is below Krippendorff's threshold for tentative conclusions ({TENTATIVE})."
    if alpha.high is not None and alpha.high > 0:
        return "That does not show agreement better than chance."
    return "That is no better than chance."


def _reached(alpha: Estimate) -> str:
    """What of a value that reaches the bar for reliable data reaches it."""
    if alpha.low is None:
        return "the value reaches it, but there is no interval"
    if alpha.low >= RELIABLE:
        return "the whole interval reaches it"
    return "the value reaches it, the whole interval does not"


def _roughness(alpha: Estimate) -> str:
    if alpha.low is not None and alpha.clusters < ROUGH_BELOW:
        return f" The interval is rough because it rests on {_sets(alpha.clusters)}."
    return ""


def _sets(count: int) -> str:
    return "1 document set" if count == 1 else f"{count:,} document sets"
