"""Compare a judge's verdicts with people's answers to the same checks."""

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from evaluation._guards import check_same_length
from evaluation._labels import LABELS, Label, checked_labels
from evaluation.statistics._resampling import (
    DEFAULT_CONFIDENCE,
    STATISTIC_DRAWS,
    Estimate,
    Floats,
    estimates,
    places_of,
    sums_by,
)

UNSCORED = "unscored"
JUDGE_ROWS: tuple[str, ...] = (*LABELS, UNSCORED)
HUMAN_COLUMNS: tuple[str, ...] = LABELS

_FIGURES = ("answered", "accuracy", "sensitivity", "specificity", "precision", "kappa", "bias")
_SHARES = range(5)
"""The indices of figures that are shares, not differences or squares."""

Part = TypeVar("Part", bound=Hashable)


@dataclass(frozen=True, slots=True)
class JudgeReport:
    """A judge compared with people, over the checks that people answered.

    `confusion[judge][human]` counts checks, with the judge's yes, no, unsure or unscored. All other figures treat
    unsure as not yes on both sides, as scores do, and unscored checks count only in `answered`. Intervals resample
    documents.
    answered: share of checks that the judge answered. accuracy: share of those that it answered correctly. kappa:
    accuracy beyond chance (see `cohen_kappa`). sensitivity: share of people's yes that it answered yes.
    specificity: share of people's not-yes that it answered not yes. precision: share of its yes with people's yes.
    bias: its share of yes minus people's, the shift of a share of yes. left_out: checks without a person's answer.
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
    """Compare a judge's verdicts with people's answers, check by check.

    Checks without a person's answer are left out and counted. `documents` names the document of each check; without
    it checks are resampled, which makes intervals too narrow if documents have several. People's answers must not
    have been chosen by the judge's verdict, otherwise every figure is biased.
    Raises LengthMismatch, InvalidLabel, InvalidPercent for a confidence outside 0 to 1, EvaluationError for fewer
    than one resample.
    Example: of two yes and two no of people, a judge that says yes, unsure, no and no has an accuracy of 3/4, a
    sensitivity of 1/2, a specificity of 1 and a bias of -1/4.
    """
    names: Sequence[Hashable] = range(len(judge)) if documents is None else documents
    check_same_length("judge", judge, "human", human)
    check_same_length("judge", judge, "documents", names)
    confusion = {row: dict.fromkeys(HUMAN_COLUMNS, 0) for row in JUDGE_ROWS}
    rows, clusters = [], []
    for said, answer, name in zip(checked_labels(judge), checked_labels(human), names, strict=True):
        if answer is not None:
            confusion[said or UNSCORED][answer] += 1
            rows.append(
                (
                    1,
                    said is not None,
                    said == "yes",
                    answer == "yes" and said is not None,
                    said == answer == "yes",
                )
            )
            clusters.append(name)
    places, width = places_of(clusters)
    sums = sums_by(places, width, np.array(rows, dtype=np.float64).reshape(-1, 5))
    found = estimates(sums, _figures, shares=_SHARES, confidence=confidence, draws=draws, seed=seed)
    return JudgeReport(
        confusion=confusion,
        checks=len(rows),
        scored=len(rows) - sum(confusion[UNSCORED].values()),
        documents=width,
        left_out=len(judge) - len(rows),
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
    """`judge_report` for each part separately, such as each system, length, side or type of claim.

    `parts` names the part of each check; the reports are in the order of its first occurrence. Documents may
    belong to several parts, so the reports of two parts are not independent.
    Raises as `judge_report`.
    Example: if people say yes, no and no and the judge yes, no and yes, with the parts `a`, `a` and `b`,
    its accuracy is 1 in `a` and 0 in `b`.
    """
    names: Sequence[Hashable] = range(len(judge)) if documents is None else documents
    for other, column in (("parts", parts), ("human", human), ("documents", names)):
        check_same_length("judge", judge, other, column)
    members: dict[Part, list[int]] = defaultdict(list)
    for place, part in enumerate(parts):
        members[part].append(place)

    def of(places: Sequence[int]) -> JudgeReport:
        said, true = ([column[place] for place in places] for column in (judge, human))
        documents = [names[place] for place in places]
        return judge_report(said, true, documents, confidence=confidence, draws=draws, seed=seed)

    return {part: of(places) for part, places in members.items()}


def _figures(sums: Floats) -> Floats:
    """The columns of `_FIGURES` from counts of checks: all, scored, the judge's yes, people's yes, both yes."""
    checks, scored, judge_yes, human_yes, both = sums.T
    neither = scored - judge_yes - human_yes + both
    # Two independent answers differ if one is yes and the other is not; the frequencies are those of each
    # side.
    expected = judge_yes * (scored - human_yes) + human_yes * (scored - judge_yes)
    wrong = judge_yes + human_yes - 2 * both
    return np.column_stack(
        [
            scored / checks,
            (both + neither) / scored,
            both / human_yes,
            neither / (scored - human_yes),
            both / judge_yes,
            np.where(expected > 0, 1 - scored * wrong / expected, np.nan),
            (judge_yes - human_yes) / scored,
        ]
    )
