"""The scores of a summary from a judge's answers, with their reasons."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from evaluation._labels import (
    FEW_CLAIMS,
    FEWEST_CLAIMS,
    LEAST_SCORED,
    MOSTLY_UNSCORED,
    Label,
    LabelCounts,
    count_labels,
)
from evaluation._means import mean, weighted_mean
from evaluation.judging.protocol import (
    CoverReading,
    DocumentReading,
    ExtractedClaim,
    JudgedClaim,
    Question,
    Rating,
    Verdict,
    is_worded,
)
from evaluation.metrics._alignment import alignment, factual_alignment
from evaluation.metrics._brevity import brevity
from evaluation.metrics._completeness import completeness
from evaluation.metrics._conciseness import conciseness
from evaluation.metrics._coverage import claim_coverage
from evaluation.metrics._criteria import Criterion
from evaluation.metrics._explained import explained_completeness, explained_redundancy, explained_topics
from evaluation.metrics._questions import question_coverage_or_none, scored_pairs
from evaluation.metrics._summarization import summarization
from evaluation.running._cases import Case, Metric
from evaluation.running._results import EvaluationDetails, JudgedQuestion, JudgedTopic
from evaluation.text._lengths import count_words, has_word_breaks

EMPTY_DOCUMENT = "The document is empty."
EMPTY_SUMMARY = "The summary is empty."
EMPTY_REFERENCE = "The reference is empty."

_ALIGNMENT_NAMES = frozenset({"alignment", "factual_consistency", "faithfulness"})
_MOST_NAMED = 3
_LONGEST_NAMED = 160

_J = TypeVar("_J")


@dataclass(slots=True)
class Facts:
    """The judge's answers about one summary. If a part failed, `faults` has the reason."""

    reading: DocumentReading = field(default_factory=DocumentReading)
    aligned: tuple[JudgedClaim, ...] | None = ()
    covered: CoverReading | None = field(default_factory=CoverReading)
    faults: dict[str, str] = field(default_factory=dict)
    ratings: dict[str, Rating] = field(default_factory=dict)


