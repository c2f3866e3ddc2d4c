"""Whole evaluations: from texts and a judge to scores, with at most two calls per summary beside one per document."""

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TypeVar, Unpack

from evaluation._labels import LEAST_SCORED
from evaluation._signature import signature
from evaluation.errors import EvaluationError, JudgeError
from evaluation.judging import _sync
from evaluation.judging.errors import JudgeRefused
from evaluation.judging.money import in_turn
from evaluation.judging.protocol import (
    CoverReading,
    CoverRequest,
    DocumentReading,
    ExtractedClaim,
    Judge,
    JudgedClaim,
    Text,
    Verdict,
    checked_judge,
    metered,
    one_pass,
)
from evaluation.running._cases import (
    DEFAULT_METRICS,
    Case,
    EvaluationOptions,
    GivenClaim,
    Options,
    Reasons,
    SummaryInput,
    checked_input,
    checked_items,
    checked_questions,
    input_of,
)
from evaluation.running._metrics import EMPTY_DOCUMENT, Facts, Scores
from evaluation.running._results import SummaryEvaluation

_MOST_DOCUMENTS_KEPT = 1000
UNSCORED = "Unscored: "
"""What the reason of a score begins with that is missing because the judge could not be asked."""
BY_PEOPLE = "Answered by people."

_R = TypeVar("_R")


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
    least_scored: float = LEAST_SCORED,
) -> SummaryEvaluation:
    """The scores of one summary by the metrics asked for, which `METRICS` describes.

    None where nothing can be said: an answer that the judge failed to give is unscored, never 0. Also works where an
    event loop is running, and waits there.
    - `questions`: closed ones that a good summary answers yes; without them the judge makes up `n_questions`.
    - `custom_instruction`: added to whatever the judge is told.
    - `include_reason`: reasons made from the verdicts; "judge" asks for an explanation too, one more call.
    - `verbose`: every verdict as `.details`.
    - `least_scored`: the share of claims or questions that the judge must answer usably; below it a score is None.
    Raises EvaluationError; JudgeRefused if the judge's server refuses all requests (key, permission, quota).
    Source: the coverage family of Assert LLM Tools and the summarization metrics of DeepEval and Mastra.
    Example: `evaluate_summary(document, summary, judge=LexicalJudge())["coverage"]`.
    """
    item = SummaryInput(document, summary, reference, target_words=target_words, language=language)
    checked_input(item)
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
        least_scored=least_scored,
    )[0]


def evaluate_summaries(
    items: Iterable[SummaryInput | tuple[str, str] | tuple[str, str, str | None]],
    *,
    judge: Judge,
    on_result: Callable[[int, SummaryEvaluation], None] | None = None,
    **options: Unpack[EvaluationOptions],
) -> tuple[SummaryEvaluation, ...]:
    """The scores of many summaries, in their order; `on_result` gets each with its position as it is ready.

    Items are `SummaryInput`s, or pairs of document and summary with or without a reference. What depends on a
    document alone is asked once, however many summaries it has. Options are those of `evaluate_summary`. A
    summary that cannot be evaluated has no scores and the reasons; it costs no other its result. Nothing is
    left running after an error or an interrupt. With a store a run that was cut off goes on where it stopped.
    Raises EvaluationError for options that cannot be, JudgeRefused if the judge's server refuses all requests (key,
    permission, quota).
    Example: `evaluate_summaries([(document, one), (document, other)], judge=LexicalJudge())`.
    """
    results: dict[int, SummaryEvaluation] = {}
    # Before anything is started that ends with closing it.
    checked_judge(judge)

    async def collected() -> None:
        stream = stream_evaluations(items, judge=judge, **options)
        try:
            async for position, result in stream:
                results[position] = result
                if on_result is not None:
                    on_result(position, result)
        finally:
            await stream.aclose()

    _sync.run(_sync.closing(judge, collected()))
    return tuple(results[position] for position in sorted(results))


async def stream_evaluations(
    items: Iterable[SummaryInput | tuple[str, str] | tuple[str, str, str | None]],
    *,
    judge: Judge,
    **options: Unpack[EvaluationOptions],
) -> AsyncGenerator[tuple[int, SummaryEvaluation], None]:
    """Each summary's position and scores as they are ready: `evaluate_summaries` for asynchronous callers.

    The judge stays open. Leaving the loop early, with `aclose` or by cancellation, stops what is running.
    Example: `async for position, result in stream_evaluations(items, judge=judge): ...`.
    """
    chosen = Options.of(options)
    given = checked_items(items)
    checked_judge(judge)
    ready: asyncio.Queue[tuple[int, SummaryEvaluation] | None] = asyncio.Queue()
    work = asyncio.create_task(_Evaluation(judge, chosen, ready.put_nowait).all(given))
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


