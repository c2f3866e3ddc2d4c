"""How far a judge can be trusted: its verdicts compared with people's answers to the same checks."""

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import scipy

from evaluation._guards import check_same_length, checked_share
from evaluation._labels import LABELS, Label, checked_labels
from evaluation.statistics._intervals import DEFAULT_CONFIDENCE
from evaluation.statistics._resampling import STATISTIC_DRAWS, Estimate, Floats, estimates, places_of, sums_by
from evaluation.statistics.judges._calibration import DEFAULT_BINS, CalibrationCurve, calibration_curve
from evaluation.statistics.systems._significance import PERMUTATION_DRAWS, permutation_test

UNSCORED = "unscored"
JUDGE_ROWS: tuple[str, ...] = (*LABELS, UNSCORED)
HUMAN_COLUMNS: tuple[str, ...] = LABELS

_FIGURES = ("answered", "accuracy", "kappa", "sensitivity", "specificity", "precision", "bias", "brier")
# Which of them are shares of something, and not differences or squares.
_SHARES = [
    _FIGURES.index(name) for name in ("answered", "accuracy", "sensitivity", "specificity", "precision")
]

Part = TypeVar("Part", bound=Hashable)


@dataclass(frozen=True, slots=True)
class JudgeReport:
    """A judge against people, over the checks that people answered.

    `confusion[judge][human]` counts checks, the judge being yes, no, unsure or unscored. All else is what scores see:
    unsure counts as not yes on both sides, and checks that the judge left unscored are in `answered` alone. Intervals
    resample documents.

    answered: share of checks that the judge answered. accuracy: share of those where it was right. kappa: that beyond
    chance (see `cohen_kappa`). sensitivity: share of people's yes that it called yes. specificity: share of people's
    not-yes that it did not. precision: share of its yes that people share. bias: its share of yes less people's, which
    is by how much it moves a share of yes. brier: mean squared distance of its probability of yes from the answer, 0 to
    1, lower is better, over the `with_probability` checks. by_quantile and by_width: calibration curves of the same.
    left_out: checks that no person answered.
    """

    confusion: Mapping[str, Mapping[str, int]]
    checks: int
    scored: int
    documents: int
    left_out: int
    answered: Estimate
    accuracy: Estimate
    kappa: Estimate
    sensitivity: Estimate
    specificity: Estimate
    precision: Estimate
    bias: Estimate
    brier: Estimate
    with_probability: int
    by_quantile: CalibrationCurve
    by_width: CalibrationCurve


@dataclass(frozen=True, slots=True)
class JudgeComparison:
    """Two judges on the checks that people and both judges answered.

    `p` is McNemar's exact two-sided test, which takes checks as independent. `clustered_p` permutes whole documents,
    and is the one to go by where documents hold several checks; None where no documents were named. Both are None
    without checks. `left_out` counts the checks that some side left unanswered.
    """

    both_right: int
    only_first_right: int
    only_second_right: int
    both_wrong: int
    p: float | None
    clustered_p: float | None
    left_out: int

    @property
    def difference(self) -> float | None:
        """The first judge's accuracy less the second's; None without checks."""
        checks = self.both_right + self.only_first_right + self.only_second_right + self.both_wrong
        return (self.only_first_right - self.only_second_right) / checks if checks else None