class Scores:
    """`passed` and `flags` are set while the scores are computed."""

    def __init__(self, case: Case, facts: Facts) -> None:
        self.case = case
        self.facts = facts
        self.passed: bool | None = None
        self.flags: tuple[str, ...] = ()
        self._missing_elements: tuple[str, ...] = ()
        self._claims: tuple[JudgedClaim, ...] | None = self._judged("claims", JudgedClaim)
        self._topics: tuple[JudgedTopic, ...] | None = self._judged("topics", JudgedTopic)
        self._questions: tuple[JudgedQuestion, ...] | None = self._judged("questions", _judged_question)
        self._parts: dict[str, tuple[float | None, str]] = {}
        found = {name: self._part(name) for name in case.options.metrics} | {
            criterion.name: self._own_rating(criterion) for criterion in case.options.criteria
        }
        self.values = {name: value for name, (value, _) in found.items()}
        self.reasons = {
            name: reason
            for name, (value, reason) in found.items()
            if case.options.include_reason or value is None
        }

    @property
    def counts(self) -> dict[str, int]:
        """Count the requested claims, questions and topics by kind: all items, items with yes, and unscored items. A
        kind without verdicts is absent, and so is each kind if the summary is blank.
        """
        options = self.case.options
        kinds: dict[str, tuple[bool, list[Label | None] | None]] = {
            "reference_claims": (options.needs_claims, _labels(self._claims)),
            "summary_claims": (options.needs_alignment, _labels(self.facts.aligned)),
            "questions": (options.asks_questions, _labels(self._questions)),
            "topics": (options.wants("topic_preservation"), _labels(self._topics)),
        }
        counts: dict[str, int] = {}
        for kind, (is_asked, labels) in kinds.items():
            if is_asked and labels is not None and not self.case.summary.is_blank:
                counts[kind] = len(labels)
                counts[f"{kind}_yes"] = labels.count("yes")
                counts[f"{kind}_unscored"] = labels.count(None)
        return counts

    def details(self) -> EvaluationDetails:
        """Return the verdicts and ratings, and the missing elements."""
        return EvaluationDetails(
            self._claims or (),
            self.facts.aligned or (),
            self._questions or (),
            self._topics or (),
            self.facts.ratings,
            self._missing_elements,
        )

    def _part(self, name: Metric) -> tuple[float | None, str]:
        known = "alignment" if name in _ALIGNMENT_NAMES else name
        if known not in self._parts:
            self._parts[known] = getattr(self, f"_{known}")()
        return self._parts[known]

    def _judged(self, part: str, pair: Callable[[Any, Verdict], _J]) -> tuple[_J, ...] | None:
        """None if items or verdicts are missing."""
        items, covered = getattr(self.facts.reading, part), self.facts.covered
        return None if items is None or covered is None else tuple(map(pair, items, getattr(covered, part)))

    # `_part` finds the method of a metric by its name.

    def _coverage(self) -> tuple[float | None, str]:
        value, reason = self._part("claim_coverage")
        given = self.case.item.claims
        if value is not None and given and self._claims:
            shares = [count_labels([judged.verdict.label]).share_of_yes for judged in self._claims]
            return weighted_mean(shares, [each.weight for each in given]), reason
        if value is None or self.case.reference is None or not self._claims:
            return value, reason
        by_unit: dict[int, list[Label | None]] = {}
        for judged in self._claims:
            by_unit.setdefault(judged.claim.unit, []).append(judged.verdict.label)
        return mean(count_labels(labels).share_of_yes for labels in by_unit.values()), reason

    def _claim_coverage(self) -> tuple[float | None, str]:
        if self.case.summary.is_blank:
            return 0.0, EMPTY_SUMMARY
        if nothing := self._nothing_to_cover():
            return None, nothing
        if self._claims is None:
            return None, self._fault("claims")
        if not self._claims:
            self.flags = (*self.flags, "no_claims")
            return 1.0, "There are no claims to cover."
        if len(self._claims) < FEWEST_CLAIMS:
            self.flags = (*self.flags, FEW_CLAIMS)
        whose = "document" if self.case.reference is None else "reference"
        labels = [judged.verdict.label for judged in self._claims]
        if lacking := self._lacks_scored(count_labels(labels), f"claims of the {whose}"):
            return None, f"{lacking} {_first_reason([judged.verdict for judged in self._claims], '')}".strip()
        value = claim_coverage(labels)
        return value, _counted(f"claims of the {whose} are expressed", "Not expressed", self._claims)

    def _nothing_to_cover(self) -> str:
        if self.case.item.claims is not None:
            return ""
        reference = self.case.reference
        text = self.case.document if reference is None else reference
        if text.is_blank:
            return EMPTY_DOCUMENT if reference is None else EMPTY_REFERENCE
        whose = "document" if reference is None else "reference"
        return "" if is_worded(text.text) else f"The {whose} contains no words."

    def _alignment(self) -> tuple[float | None, str]:
        if self.case.summary.is_blank:
            return None, EMPTY_SUMMARY
        aligned = self.facts.aligned
        if aligned is None:
            return None, self._fault("alignment")
        if not aligned:
            return None, "The summary makes no claims."
        labels = [judged.verdict.label for judged in aligned]
        if lacking := self._lacks_scored(count_labels(labels), "claims of the summary"):
            return None, f"{lacking} {_first_reason([judged.verdict for judged in aligned], '')}".strip()
        value = alignment(labels)
        return value, _counted("claims of the summary are supported", "Not supported", aligned)

    def _factual_alignment(self) -> tuple[float | None, str]:
        (covered, _), (aligned, _) = self._part("claim_coverage"), self._part("alignment")
        value = factual_alignment(covered, aligned)
        if value is None or covered is None or aligned is None:
            return None, self._lacking({"claim_coverage": covered, "alignment": aligned})
        return value, f"Harmonic mean of claim coverage {covered:.2f} and alignment {aligned:.2f}."

    def _question_coverage(self) -> tuple[float | None, str]:
        if not self.case.options.asks_questions:
            return None, "No questions were asked."
        if self.case.summary.is_blank:
            return 0.0, EMPTY_SUMMARY
        if self._questions is None:
            return None, self._fault("questions")
        counting = [judged for judged in self._questions if judged.source.label == "yes"]
        sources = [judged.source.label for judged in self._questions]
        summaries = [judged.summary.label for judged in self._questions]
        scored, count = scored_pairs(sources, summaries)
        if lacking := self._lacks_scored(LabelCounts(0, scored, count - scored), "questions"):
            return None, lacking
        value = question_coverage_or_none(sources, summaries)
        if value is None:
            return None, _first_reason(
                [judged.source for judged in self._questions] + [judged.summary for judged in counting],
                "No question is answered yes by the document.",
            )
        judged = [JudgedClaim(ExtractedClaim(each.text, 0), each.summary) for each in counting]
        return value, _counted(
            "questions that the document answers yes are answered yes", "Not answered", judged
        )

    def _summarization(self) -> tuple[float | None, str]:
        options = self.case.options
        by: Metric = "question_coverage" if options.asks_questions else "claim_coverage"
        parts = {"alignment": self._part("alignment"), by: self._part(by)}
        result = summarization(
            parts["alignment"][0],
            parts[by][0],
            threshold=options.threshold,
            strict=options.strict,
            scale=options.scale,
        )
        self.passed = result.passed
        if result.score is None:
            return None, self._lacking({name: value for name, (value, _) in parts.items()})
        return result.score, " ".join([result.reason, *(reason for _, reason in parts.values())])

    def _completeness(self) -> tuple[float | None, str]:
        item = self.case.item
        self._missing_elements = tuple(
            completeness(item.document, item.summary, item.language).missing_elements
        )
        return explained_completeness(item.document, item.summary, item.language)

    def _conciseness(self) -> tuple[float | None, str]:
        rating = self._rating("conciseness")
        item = self.case.item
        value = conciseness(item.document, item.summary, rating.value, item.language)
        if value is None:
            countable = has_word_breaks(item.document) and has_word_breaks(item.summary)
            missing = rating.reason if rating.value is None else EMPTY_DOCUMENT
            return None, missing if countable else "Words cannot be counted in this script."
        words, source_words = count_words(item.summary), count_words(item.document)
        said = f" {rating.reason}" if rating.reason else ""
        return value, f"{words} words of {source_words}; rated {rating.value:.2f}.{said}"

    def _topic_preservation(self) -> tuple[float | None, str]:
        if self.case.summary.is_blank:
            return 0.0, EMPTY_SUMMARY
        if self._topics is None:
            return None, self._fault("topics")
        verdicts = [judged.verdict for judged in self._topics]
        labels = [verdict.label for verdict in verdicts]
        self._lacks_scored(count_labels(labels), "topics")
        return explained_topics(
            [judged.text for judged in self._topics],
            labels,
            least_scored=self.case.options.least_scored,
            why=_first_reason(verdicts, "There are no topics."),
        )

    def _redundancy(self) -> tuple[float | None, str]:
        if self.case.summary.is_blank:
            return None, EMPTY_SUMMARY
        return explained_redundancy(self.case.item.summary, self.case.item.language)

    def _coherence(self) -> tuple[float | None, str]:
        rating = self._rating("coherence")
        return rating.value, rating.reason

    def _brevity(self) -> tuple[float | None, str]:
        target, item = self.case.options.target_words, self.case.item
        if target is None:
            return None, "No target length was given."
        if not has_word_breaks(item.summary):
            return None, "Words cannot be counted in this script."
        words = count_words(item.summary)
        return brevity(words, target), f"{words} words of a target of {target}."

    def _lacks_scored(self, counts: LabelCounts, what: str) -> str:
        """Return the reason if some items are scored, but too few; otherwise "". Also sets the flag for few scored
        items.
        """
        least = self.case.options.least_scored
        # If nothing is scored, the score is None and has its own reason.
        if (
            counts.scored
            and counts.lacks_scored(max(least, LEAST_SCORED))
            and MOSTLY_UNSCORED not in self.flags
        ):
            self.flags = (*self.flags, MOSTLY_UNSCORED)
        if not counts.scored or not counts.lacks_scored(least):
            return ""
        count = counts.scored + counts.unscored
        return f"{counts.scored} of {count} {what} are scored, less than the least share of {least:g}."

    def _rating(self, name: str) -> Rating:
        if self.case.summary.is_blank:
            return Rating(None, EMPTY_SUMMARY)
        return self.facts.ratings.get(name, Rating(None, self._fault("ratings")))

    def _own_rating(self, criterion: Criterion) -> tuple[float | None, str]:
        if self.case.summary.is_blank:
            return None, EMPTY_SUMMARY
        missing = EMPTY_DOCUMENT if criterion.reads == "source" else "There is no reference."
        rating = self.facts.ratings.get(criterion.name, Rating(None, missing))
        return None if rating.value is None else criterion.share(rating.value), rating.reason

    def _fault(self, part: str) -> str:
        return self.facts.faults.get(part, "Unscored: the judge was not asked.")

    def _lacking(self, parts: Mapping[Metric, float | None]) -> str:
        lacking = [name for name, value in parts.items() if value is None]
        return " ".join(f"No {name.replace('_', ' ')}: {self._part(name)[1]}" for name in lacking)


