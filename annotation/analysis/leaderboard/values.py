"""Choose the value of each score for all systems of a table."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db.models import Exists, OuterRef, Q

from annotation.analysis.estimates.estimates import EstimateTable
from annotation.analysis.leaderboard.averages import compared_by
from annotation.analysis.leaderboard.ranking import listed
from annotation.models import SCORE_SIDES, SCORES, Check, CoverageJudgment, Verdict
from annotation.models.judgment import COUNTING
from annotation.sampling.queries.check_samples import eligible

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from annotation.analysis.leaderboard.averages import Average
    from annotation.models import Project

Scores = Mapping[str, "Average"]

OTHER_VALUES: Mapping[str, Mapping[str, str]] = {
    "coverage": {
        "coverage_human": "people only",
        "coverage_pooled": "estimate, systems together",
        "coverage_estimate": "estimate, system alone",
        "coverage_blend": "judge + corrections",
        "coverage_judge": "judge only",
    },
    "alignment": {
        "alignment_pooled": "estimate, systems together",
        "alignment_estimate": "estimate, system alone",
        "alignment_blend": "judge + corrections",
    },
}
"""The possible values of a score: the name in a row, and the name on screen."""
VERSIONS: Mapping[str, str] = {name: words for each in OTHER_VALUES.values() for name, words in each.items()}
ESTIMATED = ("_estimate", "_pooled")
"""The ends of the names of estimates."""
RANKABLE = tuple(name for name in SCORES if name not in (*VERSIONS, "human_share"))
"""The scores by which systems can be ranked, besides own criteria and the own composite."""

FROM_TEXTS = ("brevity", "completeness", "redundancy")
OF_BOTH = ("factual_alignment", "summarization")
OF_COVERAGE = (
    "coverage",
    "coverage_judge",
    "claim_coverage",
    "composite_1",
    "composite_2_3",
    "composite_custom",
)
SAMPLED_FOR: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(SCORES, ()),
    **dict.fromkeys(OF_COVERAGE, ("coverage",)),
    **dict.fromkeys(OF_BOTH, ("coverage", "alignment")),
    "alignment": ("alignment",),
}
"""The scores whose random samples check the judge's part in a score; empty if no sample can check it."""
DECIDED_WITH_COVERAGE = ("coverage", "composite_1", "composite_2_3", "composite_custom")

DOCUMENTS_ONLY = "With many more documents like these, a score would be within its interval (95 %)."
WITHOUT_JUDGE = "The intervals leave out the judge's mistakes, so they are too narrow."
WITH_JUDGE = "The intervals show what people would answer on all claims of many more such documents (95 %)"
RATED = "The intervals show how people would rate the summaries of many more such documents (95 %)."
OF_THESE = "The intervals show what people would answer on all claims of exactly these documents (95 %)"
IN_GENERAL = "; they miss it more often for a system that the judge favours"


@dataclass(frozen=True, slots=True)
class Basis:
    """The source of a score's values, the same for all systems of a table.

    - `column`: the key of the value that is shown, such as `coverage_estimate`
    - `name`: the source in words, such as "judge + corrections"; may be ""
    - `caption`: a sentence about the scope of the value's intervals
    - `is_unchecked`: True if the value comes from a judge without the figures of a check
    - `answered`, `right`: for a checked judge, the number of sampled answers of people, and the number on which the
      judge was right; otherwise 0
    """

    column: str
    name: str
    caption: str
    is_unchecked: bool = False
    right: int = 0
    answered: int = 0

    @property
    def judged_by(self) -> str:
        """Describe the judge whose answers give the value; "" if nothing is known of a judge."""
        if self.is_unchecked:
            return "an unchecked judge"
        return (
            f"a judge that was right on {self.right:,} of {self.answered:,} sampled claims"
            if self.answered
            else ""
        )

    @property
    def is_estimate(self) -> bool:
        """True if the value is an estimate from a random sample, direct or pooled."""
        return self.column.endswith(ESTIMATED)

    @property
    def direct(self) -> str:
        """The column of the direct estimates if the shown ones are pooled; "" otherwise."""
        score, _, version = self.column.rpartition("_")
        return f"{score}_estimate" if version == "pooled" else ""


def bases_of(
    project: Project,
    target_words: int | None,
    found: Mapping[str, Scores],
    estimates: Mapping[str, EstimateTable],
) -> dict[str, Basis]:
    """Choose the source of every score of a table.

    `found` has the averages by system, and `estimates` the estimates by score.
    """
    made = _Chooser(project, target_words, found, estimates)
    versions = {name: Basis(name, words, WITHOUT_JUDGE) for name, words in VERSIONS.items()}
    for score in OTHER_VALUES:
        for name in (f"{score}_estimate", f"{score}_pooled"):
            versions[name] = Basis(name, VERSIONS[name], _estimated(estimates.get(score), name))
    versions["coverage_human"] = Basis("coverage_human", VERSIONS["coverage_human"], DOCUMENTS_ONLY)
    return {**{name: made.basis(name) for name in (*RANKABLE, "human_share")}, **versions}


def basis_of_own(
    name: str, sources: frozenset[str], estimate: EstimateTable | None, systems: Iterable[str]
) -> Basis:
    """Return the source of the values of an own criterion.

    The source is the estimate if it has an interval for every one of `systems`. Otherwise it is people, the judge, or
    both, if any.
    """
    if estimate is not None and all(estimate.average(system).low is not None for system in systems):
        return Basis(f"{name}_estimate", f"estimated from {estimate.answers:,} ratings", RATED)
    if "judge" not in sources:
        return Basis(name, "people" if sources else "", DOCUMENTS_ONLY)
    by = "judge + corrections" if "people" in sources else "judge only, unchecked"
    return Basis(name, by, WITHOUT_JUDGE, is_unchecked=True)


