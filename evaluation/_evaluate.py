"""Whole evaluations: from texts and a judge to scores, with at most two calls per summary beside one per document."""

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Literal, TypeAlias, TypeVar, cast, get_args

from evaluation._alignment import alignment, factual_alignment
from evaluation._brevity import brevity
from evaluation._completeness import completeness
from evaluation._conciseness import conciseness
from evaluation._coverage import claim_coverage
from evaluation._guards import checked_share
from evaluation._labels import Label, count_labels
from evaluation._means import mean
from evaluation._questions import question_coverage_or_none
from evaluation._redundancy import redundancy, repeated_sentences
from evaluation._signature import signature
from evaluation._summarization import summarization
from evaluation._text import count_words, has_word_breaks
from evaluation._topics import topic_preservation
from evaluation.errors import EvaluationError, InvalidBudget, InvalidWeight, JudgeError
from evaluation.judging import _sync
from evaluation.judging.errors import JudgeRefused
from evaluation.judging.protocol import (
    CoverReading,
    CoverRequest,
    DocumentReading,
    DocumentRequest,
    ExtractedClaim,
    Json,
    Judge,
    JudgedClaim,
    Rating,
    RatingName,
    Text,
    Usage,
    Verdict,
    metered,
)

Metric = Literal[
    "coverage",
    "claim_coverage",
    "alignment",
    "factual_consistency",
    "faithfulness",
    "factual_alignment",
    "question_coverage",
    "summarization",
    "completeness",
    "conciseness",
    "topic_preservation",
    "redundancy",
    "coherence",
    "brevity",
]
METRICS: tuple[Metric, ...] = get_args(Metric)
DEFAULT_METRICS: tuple[Metric, ...] = ("coverage", "alignment", "question_coverage", "summarization")
Reasons: TypeAlias = bool | Literal["judge"]

_ALIGNMENT_NAMES = frozenset({"alignment", "factual_consistency", "faithfulness"})
_MOST_NAMED = 3
_LONGEST_NAMED = 160
_MOST_DOCUMENTS_KEPT = 1000
_EMPTY_DOCUMENT = "The document is empty."
_EMPTY_SUMMARY = "The summary is empty."

_R = TypeVar("_R")


@dataclass(frozen=True, slots=True)
class SummaryInput:
    """One summary to evaluate.

    `reference` is the model summary that content is measured against; without one it is the document.
    `questions` and `target_words` override those given for all. `key` is the caller's own name for it.
    """

    document: str
    summary: str
    reference: str | None = None
    questions: Sequence[str] | None = None
    target_words: int | None = None
    language: str = "en"
    key: str | None = None


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


def evaluate_summary(
    document: str,
    summary: str,
    *,
    judge: Judge,
    reference: str | None = None,
    metrics: Sequence[str] = DEFAULT_METRICS,
    questions: Sequence[str] | None = None,
    n_questions: int = 5,
    target_words: int | None = None,
    language: str = "en",
    custom_instruction: str | None = None,
    threshold: float = 0.5,
    strict: bool = False,
    scale: float = 1.0,
    include_reason: Reasons = True,
    verbose: bool = False,
) -> SummaryEvaluation:
    """The scores of one summary by the metrics asked for.

    Scores lie in [0, 1] (summarization in [0, scale]), higher is better, None where nothing can be said.
    `coverage` is the mean over the reference's sentences of the share of their claims that the summary
    expresses, and without a reference the share of the document's claims, as is `claim_coverage` always.
    `alignment` (`factual_consistency` and `faithfulness` are other names) is held against the document
    itself. `questions` are closed ones that a good summary answers yes; without them the judge makes up
    `n_questions`, none where that is 0. `summarization` is the lower of alignment and question coverage,
    where questions were asked, else claim coverage. `brevity` needs `target_words`. `custom_instruction`
    is added to whatever the judge is told. `include_reason` gives reasons made from the verdicts; "judge" also
    asks the judge for an explanation, one more call. `verbose` adds every verdict as `.details`.

    An answer that the judge failed to give is unscored with its reason, never 0. An empty summary covers
    nothing and has no alignment; the judge is not asked. Also works where an event loop is running, and waits
    there.
    Raises EvaluationError for options that cannot be, JudgeRefused where the judge turns us away.
    Source: the coverage family of Assert LLM Tools and the summarization metrics of DeepEval and Mastra.
    Example: `evaluate_summary(document, summary, judge=LexicalJudge())["coverage"]`.
    """
    item = SummaryInput(document, summary, reference, target_words=target_words, language=language)
    _checked_input(item)
    return evaluate_summaries(
        [item],
        judge=judge,
        metrics=metrics,
        questions=questions,
        n_questions=n_questions,
        custom_instruction=custom_instruction,
        threshold=threshold,
        strict=strict,
        scale=scale,
        include_reason=include_reason,
        verbose=verbose,
    )[0]