class _Evaluation:
    """One run over many summaries: its judge, its options, and what it knows of the documents."""

    def __init__(
        self, judge: Judge, options: Options, emit: Callable[[tuple[int, SummaryEvaluation]], None]
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
            with one_pass():
                async with self._group:
                    for _ in range(at_once):
                        self._group.create_task(self._some(waiting))
        except BaseExceptionGroup as failures:
            raise _worst(failures) from None

    async def _some(self, waiting: Iterator[tuple[int, object]]) -> None:
        for position, item in waiting:
            with in_turn(position):
                result = await self._one(item)
            self._emit((position, result))

    async def _one(self, item: object) -> SummaryEvaluation:
        try:
            case = self._case(item)
        except EvaluationError as error:
            return self._without_scores(item, str(error))
        with metered() as meter:
            result = await self._judged(case)
        return replace(result, usage=meter.usage)

    def _case(self, given: object) -> Case:
        item = given if isinstance(given, SummaryInput) else input_of(given)
        checked_input(item)
        options = self._options
        if item.questions is not None:
            options = replace(options, questions=checked_questions(item.questions))
        if item.target_words is not None:
            options = replace(options, target_words=item.target_words)
        reference = None if item.reference is None else self._text(item.reference, item.language)
        return Case(
            item,
            options,
            self._text(item.document, item.language),
            Text.of(item.summary, item.language),
            reference,
        )

    async def _judged(self, case: Case) -> SummaryEvaluation:
        facts = Facts()
        flags: tuple[str, ...] = ("empty_peer",) if case.summary.is_blank else ()
        if not case.summary.is_blank:
            await self._ask(case, facts)
        scores = Scores(case, facts)
        result = SummaryEvaluation(
            scores=scores.values,
            reasons=scores.reasons,
            passed=scores.passed,
            counts=scores.counts,
            flags=(*flags, *scores.flags),
            signature=self._signature(case.options, case.item.language),
            details=scores.details() if case.options.verbose else None,
            key=case.item.key,
        )
        if case.options.include_reason != "judge" or case.summary.is_blank:
            return result
        explained, fault = await _attempt(
            self._judge.explain(scores.told(), instruction=case.options.instruction)
        )
        return replace(result, explanation=explained or fault or None)

    async def _ask(self, case: Case, facts: Facts) -> None:
        """Both round trips: what the summary's claims are worth, and what the summary covers."""
        if case.options.needs_alignment:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._align(case, facts))
                await self._cover(case, facts)
        else:
            await self._cover(case, facts)

    async def _align(self, case: Case, facts: Facts) -> None:
        if case.document.is_blank:
            facts.aligned, facts.faults["alignment"] = None, EMPTY_DOCUMENT
            return
        if case.item.summary_claims is not None:
            facts.aligned = await self._align_given(case, case.item.summary_claims)
            return
        facts.aligned, fault = await _attempt(
            self._judge.align_summary(case.document, case.summary, instruction=case.options.instruction)
        )
        if facts.aligned is None:
            facts.faults["alignment"] = fault

    async def _align_given(self, case: Case, claims: Sequence[GivenClaim]) -> tuple[JudgedClaim, ...]:
        asked = _open(claims)
        verdicts: tuple[Verdict, ...] | None = ()
        fault = ""
        if asked:
            verdicts, fault = await _attempt(
                self._judge.check_source(asked, case.document, instruction=case.options.instruction)
            )
        verdicts = verdicts or tuple(Verdict(None, reason=fault) for _ in asked)
        return tuple(map(JudgedClaim, _extracted(claims), _with_people(claims, verdicts)))

    async def _cover(self, case: Case, facts: Facts) -> None:
        request = case.request
        if request.claims or request.questions or request.n_questions or request.topics:
            reading, fault = await self._read(case)
            if reading is None:
                reading = DocumentReading(
                    None, None, None, dict.fromkeys(("claims", "questions", "topics"), fault)
                )
            facts.reading = reading
        facts.faults.update(facts.reading.faults)
        given = case.item.claims if case.options.needs_claims else None
        if given is not None:
            facts.reading = replace(facts.reading, claims=_extracted(given))
        asked = CoverRequest(
            case.summary,
            tuple(claim.text for claim in facts.reading.claims or ()) if given is None else _open(given),
            tuple(question.text for question in facts.reading.questions or ()),
            facts.reading.topics or (),
            case.options.ratings,
            case.options.instruction,
        )
        if not asked.is_empty:
            facts.covered, fault = await _attempt(self._judge.cover_summary(asked))
            if facts.covered is None:
                for part in ("claims", "questions", "topics", "ratings"):
                    facts.faults.setdefault(part, fault)
                # What people have said of claims stands without the judge.
                facts.covered = None if given is None else _unscored(asked, fault)
        if given is not None and facts.covered is not None:
            facts.covered = replace(facts.covered, claims=_with_people(given, facts.covered.claims))

    async def _read(self, case: Case) -> tuple[DocumentReading | None, str]:
        """The document's reading, made once for all its summaries."""
        request = case.request
        if request.source.is_blank and (request.reference is None or not request.claims):
            return None, EMPTY_DOCUMENT
        key = (
            case.item.document,
            case.item.language,
            case.item.reference,
            request.questions,
            request.claims,
        )
        if key not in self._readings:
            if len(self._readings) >= _MOST_DOCUMENTS_KEPT:
                self._readings.popitem(last=False)
            self._readings[key] = self._group.create_task(_attempt(self._judge.read_document(request)))
        return await self._readings[key]

    def _without_scores(self, item: object, reason: str) -> SummaryEvaluation:
        names = self._options.metrics
        given = item if isinstance(item, SummaryInput) else SummaryInput("", "")
        return SummaryEvaluation(
            dict.fromkeys(names),
            dict.fromkeys(names, reason),
            None,
            {},
            (),
            self._signature(self._options, str(given.language)),
            key=given.key,
        )

    def _signed(self, options: Options, language: str) -> str:
        return signature(
            metrics=",".join(options.metrics),
            judge=self._judge.signature,
            questions=_digest(options.questions) if options.questions else None,
            n_questions=0 if options.questions else options.n_questions,
            custom_instruction=_digest((options.instruction,)) if options.instruction else None,
            language=language,
            target_words=options.target_words,
            threshold=options.threshold,
            strict=options.strict,
            scale=options.scale,
            least_scored=options.least_scored,
        )