def basis_of_composite(name: str, parts: Sequence[Basis], *, has_judge: bool) -> Basis:
    """Return the source of a composite of scores with these sources. A composite never uses estimates.

    An estimated part counts as the judge's answers with corrections, or without `has_judge` as people's answers.
    """
    blend = (
        Basis(name, "judge + corrections", WITHOUT_JUDGE)
        if has_judge
        else Basis(name, "people's answers so far", DOCUMENTS_ONLY)
    )
    parts = [blend if part.is_estimate else part for part in parts]
    words = {part.name for part in parts} - {""}
    if len(words) > 1:
        words = {
            "judge + corrections" if any("judge" in each for each in words) else "people's answers so far"
        }
    covered = DOCUMENTS_ONLY if all(part.caption == DOCUMENTS_ONLY for part in parts) else WITHOUT_JUDGE
    return Basis(name, "".join(words), covered, any(part.is_unchecked for part in parts))


class _Chooser:
    def __init__(
        self,
        project: Project,
        target_words: int | None,
        found: Mapping[str, Scores],
        estimates: Mapping[str, EstimateTable],
    ) -> None:
        self._project, self._target, self._estimates = project, target_words, estimates
        self._compared = {
            score: {
                system: found[system]
                for system in compared_by({each: of[score] for each, of in found.items()})
            }
            for score in RANKABLE
        }
        covered = self._compared["coverage"].values()
        self._is_corrected = any(scores["human_share"].mean for scores in covered)
        self._is_decided = bool(covered) and all(
            scores["human_share"].n == scores["coverage"].n
            and math.isclose(scores["human_share"].mean or 0.0, 1.0)
            for scores in covered
        )
        self._people = {score: self._is_census(score) for score in SCORE_SIDES}

    def basis(self, score: str) -> Basis:
        if score in FROM_TEXTS:
            return Basis(score, "", DOCUMENTS_ONLY)
        if score == "human_share":
            return Basis(score, "people", DOCUMENTS_ONLY)
        if self._people.get(score):
            return Basis(score, "people", DOCUMENTS_ONLY)
        estimate = self._estimates.get(score)
        if (
            estimate is not None
            and self._compared[score]
            and all(estimate.average(system).low is not None for system in self._compared[score])
        ):
            column = f"{score}_pooled" if estimate.pooled else f"{score}_estimate"
            alone = (
                f" Too far from the judge's averages: {listed(estimate.misfits)}." if estimate.misfits else ""
            )
            caption = f"{_estimated(estimate, column)}{alone}"
            return Basis(column, f"estimated from {estimate.answers:,} answers", caption)
        return self._blend(score)

    def _blend(self, score: str) -> Basis:
        if score in DECIDED_WITH_COVERAGE and self._is_decided:
            name = "people" if self._people["coverage"] else "people, not all blind"
            return Basis(score, name, DOCUMENTS_ONLY)
        if self._project.deciding_judge_id is None:
            return Basis(score, "people's answers so far", DOCUMENTS_ONLY)
        sampled = SAMPLED_FOR[score]
        is_unchecked = not sampled or any(not self._estimates[side].sample_id for side in sampled)
        plain = "judge only, unchecked" if is_unchecked else "judge only"
        name = "judge + corrections" if any(map(self._has_corrections, sampled)) else plain
        if is_unchecked:
            return Basis(score, name, WITHOUT_JUDGE, is_unchecked=True)
        tables = [self._estimates[side] for side in sampled]
        right, answered = sum(each.right for each in tables), sum(each.answers for each in tables)
        return Basis(score, name, WITHOUT_JUDGE, right=right, answered=answered)

    def _has_corrections(self, score: str) -> bool:
        if score == "coverage":
            return self._is_corrected
        return self._checks(score).filter(human_label__isnull=False).exists()

    def _is_census(self, score: str) -> bool:
        checks = self._checks(score)
        if score == "alignment":
            unanswered = checks.filter(Q(human_label=None) | ~Exists(_blind()))
            return bool(self._compared[score]) and checks.exists() and not unanswered.exists()
        if not self._is_decided:
            return False
        seen = checks.filter(~Exists(_blind()), human_label__isnull=False)
        percents = CoverageJudgment.objects.filter(
            COUNTING,
            had_seen=True,
            comparison__summary__document_set__project=self._project,
            comparison__summary__target_words=self._target,
        )
        return not seen.exists() and not percents.exists()

    def _checks(self, score: str) -> QuerySet[Check]:
        checks = eligible(self._project, SCORE_SIDES[score])
        return checks.filter(summary__is_summary=True, summary__target_words=self._target)


def _estimated(estimate: EstimateTable | None, column: str) -> str:
    covered = OF_THESE if estimate and estimate.these_documents else WITH_JUDGE
    return f"{covered}{IN_GENERAL}." if column.endswith("_pooled") else f"{covered}."


def _blind() -> QuerySet[Verdict]:
    return Verdict.objects.filter(
        check_row=OuterRef("pk"), role=Verdict.Role.REVIEWER, had_seen=False, withdrawn_at=None
    )