def evaluate_summaries(
    items: Iterable[SummaryInput | tuple[str, str] | tuple[str, str, str | None]],
    *,
    judge: Judge,
    metrics: Sequence[str] = DEFAULT_METRICS,
    questions: Sequence[str] | None = None,
    n_questions: int = 5,
    target_words: int | None = None,
    custom_instruction: str | None = None,
    threshold: float = 0.5,
    strict: bool = False,
    scale: float = 1.0,
    include_reason: Reasons = True,
    verbose: bool = False,
    on_result: Callable[[int, SummaryEvaluation], None] | None = None,
) -> tuple[SummaryEvaluation, ...]:
    """The scores of many summaries, in their order; `on_result` gets each with its position as it is ready.

    Items are `SummaryInput`s, or pairs of document and summary with or without a reference. What depends on a
    document alone is asked once, however many summaries it has. Options are those of `evaluate_summary`. A
    summary that cannot be evaluated has no scores and the reasons; it costs no other its result. Nothing is
    left running after an error or an interrupt. With a store a run that was cut off goes on where it stopped.
    Raises EvaluationError for options that cannot be, JudgeRefused where the judge turns us away.
    Example: `evaluate_summaries([(document, one), (document, other)], judge=LexicalJudge())`.
    """
    results: dict[int, SummaryEvaluation] = {}

    async def collected() -> None:
        stream = stream_evaluations(
            items,
            judge=judge,
            metrics=metrics,
            questions=questions,
            n_questions=n_questions,
            target_words=target_words,
            custom_instruction=custom_instruction,
            threshold=threshold,
            strict=strict,
            scale=scale,
            include_reason=include_reason,
            verbose=verbose,
        )
        try:
            async for position, result in stream:
                results[position] = result
                if on_result is not None:
                    on_result(position, result)
        finally:
            await stream.aclose()  # type: ignore[attr-defined]

    _sync.run(_sync.closing(judge, collected()))
    return tuple(results[position] for position in sorted(results))


async def stream_evaluations(
    items: Iterable[SummaryInput | tuple[str, str] | tuple[str, str, str | None]],
    *,
    judge: Judge,
    metrics: Sequence[str] = DEFAULT_METRICS,
    questions: Sequence[str] | None = None,
    n_questions: int = 5,
    target_words: int | None = None,
    custom_instruction: str | None = None,
    threshold: float = 0.5,
    strict: bool = False,
    scale: float = 1.0,
    include_reason: Reasons = True,
    verbose: bool = False,
) -> AsyncIterator[tuple[int, SummaryEvaluation]]:
    """Each summary's position and scores as they are ready: `evaluate_summaries` for asynchronous callers.

    The judge stays open. Leaving the loop early, with `aclose` or by cancellation, stops what is running.
    Example: `async for position, result in stream_evaluations(items, judge=judge): ...`.
    """
    options = _Options(
        metrics=_checked_metrics(metrics),
        questions=_checked_questions(questions),
        n_questions=n_questions,
        target_words=target_words,
        instruction=(custom_instruction or "").strip(),
        threshold=checked_share("The threshold", threshold),
        strict=strict,
        scale=scale,
        include_reason=include_reason,
        verbose=verbose,
    )
    ready: asyncio.Queue[tuple[int, SummaryEvaluation] | None] = asyncio.Queue()
    work = asyncio.create_task(_Evaluation(judge, options, ready.put_nowait).all(items))
    work.add_done_callback(lambda _: ready.put_nowait(None))
    try:
        while (result := await ready.get()) is not None:
            yield result
        await work
    finally:
        work.cancel()
        await asyncio.wait([work])
        if not work.cancelled():
            # Looked at, so that a failure which nobody waited for is not reported as lost.
            work.exception()


