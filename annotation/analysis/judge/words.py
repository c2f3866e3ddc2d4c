"""What a judge's figures say in words, and no more than they say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from annotation.analysis.agreement.words import in_percent
from annotation.analysis.intervals import no_interval_in_words
from annotation.analysis.judge.judge_answers import AnswerBasis
from annotation.analysis.judge.judge_quality import Frontier
from annotation.analysis.stored import read
from annotation.models import Check
from evaluation.statistics import FEW_DOCUMENTS, Estimate, JudgeComparison, JudgeReport, Recalibration

RIGHT_AT_LEAST = 0.9
MOVES_AT_MOST = 0.05
"""The bar for a judge alone: right on this share of checks, and its share of yes within so much of people's."""
BAR = f"the bar of {in_percent(RIGHT_AT_LEAST)} right answers and {100 * MOVES_AT_MOST:.0f} points of bias"
APART = 0.05
"""The level at which two versions are told apart."""

WITHIN = 0.01
"""Shares of wrong answers that differ by no more are as good as each other."""

SIDE_SCORES = {Check.Side.REFERENCE.value: "coverage", Check.Side.PEER.value: "alignment"}


def told(quality: Mapping[str, Any]) -> dict[str, Any]:
    """The stored figures of judges with their sentences."""
    basis, people = read(AnswerBasis, quality["basis"]), Estimate(**quality["people_agree"])
    compared = quality["people_compared"]
    judges = {version["id"]: version["judge"] for version in quality["versions"]}
    return {
        **quality,
        "basis_in_words": basis_in_words(basis, quality["checks"]),
        "versions": [_told_version(version, basis, people, compared) for version in quality["versions"]],
        "taught": [
            {**each, **_told_examples(read(JudgeComparison, each["comparison"]), each)}
            for each in quality["taught"]
        ],
        "frontiers": [
            {
                **each,
                **{
                    name: [{**point, "thousand": 1000 * point["cost"]} for point in each[name]]
                    for name in ("points", "tried")
                },
                "dear_judge": judges[each["dear"]],
                "sentence": frontier_in_words(read(Frontier, each)),
            }
            for each in quality["frontiers"]
        ],
        "pairs": [
            {
                **pair,
                "sentence": pair_in_words(
                    pair["first"], pair["second"], JudgeComparison(**pair["comparison"]), pair["p"]
                ),
            }
            for pair in quality["pairs"]
        ],
    }


def _told_version(
    version: Mapping[str, Any], basis: AnswerBasis, people: Estimate, compared: int
) -> dict[str, Any]:
    report = read(JudgeReport, version["report"])
    trust, is_trusted = trust_in_words(report, basis=basis, people=people, compared=compared)
    parts = [
        (split["name"], part["name"], Estimate(**part["accuracy"]))
        for split in version["splits"]
        if split["key"] != "error"
        for part in split["parts"]
    ]
    weakness = weakness_in_words(report.accuracy, parts)
    picked, gained = version["picked"], version["recalibrated"]
    return {
        **version,
        "trust": trust,
        "is_trusted": is_trusted,
        "weakness": weakness,
        "contrast": contrast_in_words(Estimate(**picked), report.accuracy) if picked else "",
        "recalibrated": gained and _told_recalibration(read(Recalibration, gained), gained),
    }


def _told_recalibration(found: Recalibration, stored: Mapping[str, Any]) -> dict[str, Any]:
    return {**stored, "helps": found.helps, "sentence": recalibration_in_words(found)}