def judge_report(
    judge: Sequence[Label | None],
    human: Sequence[Label | None],
    documents: Sequence[Hashable] | None = None,
    *,
    probabilities: Sequence[float | None] | None = None,
    bins: int = DEFAULT_BINS,
    confidence: float = DEFAULT_CONFIDENCE,
    draws: int = STATISTIC_DRAWS,
    seed: int = 0,
) -> JudgeReport:
    """How a judge's verdicts and its probabilities of yes compare with people's answers, check by check.

    Checks without a person's answer are left out and counted. `documents` names the document of each check; without
    it checks are resampled, which makes intervals too narrow where documents hold several. A probability counts where
    the judge gave a label. People's answers must not have been chosen by what the judge said, else every figure is off.
    Raises LengthMismatch, InvalidLabel; InvalidPercent for a probability or confidence outside 0 to 1; EvaluationError
    for fewer than one bin or draw.
    Example: of two yes and two no of people, a judge that says yes, unsure, no and no has an accuracy of 3/4, a
    sensitivity of 1/2, a specificity of 1 and a bias of -1/4.
    """
    given = [None] * len(judge) if probabilities is None else probabilities
    names: Sequence[Hashable] = range(len(judge)) if documents is None else documents
    check_same_length("judge", judge, "human", human)
    check_same_length("judge", judge, "documents", names)
    check_same_length("judge", judge, "probabilities", given)
    answered = [
        (said, answer, name, None if said is None or p is None else checked_share("A probability", p))
        for said, answer, name, p in zip(
            checked_labels(judge), checked_labels(human), names, given, strict=True
        )
        if answer is not None
    ]
    labels = [said for said, _, _, _ in answered]
    answers = [answer for _, answer, _, _ in answered]
    of_document = [name for _, _, name, _ in answered]
    chances = [p for _, _, _, p in answered]
    places, width = places_of(of_document)
    found = estimates(
        sums_by(places, width, _columns(labels, answers, chances)),
        _figures,
        shares=_SHARES,
        confidence=confidence,
        draws=draws,
        seed=seed,
    )
    quantile, equal = (
        calibration_curve(
            chances,
            [answer == "yes" for answer in answers],
            of_document,
            bins=bins,
            binning=binning,
            confidence=confidence,
            draws=draws,
            seed=seed,
        )
        for binning in ("quantile", "width")
    )
    return JudgeReport(
        confusion=_confusion(labels, answers),
        checks=len(answered),
        scored=len(labels) - labels.count(None),
        documents=width,
        left_out=len(judge) - len(answered),
        **dict(zip(_FIGURES, found, strict=True)),
        with_probability=len(chances) - chances.count(None),
        by_quantile=quantile,
        by_width=equal,
    )


def judge_reports(
    judge: Sequence[Label | None],
    human: Sequence[Label | None],
    parts: Sequence[Part],
    documents: Sequence[Hashable] | None = None,
    *,
    probabilities: Sequence[float | None] | None = None,
    bins: int = DEFAULT_BINS,
    confidence: float = DEFAULT_CONFIDENCE,
    draws: int = STATISTIC_DRAWS,
    seed: int = 0,
) -> dict[Part, JudgeReport]:
    """`judge_report` of each part by itself: of each system, length, side or type of claim.

    `parts` names the part of each check. In order of first occurrence. Documents lie in several parts at once, so the
    reports of two parts are not independent. Errors as `judge_report`.
    Example: where people say yes, no and no and the judge yes, no and yes, of the parts `a`, `a` and `b`, its accuracy
    is 1 in `a` and 0 in `b`.
    """
    check_same_length("judge", judge, "parts", parts)
    names: Sequence[Hashable] = range(len(judge)) if documents is None else documents
    given = [None] * len(judge) if probabilities is None else probabilities
    for other, column in (("human", human), ("documents", names), ("probabilities", given)):
        check_same_length("judge", judge, other, column)
    members: dict[Part, list[int]] = {}
    for place, part in enumerate(parts):
        members.setdefault(part, []).append(place)
    return {
        part: judge_report(
            [judge[place] for place in places],
            [human[place] for place in places],
            [names[place] for place in places],
            probabilities=[given[place] for place in places],
            bins=bins,
            confidence=confidence,
            draws=draws,
            seed=seed,
        )
        for part, places in members.items()
    }


