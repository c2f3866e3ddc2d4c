"""What comes out of an evaluation."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from evaluation.judging.protocol import JudgedClaim, Rating, RatingName, Usage, Verdict


@dataclass(frozen=True, slots=True)
class JudgedQuestion:
    """A closed question with its answers from the source and from the summary alone."""

    text: str
    source: Verdict
    summary: Verdict


@dataclass(frozen=True, slots=True)
class JudgedTopic:
    """A main topic of the source and whether the summary deals with it."""

    text: str
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class EvaluationDetails:
    """Everything behind the scores: each claim, question and topic with its verdict, evidence and reason."""

    reference_claims: tuple[JudgedClaim, ...] = ()
    summary_claims: tuple[JudgedClaim, ...] = ()
    questions: tuple[JudgedQuestion, ...] = ()
    topics: tuple[JudgedTopic, ...] = ()
    ratings: Mapping[RatingName, Rating] = field(default_factory=dict)
    missing_elements: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SummaryEvaluation:
    """The scores of one summary.

    `scores` has every metric asked for, None where nothing can be said; `reasons` why, for each metric.
    `passed` is whether summarization reaches the threshold. `counts` are of claims, questions and topics:
    how many, how many of them yes, how many unscored. `flags`: `empty_peer`, `no_claims`. `usage` is what was
    paid for this summary now: what a store held costs nothing, and what depends on the document alone stands
    with the summary that asked for it first. `explanation` is the judge's own, where it was asked for.
    """

    scores: Mapping[str, float | None]
    reasons: Mapping[str, str]
    passed: bool | None
    counts: Mapping[str, int]
    flags: tuple[str, ...]
    signature: str
    usage: Usage = field(default_factory=Usage)
    details: EvaluationDetails | None = None
    explanation: str | None = None
    key: str | None = None

    def __getitem__(self, metric: str) -> float | None:
        return self.scores[metric]