@dataclass(frozen=True, slots=True)
class _Options:
    metrics: tuple[Metric, ...]
    questions: tuple[str, ...]
    n_questions: int
    target_words: int | None
    instruction: str
    threshold: float
    strict: bool
    scale: float
    include_reason: Reasons
    verbose: bool

    def __post_init__(self) -> None:
        if self.n_questions < 0:
            raise EvaluationError(f"n_questions must be at least 0, got {self.n_questions}.")
        if not 0 < self.scale < float("inf"):
            raise InvalidWeight(f"The scale must be a finite number above 0, got {self.scale!r}.")
        if self.include_reason not in (True, False, "judge"):
            raise EvaluationError(
                f"include_reason must be True, False or 'judge', got {self.include_reason!r}."
            )

    def wants(self, *names: Metric) -> bool:
        return any(name in self.metrics for name in names)

    @property
    def asks_questions(self) -> bool:
        """Whether questions are asked, given or made up."""
        can_ask = bool(self.questions or self.n_questions)
        return can_ask and self.wants("question_coverage", "summarization")

    @property
    def needs_claims(self) -> bool:
        """Whether the reference's claims are needed."""
        by_claims = self.wants("summarization") and not self.asks_questions
        return by_claims or self.wants("coverage", "claim_coverage", "factual_alignment")

    @property
    def needs_alignment(self) -> bool:
        """Whether the summary's own claims are needed."""
        return self.wants(
            "factual_alignment", "summarization", "alignment", "factual_consistency", "faithfulness"
        )

    @property
    def ratings(self) -> tuple[RatingName, ...]:
        """What the judge has to rate."""
        names: tuple[RatingName, ...] = ("coherence", "conciseness")
        return tuple(name for name in names if name in self.metrics)


@dataclass(frozen=True, slots=True)
class _Case:
    """One summary as it is judged, with the options that hold for it."""

    item: SummaryInput
    options: _Options
    document: Text
    summary: Text
    reference: Text | None

    @property
    def request(self) -> DocumentRequest:
        """What is wanted of the document."""
        options = self.options
        return DocumentRequest(
            self.document,
            self.reference if options.needs_claims else None,
            claims=options.needs_claims,
            questions=options.questions if options.asks_questions else (),
            n_questions=0 if options.questions or not options.asks_questions else options.n_questions,
            topics=options.wants("topic_preservation"),
            instruction=options.instruction,
        )


@dataclass(slots=True)
class _Facts:
    """What was found out about one summary; a part that failed is None and `faults` says why."""

    reading: DocumentReading = field(default_factory=DocumentReading)
    aligned: tuple[JudgedClaim, ...] | None = ()
    covered: CoverReading | None = field(default_factory=CoverReading)
    faults: dict[str, str] = field(default_factory=dict)