def basis_in_words(basis: AnswerBasis, checks: int) -> str:
    """What the figures describe: all checks, or those alone that people answered. `checks` have one answer."""
    if not checks:
        return "Nobody has answered a check before seeing what a judge says of it."
    match basis.kind:
        case "all":
            sides = " and ".join(SIDE_SCORES[side] for side in basis.sides)
            described = (
                "all of them" if checks == basis.frame else f"the {checks:,} on which they are not divided"
            )
            return f"People answered all {basis.frame:,} checks of {sides}: the figures describe {described}."
        case "drawn":
            others = (
                f" {_checks(basis.others)} that people answered beyond the sample "
                f"{'is' if basis.others == 1 else 'are'} left out."
                if basis.others
                else ""
            )
            stands_for = f"the figures stand for all {basis.frame:,}."
            if basis.changed:
                stands_for = (
                    f"{basis.changed:,} of them, whose {'claim was' if basis.changed == 1 else 'claims were'} changed "
                    "since, left out, the figures stand for the claims that kept their words."
                )
            return (
                f"{_checks(basis.drawn)} of {basis.frame:,} were sampled ({basis.method}) and all of them are "
                "answered: "
                f"{stands_for}{others}"
            )
        case "uneven":
            return (
                f"{_checks(basis.drawn)} were sampled with unequal probabilities, which are not evened out "
                "here: the figures "
                f"describe the {checks:,} answered checks only, and those on which the judge was expected to be off "
                "are over-represented."
            )
        case "open":
            return (
                f"{basis.answered:,} of {basis.drawn:,} sampled checks are answered. Until all are, the figures "
                "describe "
                f"the {checks:,} answered checks only."
            )
    return (
        f"People chose which checks to answer; none are a random sample. The figures describe those {checks:,} checks "
        "only, and say nothing of the others."
    )


def contrast_in_words(picked: Estimate, drawn: Estimate) -> str:
    """What it means that the judge is right on these shares of what people chose and of a random sample."""
    if picked.value is None or drawn.value is None:
        return ""
    return (
        f"Hand-picked claims: judge {in_percent(picked.value)} right; random sample: {in_percent(drawn.value)}. "
        "People do not pick by chance, so only the random sample says how often it is right over all claims."
    )


def frontier_in_words(found: Frontier) -> str:
    """How often the dear judge should be asked, and what that brings: the fewest checks within a point of the least
    error.
    """
    alone, dear = found.points[0], found.points[-1]
    errors = [(each, each.error.value) for each in found.points if each.error.value is not None]
    if alone.error.value is None or dear.error.value is None:
        return ""
    least = min(error for _, error in errors)
    best, error = next((each, error) for each, error in errors if error <= least + WITHIN)
    if best is alone:
        return f"No gain: {found.cheap} is wrong as rarely alone as with a second opinion of {found.dear}."
    if best is dear:
        return (
            f"{found.cheap} alone is wrong on {in_percent(alone.error.value)} of checks, {found.dear} on "
            f"{in_percent(dear.error.value)}. Asking {found.dear} about less than everything leaves more errors."
        )
    return (
        f"{found.cheap} alone is wrong on {in_percent(alone.error.value)} of checks, {found.dear} on "
        f"{in_percent(dear.error.value)}. Asking {found.dear} about the {in_percent(best.share)} that {found.cheap} is "
        f"likeliest to have wrong leaves {in_percent(error)}."
    )


def _told_examples(comparison: JudgeComparison, stored: Mapping[str, Any]) -> dict[str, Any]:
    p, difference = comparison.clustered_p, comparison.difference
    helps = p is not None and difference is not None and p < APART and difference > 0
    return {
        "helps": helps,
        "sentence": examples_in_words(stored["checks"], difference, p),
    }


def examples_in_words(checks: int, difference: float | None, p: float | None) -> str:
    """Whether a judge with examples is right more often than without, on documents that lent it none."""
    if difference is None or p is None:
        return "Too early to say: it has answered none of what people answered by chance."
    points = f"{100 * abs(difference):.1f} points"
    way = "more" if difference > 0 else "less"
    measured = (
        "equally often with examples as without"
        if difference == 0
        else f"{way} often with examples than without, by {points}"
    )
    scope = f"on {_checks(checks)} of document sets that lent it no example (p = {_p(p)})"
    if p < APART and difference > 0:
        return f"Yes: it is right {measured}, {scope}."
    if p < APART and difference < 0:
        return f"No, they harm: it is right {measured}, {scope}."
    return f"No gain is shown: it is right {measured}, {scope}."


