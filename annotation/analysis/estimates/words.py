"""What estimates and the plan's figures say in words, and what they assume."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from annotation.analysis.estimates.estimates import EstimateState, EstimateTable
from annotation.analysis.estimates.forecasts import ForecastBasis
from annotation.analysis.estimates.plan import PilotSamples, ShortSystem
from annotation.analysis.estimates.samples import SampleProgress
from annotation.analysis.intervals import no_interval_in_words
from annotation.analysis.stored import read
from annotation.models import Draw
from annotation.sampling.words import UNKNOWN_SECONDS
from evaluation.statistics import FEW_DOCUMENTS, TOO_FEW_DOCUMENTS, Design, settled_order

DESIGN_NAMES: dict[Design, str] = {
    "people": "people alone",
    "uniform": "uniform",
    "stratified": "stratified by judge uncertainty",
    "active": "active",
}


SEVERAL = 2
"""Systems below which none leads."""


class Clusters(NamedTuple):
    """How many document sets there are, in how many independent groups: as many where each stands for itself."""

    groups: int
    sets: int

    @property
    def noun(self) -> str:
        """What an interval counts as independent."""
        return "group" if self.groups < self.sets else "document set"

    @property
    def nouns(self) -> str:
        return f"{self.noun}s"


CAPTION = (
    "what people would say of all claims, in the population that the document sets represent, including the "
    "judge's errors"
)
CAPTION_OF_PEOPLE = (
    "what people would say of all claims, in the population that the document sets represent, from their "
    "sampled answers alone"
)
NO_SAMPLE = (
    "No estimate yet: review a random sample first. Other answers by reviewers count only if the sample "
    "includes their checks."
)
ALL_ANSWERED = "No estimate is needed: people answered every check."
ITEM_NOUNS = {Draw.Item.COMPARISON.value: "summaries", Draw.Item.DOCUMENT_SET.value: "document sets"}


def caption_of_estimate(table: EstimateTable) -> str:
    """What the interval of an estimate covers."""
    return CAPTION_OF_PEOPLE if table.state == EstimateState.PEOPLE else CAPTION


def estimate_in_words(table: EstimateTable) -> str:
    """Where the estimates come from and what they may be trusted for, or why there are none."""
    newer = _open_in_words(table.newer) if table.newer else ""
    if table.sample is None:
        return newer or (ALL_ANSWERED if table.is_all_answered else NO_SAMPLE)
    if not table.documents:
        return f"No estimate: the random sample of {table.sample.day} has no checks at this target length."
    after = (
        f"{table.came_after:,} checks were added after the random sample and are not covered by it."
        if table.came_after
        else ""
    )
    told = (
        _sample_in_words(table.sample),
        _state_in_words(table),
        _saved_in_words(table),
        _raters_in_words(table),
        _across_in_words(table),
        after,
        newer,
    )
    return " ".join(filter(None, told))


def _sample_in_words(sample: SampleProgress) -> str:
    of_checks = sample.item == Draw.Item.CHECK
    count = f"{sample.drawn:,} {'checks' if of_checks else f'blind judgments of {ITEM_NOUNS[sample.item]}'}"
    blind = ", answered before the judge's answer was shown" if of_checks else ""
    return f"From the random sample of {sample.day}: {count}{blind}."


def _state_in_words(table: EstimateTable) -> str:
    answered = table.answered_documents
    if not table.has_judge:
        return "Only people's sampled answers are used because the judge recorded no probabilities."
    if answered < TOO_FEW_DOCUMENTS:
        why = no_interval_in_words(answered)
        return (
            f"Only people's sampled answers are used: using the judge needs answers in {TOO_FEW_DOCUMENTS} "
            f"document sets for every system (fewest: {answered}{f'; {why}' if why else ''})."
        )
    fewest = f"Every system has answers in at least {answered} document sets"
    if table.state == EstimateState.PEOPLE:
        return (
            f"{fewest}. Only people's sampled answers are used because the judge would not narrow any "
            "interval."
        )
    if table.state == EstimateState.FEW:
        return f"{fewest}. Below {FEW_DOCUMENTS}, an interval may miss more often than stated."
    return f"{fewest}."


def _saved_in_words(table: EstimateTable) -> str:
    """How much the judge is worth, as answers of people; nothing where people stand alone."""
    if table.labels_saved is None:
        return ""
    if table.labels_saved < 1:
        return "The judge saves no answers here."
    by_chance = table.sample is not None and table.sample.method == Draw.Method.UNIFORM
    what = "The judge adds" if by_chance else "The judge and the sampling design together add"
    return (
        f"{what} the precision of {table.labels_saved:,.0f} more human answers per system, on average, "
        "compared with people alone on a simple random sample of the same size."
    )


def _raters_in_words(table: EstimateTable) -> str:
    """Whether the interval holds that people differ in how readily they say yes; nothing of assessors' work."""
    if table.sample is None or table.sample.item != Draw.Item.CHECK:
        return ""
    if not table.several:
        return (
            "Intervals leave out differences between raters because no check has blind answers from several "
            "people."
        )
    rated = (
        f"{table.several:,} {'check has' if table.several == 1 else 'checks have'} blind answers from "
        "several people"
    )
    if table.rater_error is None:
        return f"{rated}, too few to measure how raters differ. Intervals leave this out."
    points = f"{100 * table.rater_error:.1f} points"
    return f"{rated}. Intervals include differences between raters: a standard error of {points} on average."