async def _attempt(work: Awaitable[_R]) -> tuple[_R | None, str]:
    """The result, or the reason why there is none; a server that refuses all requests ends the run."""
    try:
        return await work, ""
    except JudgeRefused:
        raise
    except JudgeError as error:
        return None, f"{UNSCORED}{error}"


def _extracted(claims: Sequence[GivenClaim]) -> tuple[ExtractedClaim, ...]:
    return tuple(ExtractedClaim(each.text, number) for number, each in enumerate(claims, start=1))


def _open(claims: Sequence[GivenClaim]) -> tuple[str, ...]:
    """The claims that nobody has answered."""
    return tuple(each.text for each in claims if each.label is None)


def _with_people(claims: Sequence[GivenClaim], verdicts: Sequence[Verdict]) -> tuple[Verdict, ...]:
    """One verdict per claim: people's where there is one, else the judge's of those that it was asked."""
    judged = iter(verdicts)
    return tuple(
        next(judged) if each.label is None else Verdict(each.label, reason=BY_PEOPLE) for each in claims
    )


def _unscored(asked: CoverRequest, fault: str) -> CoverReading:
    nothing = Verdict(None, reason=fault)
    return CoverReading(
        (nothing,) * len(asked.claims), (nothing,) * len(asked.questions), (nothing,) * len(asked.topics)
    )


def _worst(failures: BaseExceptionGroup[BaseException]) -> BaseException:
    """The failure that tells the caller most, out of nested groups of them."""
    flat = [
        _worst(failure) if isinstance(failure, BaseExceptionGroup) else failure
        for failure in failures.exceptions
    ]
    return min(flat, key=lambda failure: not isinstance(failure, JudgeRefused))


def _digest(texts: tuple[str, ...]) -> str:
    joined = "\0".join(texts).encode("utf-8", "surrogatepass")
    return hashlib.sha256(joined).hexdigest()[:8]