def cost_in_words(cost: float | None) -> str:
    """What a run's calls come to, where the judge has a price."""
    return "no price is set" if cost is None else f"cost about {cost:.2f}"


def recalibration_in_words(found: Recalibration) -> str:
    """Whether its probabilities are better recalibrated, and by how much."""
    gain, before, after = found.gain, found.brier, found.brier_after
    if gain.value is None or before.value is None or after.value is None:
        return "Too early to say: people answered nothing that it gave a probability for."
    if gain.low is None or gain.high is None:
        why = no_interval_in_words(gain.clusters).removeprefix("no interval: ")
        return f"Too early to say: {why or 'the gain is the same in all document sets'}."
    measured = (
        f"on document sets that it did not learn from, the Brier score goes from {before.value:.3f} to "
        f"{after.value:.3f} (lower by {_small(gain.value)}, {_small(gain.low)} to {_small(gain.high)})"
    )
    if found.helps:
        return f"Yes: {measured}."
    return f"No gain: {measured}. The interval must lie above 0."


def trust_in_words(
    report: JudgeReport, *, basis: AnswerBasis, people: Estimate, compared: int
) -> tuple[str, bool | None]:
    """Whether to trust this judge alone, then its numbers; yes, no, or None for not known.

    It is trusted where the whole interval of its accuracy reaches 90 % and beats the commonest answer, and its share
    of yes lies within 5 points of people's over the whole interval; it is not where an interval rules that out.
    """
    accuracy, bias = report.accuracy, report.bias
    if accuracy.value is None or bias.value is None:
        return "Too early to say: it answered no check that people answered too.", None
    numbers = _numbers(report)
    human = _people_beside(people, compared)
    if accuracy.low is None or accuracy.high is None or bias.low is None or bias.high is None:
        why = (
            no_interval_in_words(accuracy.clusters).removeprefix("no interval: ")
            or "its bias is the same in all document sets, so it has no interval"
        )
        return f"Too early to say: {why}.{numbers}{human}", None
    if report.documents < FEW_DOCUMENTS:
        return (
            f"Too early to say: {FEW_DOCUMENTS} document sets are needed, and {report.documents} are answered."
            f"{numbers}{human}"
        ), None
    scope = _scope(basis)
    if reasons := _shortfalls(report):
        return f"No{scope}, for {' and '.join(reasons)}.{numbers}{human}", False
    is_over = accuracy.low >= RIGHT_AT_LEAST and bias.low >= -MOVES_AT_MOST and bias.high <= MOVES_AT_MOST
    if not is_over:
        open_end = f"further answers may put it above or below {BAR}"
    elif accuracy.low <= commonest_share(report):
        open_end = "always giving the commonest answer may be right as often"
    else:
        return f"Yes{scope}, by {BAR}.{numbers}{human}", True
    return f"Not clear yet{scope}: {open_end}.{numbers}{human}", None


def _scope(basis: AnswerBasis) -> str:
    """On which checks alone what is said holds; empty where the answers stand for all."""
    if basis.is_representative:
        return ""
    if basis.kind == "open":
        return " on the checks answered so far"
    if basis.kind == "uneven":
        chosen = ", or that people chose" if basis.others else ""
        return f" on the checks that were sampled, with unequal probabilities{chosen}"
    return " on the checks that people answered, which are no random sample"


def _shortfalls(report: JudgeReport) -> list[str]:
    """What rules a judge out: each over the whole interval."""
    accuracy, bias = report.accuracy, report.bias
    reasons = []
    if accuracy.high is not None and accuracy.high < RIGHT_AT_LEAST:
        reasons.append(
            f"it stays below the {in_percent(RIGHT_AT_LEAST)} of right answers that are asked for here"
        )
    if accuracy.high is not None and accuracy.high < commonest_share(report):
        reasons.append("always giving the commonest answer would be right more often")
    if bias.low is not None and bias.low > MOVES_AT_MOST:
        reasons.append(f"it raises the share of yes by more than {100 * MOVES_AT_MOST:.0f} points")
    if bias.high is not None and bias.high < -MOVES_AT_MOST:
        reasons.append(f"it lowers the share of yes by more than {100 * MOVES_AT_MOST:.0f} points")
    return reasons


