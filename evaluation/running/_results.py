"""The results of an evaluation."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from evaluation._labels import Label
from evaluation.judging.protocol import JudgedClaim, Rating, Usage, Verdict


@dataclass(frozen=True, slots=True)
class JudgedQuestion:
    """A closed question, answered once from the source and once from the summary."""

    text: str
    source: Verdict
    summary: Verdict


@dataclass(frozen=True, slots=True)
class JudgedTopic:
    """A main topic of the source, with a verdict on whether the summary mentions it."""

    text: str
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class EvaluationDetails:
    """Claims, questions and topics with their verdicts, ratings, and missing elements."""

    reference_claims: tuple[JudgedClaim, ...] = ()
    summary_claims: tuple[JudgedClaim, ...] = ()
    questions: tuple[JudgedQuestion, ...] = ()
    topics: tuple[JudgedTopic, ...] = ()
    ratings: Mapping[str, Rating] = field(default_factory=dict)
    missing_elements: tuple[str, ...] = ()

    def analysis(self) -> list[str]:
        """Return lines of text that list the claims, questions and topics with their verdicts."""
        return [
            *_listed("Detailed Claim Analysis", "COVERED", "MISSING", _labelled(self.reference_claims)),
            *_listed(
                "Detailed Alignment Analysis", "SUPPORTED", "UNSUPPORTED", _labelled(self.summary_claims)
            ),
            *_listed(
                "Detailed Question Analysis",
                "ANSWERED",
                "NOT ANSWERED",
                [(each.text, each.summary.label) for each in self.questions],
            ),
            *_listed(
                "Topics", "COVERED", "MISSING", [(each.text, each.verdict.label) for each in self.topics]
            ),
        ]


def _labelled(judged: Sequence[JudgedClaim]) -> list[tuple[str, Label | None]]:
    return [(each.claim.text, each.verdict.label) for each in judged]


_CLAIM_COUNTS = {
    "reference_claims_count": "reference_claims",
    "claims_in_summary_count": "reference_claims_yes",
    "summary_claims_count": "summary_claims",
    "supported_claims_count": "summary_claims_yes",
}
"""The names of counts in Assert LLM Tools, with the names here."""
CLAIMS_ANALYSIS = "claims_analysis"


@dataclass(frozen=True, slots=True)
class SummaryEvaluation(Mapping[str, Any]):
    """The scores of a summary. As a mapping, it iterates over the scores that are not None, and the counts of claims.

    `result["coverage"]` is None if there is no score; then `result.items()` does not contain it. With `verbose`,
    `result["claims_analysis"]` lists each claim of the reference (or document) and whether the summary covers it.

    - `scores`: every requested metric and criterion; None if there is no score
    - `reasons`: a reason for each metric and criterion; with `include_reason=False`, only for those without a score
    - `passed`: the `passed` of `summarization`; None if it was not requested
    - `counts`: for claims, questions and topics, the number of all, of yes and of unscored items; a kind that was not
      requested or not found is absent
    - `flags`: `empty_summary`, `no_claims`, `few_claims` and `mostly_unscored`
    - `usage`: the calls, tokens and cost of this summary. Answers from a store cost nothing. A request that needs only
      the document is counted at the first summary that uses it.
    - `served_models`: the model names that the judge's servers reported, also in stored calls
    """

    scores: Mapping[str, float | None]
    reasons: Mapping[str, str]
    passed: bool | None
    counts: Mapping[str, int]
    flags: tuple[str, ...]
    signature: str
    usage: Usage = field(default_factory=Usage)
    served_models: tuple[str, ...] = ()
    details: EvaluationDetails | None = None
    key: str | None = None

    def __getitem__(self, name: str) -> Any:
        if name in _CLAIM_COUNTS:
            return self.counts[_CLAIM_COUNTS[name]]
        if name == CLAIMS_ANALYSIS and self.details is not None:
            return [
                {"claim": judged.claim.text, "is_covered": judged.verdict.label == "yes"}
                for judged in self.details.reference_claims
            ]
        return self.scores[name]

    def __contains__(self, name: object) -> bool:
        is_listed = name == CLAIMS_ANALYSIS and self.details is not None
        return is_listed or name in self.scores or _CLAIM_COUNTS.get(str(name)) in self.counts

    def __iter__(self) -> Iterator[str]:
        yield from (name for name, value in self.scores.items() if value is not None)
        yield from (name for name, count in _CLAIM_COUNTS.items() if count in self.counts)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def verbose_text(self) -> str:
        """Format the scores and their parts for printing, with the verdicts if `verbose` was set.

        Example: `print(evaluate_summary(document, summary, judge=judge, verbose=True).verbose_text())`.
        """
        lines = [
            f"{_title(name)}: {'unscored' if value is None else f'{value:.4f}'}"
            for name, value in self.scores.items()
        ]
        for kind, (whole, yes, no) in _STEPS.items():
            if count := self.counts.get(kind):
                found, unscored = self.counts[f"{kind}_yes"], self.counts[f"{kind}_unscored"]
                lines += [f"{whole}: {count}", f"{yes}: {found}", f"{no}: {count - found - unscored}"]
                lines += [f"Unscored: {unscored}"] * bool(unscored)
        if self.details is not None:
            lines += self.details.analysis()
        return "\n".join(lines)


_STEPS = {
    "reference_claims": ("Reference claims", "Claims in summary", "Missing claims"),
    "summary_claims": ("Summary claims", "Supported claims", "Unsupported claims"),
    "questions": ("Questions", "Answered yes by the summary", "Not answered yes"),
    "topics": ("Topics", "Topics in summary", "Missing topics"),
}
"""The names in `verbose_text` of the counts of each kind: all, yes, and not yes."""


def _title(name: str) -> str:
    return name.replace("_", " ").capitalize()


def _listed(heading: str, yes: str, no: str, judged: Sequence[tuple[str, Label | None]]) -> list[str]:
    if not judged:
        return []
    marks = {"yes": f"✓ {yes}", None: "? UNSCORED"}
    lines = [
        f"{number}. {marks.get(label, f'✗ {no}')}: {text}"
        for number, (text, label) in enumerate(judged, start=1)
    ]
    return ["", f"{heading}:", *lines]