class _Evaluation:
    """One run over many summaries: its judge, its options, and what it knows of the documents."""

    def __init__(
        self, judge: Judge, options: _Options, emit: Callable[[tuple[int, SummaryEvaluation]], None]
    ) -> None:
        self._judge = judge
        self._options = options
        self._emit = emit
        self._text = lru_cache(maxsize=256)(Text.of)
        self._signature = lru_cache(maxsize=256)(self._signed)
        self._readings: OrderedDict[tuple[object, ...], asyncio.Task[tuple[DocumentReading | None, str]]] = (
            OrderedDict()
        )
        self._group = asyncio.TaskGroup()

    async def all(self, items: Iterable[object]) -> None:
        """Evaluate and emit them all, some at once."""
        waiting = iter(enumerate(items))
        # Some wait for what their document's first one asks; few, so that a run cut off has few half done.
        at_once = 2 * self._judge.concurrency
        try:
            async with self._group:
                for _ in range(at_once):
                    self._group.create_task(self._some(waiting))
        except BaseExceptionGroup as failures:
            raise _worst(failures) from None

    async def _some(self, waiting: Iterator[tuple[int, object]]) -> None:
        for position, item in waiting:
            self._emit((position, await self._one(item)))

    async def _one(self, item: object) -> SummaryEvaluation:
        try:
            case = self._case(item)
        except EvaluationError as error:
            return self._without_scores(item, str(error))
        with metered() as meter:
            result = await self._judged(case)
        return replace(result, usage=meter.usage)

    def _case(self, given: object) -> _Case:
        item = given if isinstance(given, SummaryInput) else _input_of(given)
        _checked_input(item)
        options = self._options
        if item.questions is not None:
            options = replace(options, questions=_checked_questions(item.questions))
        if item.target_words is not None:
            options = replace(options, target_words=item.target_words)
        reference = None if item.reference is None else self._text(item.reference, item.language)
        return _Case(
            item,
            options,
            self._text(item.document, item.language),
            Text.of(item.summary, item.language),
            reference,
        )

    async def _judged(self, case: _Case) -> SummaryEvaluation:
        facts = _Facts()
        flags: tuple[str, ...] = ("empty_peer",) if case.summary.is_blank else ()
        if not case.summary.is_blank:
            await self._ask(case, facts)
        scores = _Scores(case, facts)
        result = SummaryEvaluation(
            scores=scores.values,
            reasons=scores.reasons,
            passed=scores.passed,
            counts=scores.counts,
            flags=(*flags, *scores.flags),
            signature=self._signature(case.options),
            details=scores.details() if case.options.verbose else None,
            key=case.item.key,
        )
        if case.options.include_reason != "judge" or case.summary.is_blank:
            return result
        explained, fault = await _attempt(
            self._judge.explain(scores.told(), instruction=case.options.instruction)
        )
        return replace(result, explanation=explained or fault or None)

    async def _ask(self, case: _Case, facts: _Facts) -> None:
        """Both round trips: what the summary's claims are worth, and what the summary covers."""
        if case.options.needs_alignment:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._align(case, facts))
                await self._cover(case, facts)
        else:
            await self._cover(case, facts)

    async def _align(self, case: _Case, facts: _Facts) -> None:
        if case.document.is_blank:
            facts.aligned, facts.faults["alignment"] = None, _EMPTY_DOCUMENT
            return
        facts.aligned, fault = await _attempt(
            self._judge.align_summary(case.document, case.summary, instruction=case.options.instruction)
        )
        if facts.aligned is None:
            facts.faults["alignment"] = fault

    async def _cover(self, case: _Case, facts: _Facts) -> None:
        request = case.request
        if request.claims or request.questions or request.n_questions or request.topics:
            reading, fault = await self._read(case)
            if reading is None:
                reading = DocumentReading(
                    None, None, None, dict.fromkeys(("claims", "questions", "topics"), fault)
                )
            facts.reading = reading
        facts.faults.update(facts.reading.faults)
        asked = CoverRequest(
            case.summary,
            tuple(claim.text for claim in facts.reading.claims or ()),
            tuple(question.text for question in facts.reading.questions or ()),
            facts.reading.topics or (),
            case.options.ratings,
            case.options.instruction,
        )
        if asked.is_empty:
            return
        facts.covered, fault = await _attempt(self._judge.cover_summary(asked))
        if facts.covered is None:
            for part in ("claims", "questions", "topics", "ratings"):
                facts.faults.setdefault(part, fault)

    async def _read(self, case: _Case) -> tuple[DocumentReading | None, str]:
        """The document's reading, made once for all its summaries."""
        request = case.request
        if request.source.is_blank and (request.reference is None or not request.claims):
            return None, _EMPTY_DOCUMENT
        key = (
            case.item.document,
            case.item.language,
            case.item.reference,
            request.questions,
        )
        if key not in self._readings:
            if len(self._readings) >= _MOST_DOCUMENTS_KEPT:
                self._readings.popitem(last=False)
            self._readings[key] = self._group.create_task(_attempt(self._judge.read_document(request)))
        return await self._readings[key]

    def _without_scores(self, item: object, reason: str) -> SummaryEvaluation:
        names = self._options.metrics
        key = item.key if isinstance(item, SummaryInput) else None
        return SummaryEvaluation(
            dict.fromkeys(names),
            dict.fromkeys(names, reason),
            None,
            {},
            (),
            self._signature(self._options),
            key=key,
        )

    def _signed(self, options: _Options) -> str:
        return signature(
            metrics=",".join(options.metrics),
            judge=self._judge.signature,
            questions=_digest(options.questions) if options.questions else None,
            n_questions=0 if options.questions else options.n_questions,
            custom_instruction=_digest((options.instruction,)) if options.instruction else None,
            target_words=options.target_words,
            threshold=options.threshold,
            strict=options.strict,
            scale=options.scale,
        )