def commonest_share(report: JudgeReport) -> float:
    """How often people's commoner answer, yes or not yes, would be right alone, over what the judge answered."""
    scored = [counts for row, counts in report.confusion.items() if row != "unscored"]
    yes = sum(counts["yes"] for counts in scored)
    total = sum(sum(counts.values()) for counts in scored)
    return max(yes, total - yes) / total if total else 0.0


def weakness_in_words(whole: Estimate, parts: Sequence[tuple[str, str, Estimate]]) -> str:
    """The part where the judge is worst, where the intervals part it from the whole."""
    if whole.value is None or whole.low is None:
        return ""
    worse = [
        (part.value, split, name, part)
        for split, name, part in parts
        if part.value is not None and part.high is not None and part.high < whole.low
    ]
    if not worse:
        return "No system, length, score or type of claim stands out: no interval lies wholly below that of all checks."
    _, split, name, part = min(worse, key=lambda each: each[0])
    return f"It errs most at {split.lower()} “{name}”: right on {_share(part)} there, against {_share(whole)} over all."


def pair_in_words(first: str, second: str, comparison: JudgeComparison, p: float | None) -> str:
    """Which of two versions is right more often on the same checks, if that can be told."""
    checks = (
        comparison.both_right
        + comparison.only_first_right
        + comparison.only_second_right
        + comparison.both_wrong
    )
    difference = comparison.difference
    if difference is None or p is None:
        return f"{first} and {second} answered none of the same checks."
    same = f"On {_checks(checks)} that people and both answered, "
    if difference == 0:
        return f"{same}{first} and {second} are right equally often."
    better, worse = (first, second) if difference > 0 else (second, first)
    points = f"{100 * abs(difference):.1f} points"
    if p < APART:
        return f"{same}{better} is right more often than {worse}, by {points} (p = {_p(p)})."
    return (
        f"{same}{better} is ahead of {worse} by {points}, which chance alone could bring about (p = {_p(p)})."
    )


def _numbers(report: JudgeReport) -> str:
    return (
        f" It is right on {_share(report.accuracy)} of {_checks(report.scored)} in {report.documents:,} document "
        f"set{'' if report.documents == 1 else 's'}; the commonest answer alone would be right on "
        f"{in_percent(commonest_share(report))}. {_leaning(report.bias)}."
    )


def _leaning(bias: Estimate) -> str:
    points = round(100 * (bias.value or 0.0), 1)
    often = (
        "as often as"
        if points == 0
        else f"{abs(points)} points {'more' if points > 0 else 'less'} often than"
    )
    if bias.low is None or bias.high is None:
        return f"It says yes {often} people"
    return f"It says yes {often} people ({_points(bias.low)} to {_points(bias.high)})"


def _people_beside(people: Estimate, compared: int) -> str:
    if people.value is None:
        return ""
    share = _share(people)
    return f" Two people agree in {share} of their pairs of answers, unsure counted as no, over {_checks(compared)}."


def _share(estimate: Estimate) -> str:
    if estimate.low is None or estimate.high is None:
        return in_percent(estimate.value)
    return f"{in_percent(estimate.value)} ({in_percent(estimate.low)} to {in_percent(estimate.high)})"


def _points(value: float) -> str:
    return f"{100 * value:+.1f}".replace("-", "−")


def _small(value: float) -> str:
    return f"{value:.3f}".replace("-", "−")


def _checks(count: int) -> str:
    return "1 check" if count == 1 else f"{count:,} checks"


def _p(p: float) -> str:
    return "under 0.001" if p < 0.0005 else f"{p:.3f}"