def _across_in_words(table: EstimateTable) -> str:
    """Whether one system's answers sharpen another's estimate; nothing where people stand alone."""
    if table.labels_saved is None or table.learns_across is None:
        return ""
    if table.learns_across:
        return "Answers to the same claim in other systems' summaries are used along with the judge's."
    return (
        "Answers to the same claim in other systems' summaries are not used because systems were not "
        "sampled separately."
    )


def _open_in_words(newest: SampleProgress) -> str:
    if newest.withdrawn:
        return (
            f"The random sample of {newest.day} gives no estimate: {newest.withdrawn:,} of its judgments "
            "were withdrawn unanswered, so its inclusion probabilities no longer hold."
        )
    return (
        f"The random sample of {newest.day} has {newest.answered:,} of {newest.drawn:,} answered. Estimates use it "
        "once all are answered."
    )


_PREMISE = "If the judge's probabilities are calibrated and answers within a document are independent"
"""What every figure rests on that no answers were gone by for."""

_ANSWERED = "if every check in them is answered"
_TRUSTING = (
    "the forecast assumes that the judge's probabilities are calibrated: people say yes to 80 % of the "
    "claims that it gives 80 %. It also assumes that answers within a document are independent. Intervals "
    "come out wider if the judge is overconfident or answers are correlated. The first sample measures "
    "both, and the next forecast uses it."
)


def basis_in_words(basis: str, pilot: PilotSamples | None, score: str) -> str:
    """What the forecast goes by and what it assumes."""
    match basis:
        case ForecastBasis.PILOT if pilot is not None:
            return (
                f"The forecast uses the random sample of {pilot.day}: the judge's errors on its "
                f"{pilot.answers:,} answered checks, and the "
                "differences between document sets. It assumes that people keep answering the same way, and "
                "it is rougher with fewer answers. Systems with the same target length are pooled."
            )
        case ForecastBasis.PILOT_TOO_SMALL if pilot is not None:
            return (
                f"The random sample of {pilot.day} is too small for a forecast: some system has answers in "
                f"fewer than two document sets. Instead, {_TRUSTING}"
            )
        case ForecastBasis.TOO_FEW_SETS:
            return "No forecast: no system has claims in at least two document sets."
        case ForecastBasis.NOTHING:
            return (
                f"No forecast: no judge has given a probability for a claim that {score} needs. Run the deciding "
                "judge to get them."
            )
    return f"No random sample has been answered yet, so {_TRUSTING}"


def hours_in_words(seconds: float | None, timed: int) -> str:
    """How long a check takes people, and how that is known."""
    if seconds is None:
        return f"No answers have been timed yet; {UNKNOWN_SECONDS:.0f} s per check is assumed."
    answers = "the 1 timed answer" if timed == 1 else f"the {timed:,} newest timed answers"
    return f"Times assume {seconds:.0f} s per check, the median of {answers} in this project."


def duration_in_words(hours: float | None) -> str:
    """Hours as a table has them: minutes where there is less than one."""
    if hours is None:
        return ""
    return f"{hours:,.1f} h" if hours >= 1 else f"{max(1, round(60 * hours))} min"


