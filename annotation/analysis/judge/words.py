"""What a judge's figures say in words, and no more than they say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from annotation.analysis.agreement.words import in_percent
from annotation.analysis.intervals import no_interval_in_words
from annotation.analysis.judge.judge_answers import AnswerBasis
from annotation.analysis.judge.judge_splits import SplitPart
from annotation.analysis.stored import read
from annotation.judging.queries.runs import POOR_SHARE
from annotation.models import SIDE_SCORES, Check
from evaluation.statistics import FEW_DOCUMENTS, Estimate, JudgeComparison, JudgeReport

RIGHT_AT_LEAST = 0.9
MOVES_AT_MOST = 0.05
"""The bar for a judge alone: right on this share of checks, and its share of yes within so much of people's."""
BAR = f"the threshold of {in_percent(RIGHT_AT_LEAST)} accuracy and {100 * MOVES_AT_MOST:.0f} points of bias"
FEWEST_SYSTEMS = 2
APART = 0.05
"""The level at which two versions are told apart."""


def told(quality: Mapping[str, Any]) -> dict[str, Any]:
    """The stored figures of judges with their sentences."""
    basis, people = read(AnswerBasis, quality["basis"]), Estimate(**quality["people_agree"])
    compared = quality["people_compared"]
    return {
        **quality,
        "basis_in_words": basis_in_words(basis, quality["checks"]),
        "versions": [_told_version(version, basis, people, compared) for version in quality["versions"]],
        "taught": [
            {**each, **_told_examples(read(JudgeComparison, each["comparison"]), each)}
            for each in quality["taught"]
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
    by_system = next((split["parts"] for split in version["splits"] if split["key"] == "system"), ())
    systems = [read(SplitPart, part) for part in by_system]
    weakness = favour_in_words(systems)
    picked = version["picked"]
    return {
        **version,
        "trust": trust,
        "is_trusted": is_trusted,
        "weakness": weakness,
        "contrast": contrast_in_words(Estimate(**picked), report.accuracy) if picked else "",
    }


def basis_in_words(basis: AnswerBasis, checks: int) -> str:
    """What the figures describe: all checks, or those alone that people answered. `checks` have one answer."""
    if not checks:
        return "Nobody has answered a check before seeing a judge's verdict."
    of = f" of {score}" if (score := _score_of(basis)) else ""
    match basis.kind:
        case "all":
            described = (
                "all of them"
                if checks == basis.frame
                else f"the {checks:,} on which they are not evenly divided"
            )
            return f"People answered all {basis.frame:,} checks{of}; the figures describe {described}."
        case "drawn":
            others = (
                f" {_checks(basis.others)} that people answered outside the "
                f"sample {'is' if basis.others == 1 else 'are'} left out."
                if basis.others
                else ""
            )
            after = (
                f" {_checks(basis.came_after)} that could not be sampled then "
                f"{'is' if basis.came_after == 1 else 'are'} not covered."
                if basis.came_after
                else ""
            )
            stands_for = f"the figures represent all {basis.frame:,}."
            if basis.changed:
                stands_for = (
                    f"{basis.changed:,} whose {'claim was' if basis.changed == 1 else 'claims were'} changed "
                    f"since {'is' if basis.changed == 1 else 'are'} left out, so the figures represent the "
                    "unchanged claims."
                )
            return (
                f"Of {_checks(basis.frame)}{of}, {basis.drawn:,} were sampled ({basis.method.lower()}) and all are "
                f"answered: {stands_for}{others}{after}"
            )
        case "uneven":
            return (
                f"{_checks(basis.drawn)}{of} were sampled with unequal probabilities, and these figures are not "
                f"weighted. They describe the {checks:,} answered checks only and over-represent those with "
                "a high expected judge error."
            )
        case "open":
            return (
                f"{basis.answered:,} of {basis.drawn:,} sampled checks{of} are answered. Until the sample is "
                f"complete, the figures describe the {checks:,} answered checks only."
            )
    return (
        f"People chose which checks{of} to answer, so the figures describe those {checks:,} checks only. To "
        "measure all checks, review a random sample."
    )


def contrast_in_words(picked: Estimate, drawn: Estimate) -> str:
    """What it means that the judge is right on these shares of what people chose and of a random sample."""
    if picked.value is None or drawn.value is None:
        return ""
    return (
        f"Accuracy is {in_percent(picked.value)} on hand-picked claims and {in_percent(drawn.value)} on the "
        "random sample. Hand-picked claims are not representative; only the random sample measures accuracy "
        "over all claims."
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
        return "Not known yet: it has answered no check of the random sample."
    points = f"{100 * abs(difference):.1f} points"
    way = "higher" if difference > 0 else "lower"
    measured = (
        "the same with and without examples"
        if difference == 0
        else f"{points} {way} with examples than without"
    )
    scope = f"on {_checks(checks)} in document sets that provided no example (p = {_p(p)})"
    if p < APART and difference > 0:
        return f"Yes: accuracy is {measured}, {scope}."
    if p < APART and difference < 0:
        return f"No, they make it worse: accuracy is {measured}, {scope}."
    return f"No proven gain: accuracy is {measured}, {scope}."


def cost_in_words(cost: float | None) -> str:
    """What a run's calls come to, where the judge has a price."""
    return "no price is set" if cost is None else f"cost about {cost:.2f}"


def trust_in_words(
    report: JudgeReport, *, basis: AnswerBasis, people: Estimate, compared: int
) -> tuple[str, bool | None]:
    """Whether to trust this judge alone, then its numbers; yes, no, or None for not known.

    It is trusted where the whole interval of its accuracy reaches 90 % and beats the commonest answer, and its share
    of yes lies within 5 points of people's over the whole interval; it is not where an interval rules that out, nor
    where it left so many checks unscored as make a run poor: its figures hold for the others alone.
    """
    accuracy, bias = report.accuracy, report.bias
    if accuracy.value is None or bias.value is None:
        return "Not known yet: no check has answers from both the judge and people.", None
    numbers, scope = _numbers(report), _scope(basis)
    human = _people_beside(people, compared)
    answered = report.answered.value
    if answered is not None and answered < 1 - POOR_SHARE:
        claims = "sampled claims" if basis.kind == "drawn" else "claims"
        unscored = f"it gave no usable answer on {in_percent(1 - answered)} of the {claims}"
        return f"No{scope}: {unscored}.{numbers}{human}", False
    if accuracy.low is None or accuracy.high is None or bias.low is None or bias.high is None:
        why = (
            no_interval_in_words(accuracy.clusters).removeprefix("no interval: ")
            or "bias is the same in all document sets, so it has no interval"
        )
        return f"Not known yet{scope}: {why}.{numbers}{human}", None
    if report.documents < FEW_DOCUMENTS:
        return (
            f"Not known yet{scope}: this needs {FEW_DOCUMENTS} answered document sets, and there are "
            f"{report.documents}.{numbers}{human}"
        ), None
    if reasons := _shortfalls(report):
        return f"No{scope}: {' and '.join(reasons)}.{numbers}{human}", False
    is_over = accuracy.low >= RIGHT_AT_LEAST and bias.low >= -MOVES_AT_MOST and bias.high <= MOVES_AT_MOST
    if not is_over:
        open_end = f"the intervals do not show whether it meets {BAR}"
    elif accuracy.low <= commonest_share(report):
        open_end = "the majority baseline may be as accurate"
    else:
        return f"Yes{scope}: it meets {BAR}.{numbers}{human}", True
    return f"Not known yet{scope}: {open_end}.{numbers}{human}", None


def _score_of(basis: AnswerBasis) -> str:
    return " and ".join(SIDE_SCORES[Check.Side(side)] for side in basis.sides)


def _scope(basis: AnswerBasis) -> str:
    """For which score, and on which checks alone, what is said holds."""
    score = _score_of(basis)
    if basis.is_representative:
        return f" for {score}" if score else ""
    checks = f" for the {score} checks" if score else " for the checks"
    if basis.kind == "open":
        return f"{checks} answered so far"
    if basis.kind == "uneven":
        chosen = " or chosen by people" if basis.others else ""
        return f"{checks} sampled with unequal probabilities{chosen}"
    return f"{checks} that people answered, which are not a random sample"


def _shortfalls(report: JudgeReport) -> list[str]:
    """What rules a judge out: each over the whole interval."""
    accuracy, bias = report.accuracy, report.bias
    reasons = []
    if accuracy.high is not None and accuracy.high < RIGHT_AT_LEAST:
        reasons.append(f"its accuracy is below {in_percent(RIGHT_AT_LEAST)}")
    if accuracy.high is not None and accuracy.high < commonest_share(report):
        reasons.append("the majority baseline is more accurate")
    if bias.low is not None and bias.low > MOVES_AT_MOST:
        reasons.append(f"it says yes over {100 * MOVES_AT_MOST:.0f} points more often than people")
    if bias.high is not None and bias.high < -MOVES_AT_MOST:
        reasons.append(f"it says yes over {100 * MOVES_AT_MOST:.0f} points less often than people")
    return reasons


def commonest_share(report: JudgeReport) -> float:
    """How often people's commoner answer, yes or not yes, would be right alone, over what the judge answered."""
    scored = [counts for row, counts in report.confusion.items() if row != "unscored"]
    yes = sum(counts["yes"] for counts in scored)
    total = sum(sum(counts.values()) for counts in scored)
    return max(yes, total - yes) / total if total else 0.0


def favour_in_words(systems: Sequence[SplitPart]) -> str:
    """Whether the judge favours a system, as far as tests of its bias tell; empty where there is none to compare."""
    known = [(part, part.bias.value) for part in systems if part.bias.value is not None]
    if len(known) < FEWEST_SYSTEMS:
        return ""
    sets = max(part.documents for part, _ in known)
    questions = 1 if len(known) == FEWEST_SYSTEMS else len(known)
    if 2 * questions / 2**sets > APART:
        return f"Whether it favours a system cannot be told: {sets} document sets are too few."
    sure = [
        f"“{part.name}” ({_points(bias)} points, p = {_p(part.bias_p)})"
        for part, bias in sorted(known, key=lambda each: -each[1])
        if part.bias_p is not None and part.bias_p < APART
    ]
    if sure:
        return f"Its bias differs between systems and can change their order: {', '.join(sure)}."
    low, high = (_points(end([bias for _, bias in known])) for end in (min, max))
    return (
        f"Whether it favours a system is not known: its bias is {low} to {high} points by system, and no system "
        "differs significantly from the others."
    )


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
        return f"{first} and {second} have no checks in common."
    same = f"On {_checks(checks)} that people and both answered, "
    if difference == 0:
        return f"{same}{first} and {second} are equally accurate."
    better, worse = (first, second) if difference > 0 else (second, first)
    points = f"{100 * abs(difference):.1f} points"
    if p < APART:
        return f"{same}{better} is more accurate than {worse} by {points} (p = {_p(p)})."
    return f"{same}{better} is ahead of {worse} by {points}; the difference is not significant (p = {_p(p)})."


def _numbers(report: JudgeReport) -> str:
    return (
        f" Accuracy is {_share(report.accuracy)} on {_checks(report.scored)} in {report.documents:,} "
        f"document set{'' if report.documents == 1 else 's'}; the majority baseline is "
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
    return (
        f" Two people agree in {share} of pairs of answers over {_checks(compared)}, counting unsure as no."
    )


def _share(estimate: Estimate) -> str:
    if estimate.low is None or estimate.high is None:
        return in_percent(estimate.value)
    return f"{in_percent(estimate.value)} ({in_percent(estimate.low)} to {in_percent(estimate.high)})"


def _points(value: float) -> str:
    return f"{100 * value:+.1f}".replace("-", "−")


def _checks(count: int) -> str:
    return "1 check" if count == 1 else f"{count:,} checks"


def _p(p: float) -> str:
    return "under 0.001" if p < 0.0005 else f"{p:.3f}"