def compare_judges(
    first: Sequence[Label | None],
    second: Sequence[Label | None],
    human: Sequence[Label | None],
    documents: Sequence[Hashable] | None = None,
    *,
    draws: int = PERMUTATION_DRAWS,
    seed: int = 0,
) -> JudgeComparison:
    """Is one of two judges, or versions of a prompt, right more often on the same checks?

    A judge is right where it says yes and the person does, or neither does; unsure counts as not yes. Checks that
    either judge or the person left unanswered are left out and counted. Judges that are right on the same checks give
    p = 1. The clustered test exchanges the two judges in whole documents: it is of the difference over all checks, so a
    document counts by its checks (see `permutation_test`).
    Raises LengthMismatch, InvalidLabel, EvaluationError for fewer than one draw.
    Source: McNemar, Note on the sampling error of the difference between correlated proportions, 1947, in its exact
    binomial form.
    Example: of ten checks on which just one of the two is right, the first is on nine: p = 2 * 11 / 1024 = 0.0215.
    """
    names: Sequence[Hashable] = range(len(first)) if documents is None else documents
    for other, column in (("second", second), ("human", human), ("documents", names)):
        check_same_length("first", first, other, column)
    columns = zip(*(checked_labels(side) for side in (first, second, human)), names, strict=True)
    rights = [
        ((one == "yes") == (answer == "yes"), (two == "yes") == (answer == "yes"), name)
        for one, two, answer, name in columns
        if one is not None and two is not None and answer is not None
    ]
    only_first = sum(one and not two for one, two, _ in rights)
    only_second = sum(two and not one for one, two, _ in rights)
    # By documents, how many more checks the first is right on.
    leads: dict[Hashable, float] = defaultdict(float)
    for one, two, name in rights:
        leads[name] += one - two
    clustered = permutation_test(list(leads.values()), [0.0] * len(leads), draws=draws, seed=seed)
    apart = only_first + only_second
    exact = min(1.0, 2 * float(scipy.special.bdtr(min(only_first, only_second), apart, 0.5)))
    return JudgeComparison(
        both_right=sum(one and two for one, two, _ in rights),
        only_first_right=only_first,
        only_second_right=only_second,
        both_wrong=sum(not one and not two for one, two, _ in rights),
        p=exact if rights else None,
        clustered_p=None if documents is None else clustered.p,
        left_out=len(first) - len(rights),
    )


def _confusion(labels: Sequence[Label | None], answers: Sequence[Label]) -> dict[str, dict[str, int]]:
    confusion = {row: dict.fromkeys(HUMAN_COLUMNS, 0) for row in JUDGE_ROWS}
    for said, answer in zip(labels, answers, strict=True):
        confusion[said or UNSCORED][answer] += 1
    return confusion


def _columns(
    labels: Sequence[Label | None], answers: Sequence[Label], chances: Sequence[float | None]
) -> Floats:
    """Per check: one, both yes, judge alone yes, human alone yes, neither, has a probability, its squared error."""
    scored = np.array([label is not None for label in labels], dtype=np.bool_)
    said = np.array([label == "yes" for label in labels], dtype=np.bool_)
    true = np.array([answer == "yes" for answer in answers], dtype=np.bool_)
    has = np.array([chance is not None for chance in chances], dtype=np.bool_)
    chance = np.array([chance or 0.0 for chance in chances], dtype=np.float64)
    columns = [
        np.ones(len(labels)),
        scored & said & true,
        scored & said & ~true,
        scored & ~said & true,
        scored & ~said & ~true,
        has,
        np.where(has, (chance - true) ** 2, 0.0),
    ]
    return np.column_stack(columns).astype(np.float64)


def kappa_of_counts(checks: Floats, people: Floats, judge: Floats, wrong: Floats) -> Floats:
    """Cohen's kappa of so many yes of people, yes of the judge, and differences; nan where chance leaves none."""
    # Disagreement by chance: one says yes where the other, by its own habits, does not.
    expected = judge * (checks - people) + people * (checks - judge)
    kappa: Floats = np.where(expected > 0, 1 - checks * wrong / expected, np.nan)
    return kappa


def _figures(sums: Floats) -> Floats:
    """A column each, in the order of `_FIGURES`."""
    checks, both, judge_alone, human_alone, neither, has, squares = sums.T
    scored = both + judge_alone + human_alone + neither
    judge_yes, human_yes = both + judge_alone, both + human_alone
    return np.column_stack(
        [
            scored / checks,
            (both + neither) / scored,
            kappa_of_counts(scored, human_yes, judge_yes, judge_alone + human_alone),
            both / human_yes,
            neither / (scored - human_yes),
            both / judge_yes,
            (judge_alone - human_alone) / scored,
            squares / has,
        ]
    )
