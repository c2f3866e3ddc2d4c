"""The interface of judges: requests, answers, limits, budgets and call stores."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import astuple, dataclass, field
from operator import add
from statistics import median_low
from typing import Literal, Protocol, Self, TypeAlias, TypeVar, cast, get_args

from evaluation._guards import checked_weight
from evaluation._labels import Label
from evaluation._means import mean
from evaluation.judging.errors import JudgeSettings
from evaluation.metrics._criteria import Criterion
from evaluation.text._splitting import Span, sentence_spans

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"
"""A value that can be written as JSON."""

Side = Literal["covered", "supported"]
"""The question of a check: does a summary express the claim (covered); does a source support it (supported)?"""

ReplyFormat = Literal["json_schema", "json_object", "text"]
"""The reply formats that a server may accept, best first: JSON by a schema, any JSON object, plain text."""
REPLY_FORMATS: tuple[ReplyFormat, ...] = get_args(ReplyFormat)

_V = TypeVar("_V")

BLANK_TEXT_REASON = "The text is empty."
BLANK_CLAIM_REASON = "The claim contains no words."


@dataclass(frozen=True, slots=True)
class Text:
    """A text with its units, numbered from 1 in order.

    Without units, the whole text is unit 1. `language` is a language code, such as "en".
    """

    text: str
    # The text alone tells most texts apart, and hashes of spans take time.
    units: tuple[Span, ...] = field(default=(), hash=False)
    language: str = "en"

    @classmethod
    def of(cls, text: str, language: str = "en") -> Self:
        """Make a text whose units are its sentences.

        Example: `Text.of("It rained. We left.").units` is `(Span(0, 10), Span(11, 19))`.
        """
        return cls(text, tuple(sentence_spans(text, language)), language)

    @property
    def is_blank(self) -> bool:
        """Return True if the text is empty or whitespace."""
        return not self.text.strip()

    @property
    def unit_spans(self) -> tuple[Span, ...]:
        """Return the spans of all units; a text without units is a single unit."""
        return self.units or (Span(0, len(self.text)),)

    def numbered_units(self) -> Iterator[tuple[int, str]]:
        """Yield each unit's number and text."""
        for number, span in enumerate(self.unit_spans, start=1):
            yield number, span.of(self.text)


@dataclass(frozen=True, slots=True)
class ExtractedClaim:
    """One atomic, checkable statement from a text.

    `unit` is the number of the unit that states the claim. `start` and `end` are the claim's offsets in the text; both
    are None unless the text contains the claim literally.
    """

    text: str
    unit: int
    start: int | None = None
    end: int | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """A judge's answer to a check.

    - `label`: None means unscored: there is no usable answer, and `reason` explains why.
    - `probability`: the probability of yes, in [0, 1]; None if unknown.
    - `evidence`: unit numbers of the text.
    - `call`: the key of the stored call with the answer; None if there is none.
    - `votes`: the names of a panel's members with their labels. Only panels set it.
    - `uncertainty`: the share of the panel's labels that differ from `label`, in [0, 1]. Only panels set it.
    """

    label: Label | None
    probability: float | None = None
    evidence: tuple[int, ...] = ()
    reason: str = ""
    call: str | None = None
    uncertainty: float | None = None
    votes: tuple[tuple[str, Label | None], ...] = ()


@dataclass(frozen=True, slots=True)
class Rating:
    """A judge's rating of a summary. If `value` is None, the rating is unscored, and `reason` explains why.

    The value is on the criterion's own scale. `evidence` has unit numbers of the summary. `confidence` is the judge's,
    in [0, 1]; None if unknown. `expected` is the mean of the scale's values, weighted by the judge's probabilities. It
    is None if these are unknown.
    """

    value: float | None
    reason: str = ""
    call: str | None = None
    evidence: tuple[int, ...] = ()
    confidence: float | None = None
    expected: float | None = None