async def _attempt(work: Awaitable[_R]) -> tuple[_R | None, str]:
    """The result, or the reason why there is none; a judge that turns us away for good ends the run."""
    try:
        return await work, ""
    except JudgeRefused:
        raise
    except JudgeError as error:
        return None, f"Unscored: {error}"


def _worst(failures: BaseExceptionGroup[BaseException]) -> BaseException:
    """The failure that tells the caller most, out of nested groups of them."""
    flat = [
        _worst(failure) if isinstance(failure, BaseExceptionGroup) else failure
        for failure in failures.exceptions
    ]
    return min(flat, key=lambda failure: not isinstance(failure, JudgeRefused))


class _Scores:
    """The scores that follow from the facts, with their reasons."""

    def __init__(self, case: _Case, facts: _Facts) -> None:
        self.case = case
        self.facts = facts
        self.passed: bool | None = None
        self.flags: tuple[str, ...] = ()
        self._missing_elements: tuple[str, ...] = ()
        self._claims = self._judged_claims()
        self._questions = self._judged_questions()
        self._topics = self._judged_topics()
        self._parts: dict[str, tuple[float | None, str]] = {}
        self.values: dict[str, float | None] = {}
        self.reasons: dict[str, str] = {}
        for name in case.options.metrics:
            value, reason = self._part(name)
            self.values[name] = value
            if case.options.include_reason or value is None:
                self.reasons[name] = reason

    @property
    def counts(self) -> dict[str, int]:
        """How many claims, questions and topics there are, are yes, and are unscored."""
        kinds: dict[str, list[Label | None]] = {
            "reference_claims": [judged.verdict.label for judged in self._claims or ()],
            "summary_claims": [judged.verdict.label for judged in self.facts.aligned or ()],
            "questions": [judged.summary.label for judged in self._questions or ()],
            "topics": [judged.verdict.label for judged in self._topics or ()],
        }
        counts: dict[str, int] = {}
        for kind, labels in kinds.items():
            counts[kind] = len(labels)
            counts[f"{kind}_yes"] = labels.count("yes")
            counts[f"{kind}_unscored"] = labels.count(None)
        return counts

    def details(self) -> EvaluationDetails:
        """Every verdict behind the scores."""
        covered = self.facts.covered
        return EvaluationDetails(
            self._claims or (),
            self.facts.aligned or (),
            self._questions or (),
            self._topics or (),
            {} if covered is None else covered.ratings,
            self._missing_elements,
        )

    def told(self) -> dict[str, Json]:
        """What a judge needs to explain the scores."""
        told: dict[str, Json] = {"scores": self.values}
        for name, judged in (("reference_claims", self._claims), ("summary_claims", self.facts.aligned)):
            if judged:
                told[name] = [
                    {"claim": each.claim.text, "label": each.verdict.label, "reason": each.verdict.reason}
                    for each in judged
                ]
        if self._questions:
            told["questions"] = [
                {"question": each.text, "source": each.source.label, "summary": each.summary.label}
                for each in self._questions
            ]
        return told

    def _part(self, name: Metric) -> tuple[float | None, str]:
        known = "alignment" if name in _ALIGNMENT_NAMES else name
        if known not in self._parts:
            self._parts[known] = getattr(self, f"_{known}")()
        return self._parts[known]

    # What the judge's answers belong to

    def _judged_claims(self) -> tuple[JudgedClaim, ...] | None:
        claims, covered = self.facts.reading.claims, self.facts.covered
        if claims is None or covered is None:
            return None
        return tuple(map(JudgedClaim, claims, covered.claims))

    def _judged_questions(self) -> tuple[JudgedQuestion, ...] | None:
        questions, covered = self.facts.reading.questions, self.facts.covered
        if questions is None or covered is None:
            return None
        return tuple(
            JudgedQuestion(question.text, question.answer, answer)
            for question, answer in zip(questions, covered.questions, strict=True)
        )

    def _judged_topics(self) -> tuple[JudgedTopic, ...] | None:
        topics, covered = self.facts.reading.topics, self.facts.covered
        if topics is None or covered is None:
            return None
        return tuple(map(JudgedTopic, topics, covered.topics))

    # One method per metric, by its name

    def _coverage(self) -> tuple[float | None, str]:
        value, reason = self._part("claim_coverage")
        if self.case.reference is None or not self._claims:
            return value, reason
        by_unit: dict[int, list[Label | None]] = {}
        for judged in self._claims:
            by_unit.setdefault(judged.claim.unit, []).append(judged.verdict.label)
        return mean(count_labels(labels).share_of_yes for labels in by_unit.values()), reason

    def _claim_coverage(self) -> tuple[float | None, str]:
        if self.case.summary.is_blank:
            return 0.0, _EMPTY_SUMMARY
        if self._claims is None:
            return None, self._fault("claims")
        if not self._claims:
            self.flags = (*self.flags, "no_claims")
            return 1.0, "There are no claims to cover."
        value = claim_coverage(judged.verdict.label for judged in self._claims)
        whose = "document" if self.case.reference is None else "reference"
        return value, _told(f"claims of the {whose} are expressed", "Not expressed", self._claims)

    def _alignment(self) -> tuple[float | None, str]:
        if self.case.summary.is_blank:
            return None, _EMPTY_SUMMARY
        aligned = self.facts.aligned
        if aligned is None:
            return None, self._fault("alignment")
        if not aligned:
            return None, "The summary makes no claims."
        value = alignment(judged.verdict.label for judged in aligned)
        return value, _told("claims of the summary are supported", "Not supported", aligned)

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
            return 0.0, _EMPTY_SUMMARY
        if self._questions is None:
            return None, self._fault("questions")
        counting = [judged for judged in self._questions if judged.source.label == "yes"]
        value = question_coverage_or_none(
            [judged.source.label for judged in self._questions],
            [judged.summary.label for judged in self._questions],
        )
        if value is None:
            return None, _first_reason(
                [judged.source for judged in self._questions] + [judged.summary for judged in counting],
                "No question is answered yes by the document.",
            )
        judged = [JudgedClaim(ExtractedClaim(each.text, 0), each.summary) for each in counting]
        return value, _told(
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
        found = completeness(item.document, item.summary, item.language)
        self._missing_elements = tuple(found.missing_elements)
        return found.score, _listed("Every element is found.", "Missing", found.missing_elements)

    def _conciseness(self) -> tuple[float | None, str]:
        rating = self._rating("conciseness")
        item = self.case.item
        value = conciseness(item.document, item.summary, rating.value, item.language)
        if value is None:
            countable = has_word_breaks(item.document) and has_word_breaks(item.summary)
            missing = rating.reason if rating.value is None else _EMPTY_DOCUMENT
            return None, missing if countable else "Words cannot be counted in this script."
        words, source_words = count_words(item.summary), count_words(item.document)
        said = f" {rating.reason}" if rating.reason else ""
        return value, f"{words} words of {source_words}; rated {rating.value:.2f}.{said}"

    def _topic_preservation(self) -> tuple[float | None, str]:
        if self.case.summary.is_blank:
            return 0.0, _EMPTY_SUMMARY
        if self._topics is None:
            return None, self._fault("topics")
        value = topic_preservation(judged.verdict.label for judged in self._topics)
        if value is None:
            return None, _first_reason([judged.verdict for judged in self._topics], "There are no topics.")
        missing = [judged.text for judged in self._topics if judged.verdict.label in ("no", "unsure")]
        return value, _listed("Every topic is dealt with.", "Not dealt with", missing)

    def _redundancy(self) -> tuple[float | None, str]:
        item = self.case.item
        value = redundancy(item.summary, item.language)
        if value is None:
            return None, _EMPTY_SUMMARY
        return value, _listed(
            "Nothing is said twice.", "Said again", repeated_sentences(item.summary, item.language)
        )

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

    def _rating(self, name: RatingName) -> Rating:
        if self.case.summary.is_blank:
            return Rating(None, _EMPTY_SUMMARY)
        if self.facts.covered is None:
            return Rating(None, self._fault("ratings"))
        return self.facts.covered.ratings.get(name, Rating(None, self._fault("ratings")))

    def _fault(self, part: str) -> str:
        return self.facts.faults.get(part, "Unscored: the judge was not asked.")

    def _lacking(self, parts: Mapping[Metric, float | None]) -> str:
        lacking = [name for name, value in parts.items() if value is None]
        return " ".join(f"No {name.replace('_', ' ')}: {self._part(name)[1]}" for name in lacking)


def _told(what: str, otherwise: str, judged: Sequence[JudgedClaim]) -> str:
    """How many are yes, and the first of those that are not, with the judge's reasons."""
    counts = count_labels(each.verdict.label for each in judged)
    if not counts.scored:
        return _first_reason([each.verdict for each in judged], "Nothing is scored.")
    told = f"{counts.yes} of {counts.scored} {what}."
    if counts.unscored:
        told += f" {counts.unscored} unscored."
    failing = [each for each in judged if each.verdict.label in ("no", "unsure")]
    named = [
        f'"{_short(each.claim.text)}"' + (f" ({_short(each.verdict.reason)})" if each.verdict.reason else "")
        for each in failing[:_MOST_NAMED]
    ]
    more = len(failing) - len(named)
    if more > 0:
        named.append(f"{more} more")
    return f"{told} {otherwise}: {'; '.join(named)}." if named else told


def _listed(nothing: str, what: str, missing: Sequence[str]) -> str:
    if not missing:
        return nothing
    named = ", ".join(_short(each) for each in missing[: 3 * _MOST_NAMED])
    more = len(missing) - 3 * _MOST_NAMED
    return f"{what}: {named}{f' and {more} more' if more > 0 else ''}."


def _first_reason(verdicts: Sequence[Verdict], otherwise: str) -> str:
    return next(
        (verdict.reason for verdict in verdicts if verdict.label is None and verdict.reason), otherwise
    )


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST_NAMED else f"{text[:_LONGEST_NAMED].rstrip()}…"


def _checked_metrics(metrics: Sequence[str]) -> tuple[Metric, ...]:
    if isinstance(metrics, str):
        raise EvaluationError(f"metrics is a list of names, got one string; write [{metrics!r}].")
    if unknown := [name for name in metrics if name not in METRICS]:
        raise EvaluationError(f"Unknown metrics: {', '.join(unknown)}. Known: {', '.join(METRICS)}.")
    if not metrics:
        raise EvaluationError(f"No metrics are asked for. Known: {', '.join(METRICS)}.")
    return cast("tuple[Metric, ...]", tuple(dict.fromkeys(metrics)))


def _checked_questions(questions: Sequence[str] | None) -> tuple[str, ...]:
    if isinstance(questions, str):
        raise EvaluationError("questions is a list of questions, got one string; write [question].")
    return tuple(dict.fromkeys(questions or ()))


def _checked_input(item: SummaryInput) -> None:
    for name in ("document", "summary"):
        if not isinstance(getattr(item, name), str):
            raise EvaluationError(
                f"The {name} must be a text, got {type(getattr(item, name)).__name__}; an empty one is ''."
            )
    if item.target_words is not None and item.target_words < 1:
        raise InvalidBudget(f"A target length must be at least 1, got {item.target_words}.")


def _input_of(given: object) -> SummaryInput:
    if isinstance(given, tuple | list) and len(given) in (2, 3):
        return SummaryInput(*given)
    raise EvaluationError(
        "A summary to evaluate is a SummaryInput, or (document, summary) or (document, summary, reference); "
        f"got {type(given).__name__}."
    )


def _digest(texts: tuple[str, ...]) -> str:
    joined = "\0".join(texts).encode("utf-8", "surrogatepass")
    return hashlib.sha256(joined).hexdigest()[:8]