def effort_in_words(work: str, width: float, widest: float | None, *, systems: int) -> str:
    """What answering so much is for: the wished width, or where it does not reach it what it is expected to bring."""
    if widest is None:
        return f"No interval width can be forecast yet. Start with {work}."
    # Told upwards: none is wider than what is said.
    reached = width if widest <= width else math.ceil(100 * widest - 1e-9) / 100
    goal = "every interval" if systems > 1 else "the interval"
    return f"Answering {work} should make {goal} at most {reached:.2f} wide."


def leader_in_words(known: EstimateTable) -> str:
    """That the estimate settles which system is best; empty where it does not."""
    means = {
        name: each.shown.mean for name, each in (known.systems or {}).items() if each.shown.mean is not None
    }
    if len(means) < len(known.systems or {}) or len(means) < SEVERAL:
        return ""
    order = settled_order(means, known.compared, level=known.level)
    first = max(means, key=means.__getitem__)
    if order.ranks(first) != (1, 1):
        return ""
    return f"The estimate already shows which system is best: {first}."


def complete_in_words(checks: int, score: str) -> str:
    """That no draw is needed, where people have answered everything."""
    answered = "the only check" if checks == 1 else f"all {checks:,} checks"
    return (
        f"No sample is needed: people have answered {answered}, so {score} on the leaderboard rests on "
        "people alone."
    )


def reached_in_words(width: float, now: float, systems: int) -> str:
    """That the widest interval of now is narrow enough already."""
    # Told upwards: none is wider than what is said.
    told = math.ceil(100 * now - 1e-9) / 100
    known = (
        f"No interval is wider than {told:.2f} now" if systems > 1 else f"The interval is {told:.2f} wide now"
    )
    return f"{known}, so {width:.2f} is already reached."


def unknown_in_words(clusters: Clusters) -> str:
    """Why no width is forecast where the answers show no difference between document sets."""
    return (
        f"No width is forecast: there are too few answers to separate differences between {clusters.nouns} "
        "from noise."
    )


def least_in_words(basis: str, least: Sequence[float], widest: float | None, *, is_complete: bool) -> str:
    """How wide intervals would be with every check answered, and what that rests on; empty where nobody can say.

    `widest` is what none of the systems is expected to exceed in half of cases (`median_widest`).
    """
    if is_complete:
        return "Intervals for people alone are final: no further answer can change them."
    if not least:
        return ""
    low, high = (f"{width:.2f}" for width in (min(least), max(least)))
    wide = f"about {low}" if low == high else f"{low} to {high}"
    told = (
        f"Even if people answered every check, intervals would be {wide} wide because document sets differ."
    )
    if basis != ForecastBasis.PILOT:
        return (
            f"{told} This assumes calibrated judge probabilities and independent answers within a document; "
            "otherwise, intervals are wider."
        )
    if len(least) == 1 or widest is None:
        return told
    return (
        f"{told} This assumes that document sets differ equally for every system, so a system's own interval "
        f"may be narrower or wider. The widest of {len(least):,} is probably about {widest:.2f}."
    )


def second_in_words(worth: float | None) -> str:
    """What a second rating of a check is worth; empty where nothing is foretold or no check has two."""
    if worth is None:
        return ""
    return (
        f"A second answer to the same check narrows intervals about {100 * worth:.0f} % as much as an answer "
        "to a new check. Use second answers to measure how raters differ."
    )