def combined(ratings: Sequence[Rating]) -> Rating:
    """Merge ratings of several judges or windows: the lower median of whole numbers, the mean of shares.

    Unscored ratings are ignored; the value is None if all are unscored. The result has no reason and no call.
    """
    values = [each.value for each in ratings if each.value is not None]
    is_of_scale = bool(values) and all(isinstance(value, int) for value in values)
    return Rating(
        median_low(values) if is_of_scale else mean(values),
        evidence=tuple(sorted({number for each in ratings for number in each.evidence})),
        confidence=mean(each.confidence for each in ratings),
        expected=mean(each.expected for each in ratings),
    )


@dataclass(frozen=True, slots=True)
class DocumentRequest:
    """A request about a document, for all its summaries.

    `claims` asks for the claims of `reference`, or of the source if there is no reference. `questions` are closed
    questions to answer from the source; the judge generates and answers `n_questions` more. `topics` asks for the main
    topics of the source. `instruction` is the user's addition to the prompt.
    """

    source: Text
    reference: Text | None = None
    claims: bool = False
    questions: tuple[str, ...] = ()
    n_questions: int = 0
    topics: bool = False
    instruction: str = ""

    @property
    def claims_text(self) -> Text:
        """Return the text to extract claims from: the reference, or the source if there is none."""
        return self.source if self.reference is None else self.reference


@dataclass(frozen=True, slots=True)
class Question:
    """A closed question with the source's answer."""

    text: str
    answer: Verdict


@dataclass(frozen=True, slots=True)
class DocumentReading:
    """The answer to a `DocumentRequest`.

    A requested part without a usable answer is None, and `faults` has the reason under the name of the part: claims,
    questions or topics. If the claims of some units are missing, `claims` is None.
    """

    claims: tuple[ExtractedClaim, ...] | None = ()
    questions: tuple[Question, ...] | None = ()
    topics: tuple[str, ...] | None = ()
    faults: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class JudgedClaim:
    """A claim of a summary, with a verdict on whether the source supports it."""

    claim: ExtractedClaim
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class CoverRequest:
    """A request about a summary.

    The judge decides for each claim whether the summary expresses it, and for each topic whether the summary mentions
    it. It answers each question, and rates the summary by each of the `criteria`. If `beside` is given, the
    judge reads it beside the summary, and only `criteria` are answered.
    """

    summary: Text
    claims: tuple[str, ...] = ()
    questions: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    instruction: str = ""
    criteria: tuple[Criterion, ...] = ()
    beside: Text | None = None

    @property
    def is_empty(self) -> bool:
        """Return True if nothing is asked."""
        return not (self.claims or self.questions or self.topics or self.criteria)


@dataclass(frozen=True, slots=True)
class CoverReading:
    """The answers to a `CoverRequest`, in its order: one for each claim, question and topic.

    `ratings` has the answers to the criteria by name.
    """

    claims: tuple[Verdict, ...] = ()
    questions: tuple[Verdict, ...] = ()
    topics: tuple[Verdict, ...] = ()
    ratings: Mapping[str, Rating] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class StoredCall:
    """An answered call with its request and reply.

    - `request`: canonical JSON, without secrets.
    - `reply`: the received text, or the server's reason for giving no answer. Characters that databases cannot store
      are replaced.
    - `finish_reason`: the server's value, or "refusal", "rejected" or "not a completion".
    - `model`: the model name in the reply; "" if there is none.
    - `chances`: the probabilities of the numbers under "value" in the reply, as a JSON list. For each "value" it has an
      object with the probabilities by number: first the given number, then other numbers that could stand in its place.
      The object is empty if the given number is not a single token. `chances` is "" if the server gave no usable
      log-probabilities.
    """

    key: str
    judge: str
    step: str
    prompt_version: str
    request: str
    reply: str
    finish_reason: str
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    seconds: float = 0.0
    model: str = ""
    chances: str = ""


@dataclass(frozen=True, slots=True)
class Price:
    """The prices of a judge's service per million tokens, in one currency. Raises InvalidWeight unless they are at
    least 0.
    """

    prompt: float = 0.0
    completion: float = 0.0

    def __post_init__(self) -> None:
        checked_weight("The price of prompts", self.prompt)
        checked_weight("The price of replies", self.completion)

    def of(self, prompt_tokens: int, completion_tokens: int) -> float:
        """Compute the price of some tokens. Example: `Price(2.0, 8.0).of(1000, 500)` is 0.006."""
        return (prompt_tokens * self.prompt + completion_tokens * self.completion) / 1_000_000