def _judged_question(question: Question, answer: Verdict) -> JudgedQuestion:
    return JudgedQuestion(question.text, question.answer, answer)


def _labels(judged: Sequence[JudgedClaim | JudgedQuestion | JudgedTopic] | None) -> list[Label | None] | None:
    if judged is None:
        return None
    return [each.summary.label if isinstance(each, JudgedQuestion) else each.verdict.label for each in judged]


def _counted(what: str, otherwise: str, judged: Sequence[JudgedClaim]) -> str:
    counts = count_labels(each.verdict.label for each in judged)
    if not counts.scored:
        return _first_reason([each.verdict for each in judged], "Nothing was scored.")
    counted = f"{counts.yes} of {counts.scored} {what}."
    if counts.unscored:
        counted += f" {counts.unscored} unscored."
    failing = [each for each in judged if each.verdict.label not in ("yes", None)]
    named = [
        f'"{_short(each.claim.text)}"' + (f" ({_short(each.verdict.reason)})" if each.verdict.reason else "")
        for each in failing[:_MOST_NAMED]
    ]
    more = len(failing) - len(named)
    if more > 0:
        named.append(f"{more} more")
    return f"{counted} {otherwise}: {'; '.join(named)}." if named else counted


def _first_reason(verdicts: Sequence[Verdict], otherwise: str) -> str:
    return next(
        (verdict.reason for verdict in verdicts if verdict.label is None and verdict.reason), otherwise
    )


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST_NAMED else f"{text[:_LONGEST_NAMED].rstrip()}…"