def wanted_in_words(
    width: float,
    sizes: Mapping[Design, int | None],
    short: Sequence[ShortSystem],
    systems: int,
    *,
    ladder: Sequence[int],
    clusters: Clusters,
    basis: str,
    enough: int | None = None,
) -> str:
    """Between which of the planned sizes a width is reached, or how many document sets it takes.

    `sizes` are those with which no system's interval is wider in half of all draws; `enough` is how many document sets,
    answered in full, do that for the widest of several systems, where no size does.
    """
    goal = f"No interval wider than {width:g}" if systems > 1 else f"An interval no wider than {width:g}"
    if basis != ForecastBasis.PILOT:
        goal = f"{_PREMISE}, {goal[0].lower()}{goal[1:]}"
    people = sizes.get("people")
    with_judge = [(design, size) for design, size in sizes.items() if design != "people" and size is not None]
    least = min((size for _, size in with_judge), default=None)
    if len(short) == 1 < systems:
        # Told first: of the others the plan holds.
        premise = "" if basis == ForecastBasis.PILOT else f"{_PREMISE}, "
        return (
            f"{premise}{short[0].system} is the only system whose interval stays wider than {width:g}. More "
            f"answers do not help; it needs more {clusters.nouns}: {_needs_in_words(short[0])}."
        )
    if short:
        lacking = f"{goal}: more answers are not enough; it needs more {clusters.nouns}."
        return f"{lacking} {_short_in_words(short, systems, clusters, enough)}"
    often = "in more than half of such samples" if systems > 1 else "on average"
    # With too few answers for the judge every draw is people alone: where they do, no design matters.
    if least is None or (people is not None and people < least):
        if people is None:
            return f"{goal}: no planned sample size is enough {often}.{_enough_in_words(enough, clusters)}"
        return f"{goal}: {_between(people, ladder)} answers are enough {often}, using people alone."
    designs = _either([DESIGN_NAMES[design] for design, size in with_judge if size == least])
    if people is None:
        alone = "with people alone, no planned size is enough"
    elif people == least:
        # Both lie between the same two planned sizes: which needs fewer is not known.
        alone = "people alone need no larger planned size"
    else:
        alone = f"people alone need {_between(people, ladder)}"
    return (
        f"{goal}: {_between(least, ladder)} answers are enough {often} (design: {designs}). "
        f"{alone[0].upper()}{alone[1:]}."
    )


def _between(size: int, ladder: Sequence[int]) -> str:
    """Where the number lies, of which only the first planned size that is enough is known."""
    before = max((each for each in ladder if each < size), default=None)
    return f"at most {size:,}" if before is None else f"more than {before:,} and at most {size:,}"


def _short_in_words(
    short: Sequence[ShortSystem], systems: int, clusters: Clusters, enough: int | None
) -> str:
    """Who needs more document sets; in one figure where nothing tells the systems apart."""
    worst = max(short, key=lambda each: each.needed)
    if len(short) == 1:
        return f"{worst.system} needs {_needs_in_words(worst)}."
    if all(each.needed == worst.needed for each in short):
        of_all = "" if len(short) == systems else f"{len(short)} of {systems} systems need more: "
        held = _range(min(each.held for each in short), max(each.held for each in short))
        about = f"about {worst.needed:,} instead of {held} are enough on average"
        told = f"{of_all}{about}, {_ANSWERED}; individual systems may need more"
        every = (
            f", and about {enough:,} are enough for all of them in half of cases"
            if enough is not None
            else ""
        )
        return f"{told[0].upper()}{told[1:]}{every}."
    of_all = "Every system needs" if len(short) == systems else f"{len(short)} of {systems} systems need"
    most = [each for each in short if each.needed == worst.needed]
    if len(most) > 1:
        return f"{of_all} more, up to about {worst.needed:,} {clusters.nouns} on average, {_ANSWERED}."
    return f"{of_all} more, {worst.system} most: {_needs_in_words(worst)}."


def _needs_in_words(short: ShortSystem) -> str:
    return f"about {short.needed:,} instead of {short.held:,} on average, {_ANSWERED}"


def _enough_in_words(enough: int | None, clusters: Clusters) -> str:
    """How many document sets would do; empty where nobody can say, or they are no more than there are."""
    if enough is None or enough <= clusters.groups:
        return ""
    return f" About {enough:,} {clusters.nouns} instead of {clusters.groups:,} are enough, {_ANSWERED}."


def _range(low: int, high: int) -> str:
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def documents_in_words(clusters: Clusters) -> str:
    """What the number of independent document sets allows; empty where it is enough."""
    unit = f" {clusters.nouns}" if clusters.groups < clusters.sets else ""
    why = no_interval_in_words(clusters.groups, clusters.noun)
    none = f" ({why})" if why else ""
    if clusters.groups < TOO_FEW_DOCUMENTS:
        return (
            f"{_sets(clusters)} here{none}. Below {TOO_FEW_DOCUMENTS}{unit}, an estimate uses people's "
            "sampled answers alone, so no forecast includes the judge."
        )
    if clusters.groups < FEW_DOCUMENTS:
        return (
            f"{_sets(clusters)} here. Below {FEW_DOCUMENTS}{unit}, an interval may miss more often than "
            "stated."
        )
    return ""


