"""How far a judge can be trusted: its verdicts compared with people's answers to the same checks."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from evaluation._guards import check_same_length
from evaluation._labels import LABELS, Label, checked_labels
from evaluation.statistics._intervals import DEFAULT_CONFIDENCE
from evaluation.statistics._resampling import STATISTIC_DRAWS, Estimate, Floats, estimates, places_of, sums_by

UNSCORED = "unscored"
JUDGE_ROWS: tuple[str, ...] = (*LABELS, UNSCORED)
HUMAN_COLUMNS: tuple[str, ...] = LABELS

_FIGURES = ("answered", "accuracy", "kappa", "sensitivity", "specificity", "precision", "bias")
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
    is by how much it moves a share of yes. left_out: checks that no person answered.
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


def judge_report(
    judge: Sequence[Label | None],
    human: Sequence[Label | None],
    documents: Sequence[Hashable] | None = None,
    *,
    confidence: float = DEFAULT_CONFIDENCE,
    draws: int = STATISTIC_DRAWS,
    seed: int = 0,
) -> JudgeReport:
    """How a judge's verdicts compare with people's answers, check by check.

    Checks without a person's answer are left out and counted. `documents` names the document of each check; without
    it checks are resampled, which makes intervals too narrow where documents hold several. People's
    answers must not have been chosen by what the judge said, else every figure is off.
    Raises LengthMismatch, InvalidLabel, InvalidPercent for a confidence outside 0 to 1, EvaluationError for fewer than
    one draw.
    Example: of two yes and two no of people, a judge that says yes, unsure, no and no has an accuracy of 3/4, a
    sensitivity of 1/2, a specificity of 1 and a bias of -1/4.
    """
    names: Sequence[Hashable] = range(len(judge)) if documents is None else documents
    check_same_length("judge", judge, "human", human)
    check_same_length("judge", judge, "documents", names)
    answered = [
        (said, answer, name)
        for said, answer, name in zip(checked_labels(judge), checked_labels(human), names, strict=True)
        if answer is not None
    ]
    labels = [said for said, _, _ in answered]
    answers = [answer for _, answer, _ in answered]
    places, width = places_of([name for _, _, name in answered])
    found = estimates(
        sums_by(places, width, _columns(labels, answers)),
        _figures,
        shares=_SHARES,
        confidence=confidence,
        draws=draws,
        seed=seed,
    )
    return JudgeReport(
        confusion=_confusion(labels, answers),
        checks=len(answered),
        scored=len(labels) - labels.count(None),
        documents=width,
        left_out=len(judge) - len(answered),
        **dict(zip(_FIGURES, found, strict=True)),
    )


def judge_reports(
    judge: Sequence[Label | None],
    human: Sequence[Label | None],
    parts: Sequence[Part],
    documents: Sequence[Hashable] | None = None,
    *,
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
    for other, column in (("human", human), ("documents", names)):
        check_same_length("judge", judge, other, column)
    members: dict[Part, list[int]] = {}
    for place, part in enumerate(parts):
        members.setdefault(part, []).append(place)
    return {
        part: judge_report(
            [judge[place] for place in places],
            [human[place] for place in places],
            [names[place] for place in places],
            confidence=confidence,
            draws=draws,
            seed=seed,
        )
        for part, places in members.items()
    }


def _confusion(labels: Sequence[Label | None], answers: Sequence[Label]) -> dict[str, dict[str, int]]:
    confusion = {row: dict.fromkeys(HUMAN_COLUMNS, 0) for row in JUDGE_ROWS}
    for said, answer in zip(labels, answers, strict=True):
        confusion[said or UNSCORED][answer] += 1
    return confusion


def _columns(labels: Sequence[Label | None], answers: Sequence[Label]) -> Floats:
    """Per check: one, both yes, judge alone yes, human alone yes, neither."""
    scored = np.array([label is not None for label in labels], dtype=np.bool_)
    said = np.array([label == "yes" for label in labels], dtype=np.bool_)
    true = np.array([answer == "yes" for answer in answers], dtype=np.bool_)
    columns = [
        np.ones(len(labels)),
        scored & said & true,
        scored & said & ~true,
        scored & ~said & true,
        scored & ~said & ~true,
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
    checks, both, judge_alone, human_alone, neither = sums.T
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
        ]
    )
