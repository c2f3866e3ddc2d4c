"""A judge's verdicts compared with people's answers to the same checks, and with its own second verdicts."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import TypeVar

import numpy as np

from evaluation._guards import check_same_length
from evaluation._labels import LABELS, Label, checked_labels
from evaluation.statistics._agreement import cohen_kappa
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
"""The indices of the figures that are shares."""

LENGTHS: Mapping[str, Callable[[int], bool]] = {
    "up to 8 words": lambda words: words <= 8,
    "9 to 16 words": lambda words: 8 < words <= 16,
    "more than 16 words": lambda words: words > 16,
}
"""The ranges of a claim's number of words, by name."""

Part = TypeVar("Part", bound=Hashable)


@dataclass(frozen=True, slots=True)
class JudgeReport:
    """A judge compared with people, over the checks that people answered.

    `confusion[judge][human]` counts checks, with the judge's yes, no, unsure or unscored. All other figures count
    unsure as not yes, for the judge and for people, as scores do. The figures except `answered` ignore unscored checks.
    `checks` counts the checks that people answered, `scored` those of them that the judge answered, and `documents`
    their documents.

    - `answered`: share of the checks that the judge answered
    - `accuracy`: share of the answered checks on which the judge agrees with people
    - `kappa`: accuracy beyond chance (see `cohen_kappa`)
    - `sensitivity`: among checks with people's yes, the share with the judge's yes
    - `specificity`: among checks with people's not-yes, the share with the judge's not-yes
    - `precision`: among checks with the judge's yes, the share with people's yes
    - `bias`: the judge's share of yes minus people's share of yes
    - `left_out`: number of checks without a person's answer
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

    Checks without a person's answer are ignored and counted. `documents` names the document of each check. Without it,
    single checks are resampled, which makes intervals too narrow if a document has several checks. The checks must not
    have been selected by the judge's verdict, otherwise figures are biased. Raises LengthMismatch, InvalidLabel,
    InvalidPercent for a confidence outside 0 to 1, EvaluationError for fewer than one resample. Example: people answer
    yes, yes, no and no; the judge answers yes, unsure, no and no. Its accuracy is 3/4, its sensitivity 1/2, its
    specificity 1 and its bias -1/4.
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
    """Make a `judge_report` for each part of the checks, such as each system, length, side or type of claim.

    `parts` names the part of each check; the reports are in the order of its first occurrence. Documents may belong
    to several parts, so the reports of two parts are not independent.
    Raises the errors of `judge_report`.
    Example: people answer yes, no and no, the judge yes, no and yes, and the parts are `a`, `a` and `b`. The judge's
    accuracy is 1 in `a` and 0 in `b`.
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
    """Compute the columns of `_FIGURES` from counts: all checks, scored, judge's yes, people's yes, yes of both."""
    checks, scored, judge_yes, human_yes, both = sums.T
    neither = scored - judge_yes - human_yes + both
    # Kappa's expected disagreement: two independent answers with the frequencies of each side differ if exactly one
    # is yes.
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


@dataclass(frozen=True, slots=True)
class SelfAgreement:
    """A judge's first answers compared with its second answers to the same checks.

    `flips` is the share of checks whose label changed, in [0, 1], with an interval that resamples documents. `by_label`
    has this share by first label, and `by_length` by range of the claim's number of words. `kappa_ceiling` is a limit
    of the kappa with people that such a judge can reach: the square root of the kappa between its first and second
    answers. It is 0 if that kappa is negative, None if it is undefined.
    """

    checks: int
    flips: Estimate
    by_label: dict[str, Estimate]
    by_length: dict[str, Estimate]
    kappa_ceiling: float | None


def self_agreement(
    first: Sequence[Label],
    second: Sequence[Label],
    words: Sequence[int],
    documents: Sequence[Hashable],
) -> SelfAgreement:
    """Compute the share of checks whose label changes between a judge's two answers to the same check.

    `words` has the number of words of each check's claim, and `documents` the document of each check.

    Source of `kappa_ceiling`: Spearman, "The proof and measurement of association between two things", 1904. The
    correlation of a measure with another measure is at most the square root of the first measure's reliability.
    Raises LengthMismatch.
    Example: the first answers are yes, yes, no, no and the second yes, no, no, no. One of 4 labels changes, so the
    value of `flips` is 1/4; among the 2 first answers yes it is 1/2. The kappa of first and second answers is 1/2, so
    `kappa_ceiling` is sqrt(1/2) = .707.
    """
    for name, column in (("second", second), ("words", words), ("documents", documents)):
        check_same_length("first", first, name, column)

    def share(is_part: Callable[[int], bool]) -> Estimate:
        places = [place for place in range(len(first)) if is_part(place)]
        rows = np.array([(1, first[place] != second[place]) for place in places], dtype=np.float64)
        where, width = places_of([documents[place] for place in places])
        sums = sums_by(where, width, rows.reshape(-1, 2))
        return estimates(sums, lambda of: of[:, 1:] / of[:, :1], shares=(0,))[0]

    kappa = cohen_kappa(first, second)
    return SelfAgreement(
        checks=len(first),
        flips=share(lambda _: True),
        by_label={label: share(lambda at: first[at] == label) for label in sorted(set(first))},  # noqa: B023 - called at once
        by_length={
            name: share(lambda at: holds(words[at]))  # noqa: B023 - called at once
            for name, holds in LENGTHS.items()
            if any(map(holds, words))
        },
        kappa_ceiling=None if kappa is None else sqrt(max(0.0, kappa)),
    )