def width_in_words(reachable: float | None) -> str:
    """How the width was found that is shown where nobody asked for one."""
    if reachable is None:
        return (
            "No width chosen. A sample of half of all checks reaches none of these, so the widest is shown."
        )
    return f"No width chosen. {reachable:g} is the narrowest that a sample of half of all checks reaches."


def new_sample_in_words(size: int, *, checks: int, answered: int, is_by_lot: bool) -> str:
    """Say that a new sample has this size, and how many of its checks already have a blind answer.

    `answered` counts those among the `checks` that can be sampled.
    """
    told = f"This is a new random sample of {size:,}. Once it is complete, the estimate uses it alone."
    if not answered:
        return told
    earlier = "1 check has" if answered == 1 else f"{answered:,} checks have"
    kept = (
        f"{earlier} a blind answer already. If sampled, {'it keeps' if answered == 1 else 'they keep'} that "
        "answer and nobody is asked again"
    )
    about = f" (about {size * answered / checks:.0f} of these {size:,})" if is_by_lot and checks else ""
    return f"{told} {kept}{about}. Checks outside a sample do not enter the estimate."


def replacing_in_words(size: int, answered: int, *, is_narrower: bool) -> str:
    """What a draw that is no larger than the answered one would do; empty where it is larger.

    `is_narrower` tells that its intervals are foretold to be narrower than those of now all the same.
    """
    if size > answered:
        return ""
    kept = f"The latest answered sample has {answered:,} checks."
    if size == answered:
        return (
            f"{kept} This one has the same size and would replace it, so estimates would use no more answers."
        )
    if is_narrower:
        return f"{kept} This smaller one would replace it, so estimates would use fewer answers."
    return f"{kept} This smaller one would replace it and make intervals wider."


def told(plan: Mapping[str, Any]) -> dict[str, Any]:
    """The stored plan with its sentences."""
    pilot = plan["pilot"] and read(PilotSamples, plan["pilot"])
    return {
        **plan,
        "basis_in_words": basis_in_words(plan["basis"], pilot, plan["score"]),
        "pilot": pilot and pilot.draw_id,
        "pilot_answered": pilot.answers if pilot else 0,
        "complete": complete_in_words(plan["checks"], plan["score"]) if plan["is_complete"] else "",
        "pace_in_words": hours_in_words(plan["seconds"], plan["timed"]),
        "targets": [_told_target(plan, table) for table in plan["targets"]],
    }


def _told_target(plan: Mapping[str, Any], table: Mapping[str, Any]) -> dict[str, Any]:
    clusters = Clusters(groups=table["documents"], sets=table["document_sets"])
    known = read(EstimateTable, table["known"])
    least = [each["least"] for each in table["systems"] if each["least"] is not None]
    unknown = unknown_in_words(clusters) if table["is_unknown"] else ""
    return {
        **table,
        "cluster": clusters.noun,
        "known": {
            "state": known.state,
            "sentence": estimate_in_words(known),
            "caption": caption_of_estimate(known),
        },
        "leader": leader_in_words(known),
        "warning": documents_in_words(clusters),
        "unknown": unknown,
        "second_in_words": second_in_words(table["second_rating"]),
        "least_in_words": least_in_words(
            plan["basis"], least, table["least_widest"], is_complete=plan["is_complete"]
        ),
        "wanted": [
            {**wish, "sentence": _wish_in_words(plan["basis"], wish, table, clusters, unknown)}
            for wish in table["wanted"]
        ],
    }


def _wish_in_words(
    basis: str, wish: Mapping[str, Any], table: Mapping[str, Any], clusters: Clusters, unknown: str
) -> str:
    if wish["is_reached"]:
        return reached_in_words(wish["width"], table["widest_now"], table["foretold"])
    return unknown or wanted_in_words(
        wish["width"],
        wish["sizes"],
        [ShortSystem(**each) for each in wish["short"]],
        table["foretold"],
        ladder=[int(size) for size in table["outlooks"]],
        clusters=clusters,
        basis=basis,
        enough=wish["enough"],
    )


def _sets(clusters: Clusters) -> str:
    groups, sets = clusters
    told = "There is 1 document set" if sets == 1 else f"There are {sets:,} document sets"
    if groups == sets:
        return told
    return f"{told} in 1 group" if groups == 1 else f"{told} in {groups:,} groups"


def _either(words: list[str]) -> str:
    return ", ".join(words[:-1]) + " or " + words[-1] if len(words) > 1 else words[0]