@dataclass(frozen=True, slots=True)
class Usage:
    """The usage of some calls. A call counts 0 tokens if its server reports none.

    `cost` is in the currency of the judges' prices; it is 0 without prices. `broken_calls` are calls that may have been
    sent but were not answered: timed out, disconnected or cancelled. `calls` and `prompt_tokens` exclude broken calls.
    `cost` includes the prompts of broken calls, at one token per three bytes.
    """

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0
    cost: float = 0.0
    broken_calls: int = 0

    def __add__(self, other: Self) -> Self:
        return type(self)(*map(add, astuple(self), astuple(other)))


class Meter:
    """Adds up the usage of calls in a `metered` context. Calls from a store do not count.

    `models` are the model names in all replies, including stored replies.
    """

    def __init__(self) -> None:
        self.usage = Usage()
        self.models: set[str] = set()

    def add(self, usage: Usage) -> None:
        """Add the usage of a call."""
        self.usage = self.usage + usage


_METER: ContextVar[Meter | None] = ContextVar("_METER", default=None)
_MADE: ContextVar[set[str] | None] = ContextVar("_MADE", default=None)


@contextmanager
def _holding(variable: ContextVar[_V | None], value: _V) -> Iterator[_V]:
    token = variable.set(value)
    try:
        yield value
    finally:
        variable.reset(token)


def metered() -> AbstractContextManager[Meter]:
    """Measure the calls of this context and of tasks that are started in it.

    Example: `with metered() as meter: ...` and then `meter.usage.calls`.
    """
    return _holding(_METER, Meter())


def note_usage(usage: Usage) -> None:
    """Add a call's usage to the meter of the context, if there is one. Judges call this function."""
    meter = _METER.get()
    if meter is not None:
        meter.add(usage)


def note_served(model: str) -> None:
    """Add the model name of a reply to the meter of the context, if there is one. Judges call this function."""
    meter = _METER.get()
    if meter is not None and model:
        meter.models.add(model)


def one_pass() -> AbstractContextManager[set[str] | None]:
    """Treat all questions of this context, and of tasks that are started in it, as one pass.

    A judge asks the same question at most twice in a pass. It asks again where stored replies of earlier passes are
    unusable. Outside this context, each list of items is a pass of its own. A nested context has no effect.
    """
    return nullcontext() if _MADE.get() is not None else _holding(_MADE, set())


def note_made(key: str) -> None:
    """Record that the current pass, if there is one, made the call. Judges call this function."""
    made = _MADE.get()
    if made is not None:
        made.add(key)


def is_of_this_pass(key: str) -> bool:
    """Return True if the current pass made the call. Judges call this function."""
    made = _MADE.get()
    return made is not None and key in made


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits on the calls of a judge.

    - `concurrency`: simultaneous calls
    - `timeout_seconds`: time for an attempt
    - `max_attempts`: attempts per call, including the first
    - `max_wait_seconds`: longest pause between attempts; a server that requests a longer pause is unavailable
    - `max_tokens`: tokens of a reply
    - `claims_per_call`: longer lists are cut into several calls
    - `calls_per_minute`, `tokens_per_minute`: attempts, and estimated tokens of requests and replies, in any 60
      seconds
    - `context_tokens`: tokens of request and reply together. Longer texts are cut into windows, and long lists into
      chunks; a single claim or question is never cut.
    """

    concurrency: int = 8
    timeout_seconds: float = 60.0
    max_attempts: int = 4
    max_wait_seconds: float = 60.0
    max_tokens: int = 4000
    claims_per_call: int = 60
    calls_per_minute: int | None = None
    tokens_per_minute: int | None = None
    context_tokens: int | None = None


class Budget(Protocol):
    """A budget for calls. The expected cost of an attempt is reserved before it, and replaced by the actual cost
    after it.

    Both methods may wait for a database. A cancelled `reserve` reserves nothing. The judge completes `settle` even if
    its task is cancelled.
    """

    async def reserve(self, cost: float) -> None:
        """Reserve the expected cost of a call; wait until it fits. Raises BudgetSpent if it can never fit."""

    async def settle(self, reserved: float, cost: float) -> None:
        """Replace a reservation by the actual cost of the call."""


class CallStore(Protocol):
    """A store of answered calls."""

    async def get(self, key: str) -> StoredCall | None:
        """Return the call with this key; None if it does not exist."""

    async def put(self, call: StoredCall) -> None:
        """Store a call. If the store has a call with the same key, that call is kept."""

    def release(self, key: str) -> None:
        """Note that the caller of `get` has stored its call, or stores none."""


class MemoryCallStore:
    """A call store in memory."""

    def __init__(self) -> None:
        self._calls: dict[str, StoredCall] = {}

    async def get(self, key: str) -> StoredCall | None:
        """Return the call with this key; None if it does not exist."""
        return self._calls.get(key)

    async def put(self, call: StoredCall) -> None:
        """Store a call. If the store has a call with the same key, that call is kept."""
        self._calls.setdefault(call.key, call)

    def release(self, key: str) -> None:
        """Do nothing; this store lets nobody wait."""

    @property
    def calls(self) -> tuple[StoredCall, ...]:
        """Return the stored calls, oldest first."""
        return tuple(self._calls.values())


class Judge(Protocol):
    """An automatic judge, which can work on many texts at once.

    An item without a usable answer is unscored and has a reason. JudgeError is raised only if the judge itself fails.
    """

    @property
    def name(self) -> str:
        """Return the name that people see."""

    @property
    def kind(self) -> str:
        """Return "lexical", "openai" or "panel"."""

    @property
    def signature(self) -> str:
        """Return a text for signatures, which depends on what can change the answers."""

    @property
    def concurrency(self) -> int:
        """Return the largest number of simultaneous calls."""

    async def read_document(self, request: DocumentRequest) -> DocumentReading:
        """Answer a request about a document."""

    async def align_summary(
        self, source: Text, summary: Text, *, instruction: str = ""
    ) -> tuple[JudgedClaim, ...]:
        """Extract the summary's claims and check each against the source.

        A blank summary has no claims. Raises UnusableReply if the claims of a unit are missing.
        """

    async def check_source(
        self, claims: Sequence[str], source: Text, *, instruction: str = ""
    ) -> tuple[Verdict, ...]:
        """Check whether the source supports each claim; one verdict per claim, in order."""

    async def cover_summary(self, request: CoverRequest) -> CoverReading:
        """Answer a request about a summary."""

    def again(self, token: str) -> "Judge":
        """Return a judge with the same settings that asks stored questions again, under call keys with the token."""

    async def aclose(self) -> None:
        """Close the connections that the judge has in the running event loop. The judge can still be used."""


def is_worded(content: str) -> bool:
    """Return True if the text contains a letter or digit."""
    return any(map(str.isalnum, content))


def verdict_by_rule(claim: str, text: Text) -> Verdict | None:
    """Return the verdict on blank inputs; None if a judge must be asked.

    A blank text expresses no claim, so the label is no. A blank claim is unscored.
    """
    if not is_worded(claim):
        return Verdict(None, reason=BLANK_CLAIM_REASON)
    if text.is_blank:
        return Verdict("no", probability=0.0, reason=BLANK_TEXT_REASON)
    return None


_CALLS = ("read_document", "align_summary", "check_source", "cover_summary", "aclose")


def checked_judge(judge: object) -> Judge:
    """Return the judge. Raises JudgeSettings for any other object, such as the name of a model or the class of a
    judge.
    """
    if not isinstance(judge, type) and all(callable(getattr(judge, name, None)) for name in _CALLS):
        return cast("Judge", judge)
    # Do not quote a string, because it may be an API key.
    got = f"the class {judge.__name__}" if isinstance(judge, type) else type(judge).__name__
    told = "A judge is an object that answers, such as LexicalJudge() or OpenAIJudge('gpt-4o-mini')"
    raise JudgeSettings(f"{told}; got {got}.")
