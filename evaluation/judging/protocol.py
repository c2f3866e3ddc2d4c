"""What a judge is, what it is given, what it answers, and where its calls are kept.

A judge needs nothing of a database: services fill `CallStore` from rows, a notebook fills it from memory.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import astuple, dataclass, field
from operator import add
from typing import Literal, Protocol, Self, TypeAlias, cast, get_args

from evaluation._guards import checked_weight
from evaluation._labels import Label
from evaluation.judging.errors import JudgeSettings
from evaluation.text._splitting import Span, sentence_spans

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"
"""A value that can be written as JSON."""

Side = Literal["covered", "supported"]
"""The question of a check: does a summary express the claim (covered), or does a source support it (supported)?"""

RatingName = Literal["coherence", "conciseness"]
"""The criteria that judges rate."""

ReplyFormat = Literal["json_schema", "json_object", "text"]
"""How a server can be told to answer, best first: held to a schema, as some JSON object, as plain text."""
REPLY_FORMATS: tuple[ReplyFormat, ...] = get_args(ReplyFormat)

BLANK_TEXT_REASON = "The text is empty."
BLANK_CLAIM_REASON = "The claim contains no words."


@dataclass(frozen=True, slots=True)
class Text:
    """A text with its units, which are numbered from 1 in order.

    Without units the whole text counts as unit 1. `language` is an ISO 639-1 code.
    """

    text: str
    units: tuple[Span, ...] = ()
    language: str = "en"

    @classmethod
    def of(cls, text: str, language: str = "en") -> Self:
        """The text cut into sentences.

        Example: `Text.of("It rained. We left.").units` is `(Span(0, 10), Span(11, 19))`.
        """
        return cls(text, tuple(sentence_spans(text, language)), language)

    @property
    def is_blank(self) -> bool:
        """True if there is nothing to read."""
        return not self.text.strip()

    @property
    def unit_spans(self) -> tuple[Span, ...]:
        """The units, or one unit of everything where none were given."""
        return self.units or (Span(0, len(self.text)),)

    def numbered_units(self) -> Iterator[tuple[int, str]]:
        """Each unit's number and text."""
        for number, span in enumerate(self.unit_spans, start=1):
            yield number, span.of(self.text)


@dataclass(frozen=True, slots=True)
class ExtractedClaim:
    """One atomic, checkable statement taken from a text.

    `unit` is the number of the unit that it came from. `start` and `end` are offsets into the text where the
    claim stands there word for word, else None.
    """

    text: str
    unit: int
    start: int | None = None
    end: int | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """One judge's answer to one check.

    `label` None means unscored: no usable answer, and `reason` says why. `probability` is that of yes, in [0,
    1], or None where the judge gave none. `evidence` are unit numbers of the text that the claim was held
    against. `call` is the key of the stored call that the answer was read from; None where no call was made.

    A panel also says how its members voted: `votes` are their names and labels, and `uncertainty` the share of
    those who gave a label that is not the verdict's, in [0, 1]. Both say nothing for a single judge.
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
    """A judge's rating of a summary, in [0, 1], higher is better; None means unscored, and why."""

    value: float | None
    reason: str = ""
    call: str | None = None


@dataclass(frozen=True, slots=True)
class DocumentRequest:
    """A request about a document, for all its summaries.

    `claims`: those of `reference` where there is one, else those of the source. `questions` are closed ones
    to be answered from the source; `n_questions` how many more the judge makes up, with the source's answers.
    `topics`: what the source is about. `instruction` is the user's addition to what the judge is told.
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
        """The text whose claims are wanted."""
        return self.source if self.reference is None else self.reference


@dataclass(frozen=True, slots=True)
class Question:
    """A closed question with the source's answer to it."""

    text: str
    answer: Verdict


@dataclass(frozen=True, slots=True)
class DocumentReading:
    """The answer to a `DocumentRequest`.

    A part that was wanted and got no usable answer is None, and `faults` says why under the part's name:
    claims, questions or topics. Half of a text's claims are none, because they would score as the whole.
    """

    claims: tuple[ExtractedClaim, ...] | None = ()
    questions: tuple[Question, ...] | None = ()
    topics: tuple[str, ...] | None = ()
    faults: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class JudgedClaim:
    """A claim of a summary with the verdict whether the source bears it out."""

    claim: ExtractedClaim
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class CoverRequest:
    """A request about a summary without its source.

    Does it express each of `claims`, what does it answer to each of `questions`, does it deal with each of
    `topics`, and how does it rate.
    """

    summary: Text
    claims: tuple[str, ...] = ()
    questions: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    ratings: tuple[RatingName, ...] = ()
    instruction: str = ""

    @property
    def is_empty(self) -> bool:
        """True if nothing is asked."""
        return not (self.claims or self.questions or self.topics or self.ratings)


@dataclass(frozen=True, slots=True)
class CoverReading:
    """The answers to a `CoverRequest`: one per claim, question and topic, in order, and one per rating."""

    claims: tuple[Verdict, ...] = ()
    questions: tuple[Verdict, ...] = ()
    topics: tuple[Verdict, ...] = ()
    ratings: Mapping[RatingName, Rating] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class StoredCall:
    """One answered call as it was made: enough to pay for it once and to read what the judge really said.

    `request` is the request's canonical JSON, without any secret. `reply` is the judge's text as received
    (with characters that no database stores replaced), or what the server gave as the reason for answering
    nothing. `finish_reason` is the server's, or "refusal", "rejected" or "not a completion"; `model` is the name
    under which it says that it answered, empty where it says none.
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


@dataclass(frozen=True, slots=True)
class Price:
    """The prices of a judge's service per million tokens, in one currency. Raises InvalidWeight."""

    prompt: float = 0.0
    completion: float = 0.0

    def __post_init__(self) -> None:
        checked_weight("The price of prompts", self.prompt)
        checked_weight("The price of replies", self.completion)

    def of(self, prompt_tokens: int, completion_tokens: int) -> float:
        """The price of so many tokens. Example: `Price(2.0, 8.0).of(1000, 500)` is 0.006."""
        return (prompt_tokens * self.prompt + completion_tokens * self.completion) / 1_000_000


@dataclass(frozen=True, slots=True)
class Usage:
    """The usage of some calls. Calls whose server reported no tokens count with 0.

    `cost` is in the currency of the judges' prices; 0 where none was given. `broken_calls` were sent and got
    no answer: timed out, cut off on the way or cancelled. They are not among `calls` and `prompt_tokens`, but
    in `cost`, because a provider may bill them. How much is not to be known: they are assumed to cost their
    prompt, at about one token for three bytes, and nothing for an answer that never came.
    """

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0
    cost: float = 0.0
    broken_calls: int = 0

    def __add__(self, other: Self) -> Self:
        return type(self)(*map(add, astuple(self), astuple(other)))

    @classmethod
    def of(cls, calls: Iterable[StoredCall], price: Price | None = None) -> Self:
        """The sum over the calls."""
        made = list(calls)
        prompt = sum(call.prompt_tokens or 0 for call in made)
        completion = sum(call.completion_tokens or 0 for call in made)
        cost = 0.0 if price is None else price.of(prompt, completion)
        return cls(len(made), prompt, completion, sum(call.seconds for call in made), cost)


class Meter:
    """Sums up the calls that are made while it is in place (see `metered`), not those found in a store.

    `models` are the names under which servers answered, in calls that were made or found.
    """

    def __init__(self) -> None:
        self.usage = Usage()
        self.models: set[str] = set()

    def add(self, usage: Usage) -> None:
        """Count this too."""
        self.usage = self.usage + usage


_METER: ContextVar[Meter | None] = ContextVar("_METER", default=None)


@contextmanager
def metered() -> Iterator[Meter]:
    """A meter for the calls made in this context, and in tasks started in it, until it ends.

    Example: `with metered() as meter: ...` and then `meter.usage.calls`.
    """
    meter = Meter()
    token = _METER.set(meter)
    try:
        yield meter
    finally:
        _METER.reset(token)


def note_usage(usage: Usage) -> None:
    """Count a call with the meter in place, if there is one. For judges."""
    meter = _METER.get()
    if meter is not None:
        meter.add(usage)


def note_served(model: str) -> None:
    """Note the name under which a server answered with the meter in place, if there is one. For judges."""
    meter = _METER.get()
    if meter is not None and model:
        meter.models.add(model)


_MADE: ContextVar[set[str] | None] = ContextVar("_MADE", default=None)


@contextmanager
def one_pass() -> Iterator[None]:
    """Whatever is asked in this context, and in tasks started in it, belongs together: one run, one job.

    A judge asks a question twice at most in a pass, no matter who puts it. Unusable replies that a store holds of
    earlier passes do not count: they are kept to be seen, and the question is asked again, so a provider that
    answered badly for a while spoils no later run. Without a pass every list of items is one of its own; a
    pass within another changes nothing.
    """
    if _MADE.get() is not None:
        yield
        return
    token = _MADE.set(set())
    try:
        yield
    finally:
        _MADE.reset(token)


def note_made(key: str) -> None:
    """Tell the pass in place, if there is one, that the call was made and not found. For judges."""
    made = _MADE.get()
    if made is not None:
        made.add(key)


def is_of_this_pass(key: str) -> bool:
    """True if the call was made in the pass in place. For judges."""
    made = _MADE.get()
    return made is not None and key in made


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits on the calls of a judge.

    `concurrency`: calls at once. `timeout_seconds`: for one attempt from first byte sent to last byte read.
    `max_attempts`: attempts per call, the first included. `max_wait_seconds`: the longest pause between two
    attempts; a server that asks for a longer one is unavailable. `max_tokens`: of one reply.
    `claims_per_call`: longer lists are cut into several calls. `calls_per_minute` and `tokens_per_minute`:
    attempts, and tokens of requests and replies as far as they can be told beforehand, in any 60 seconds.
    `context_tokens`: what the judge can read and write in one call; longer texts are cut into windows at
    sentence borders, and long lists into stretches, so that every call fits. Only a single claim or question
    is never cut.
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
    """The budget of calls. Money is reserved before every attempt at a call and settled after it.

    Both may wait, for a budget may lie in a database. Who is cancelled while reserving has set nothing aside; settling
    ends even where the judge's own task is cancelled meanwhile.
    """

    async def reserve(self, cost: float) -> None:
        """Set aside what a call should cost, once there is room. Raises BudgetSpent where there will be none."""
        ...

    async def settle(self, reserved: float, cost: float) -> None:
        """Give back what was reserved and take what the call did cost."""
        ...


class CallStore(Protocol):
    """Stores answered calls, so that no question is paid for twice."""

    async def get(self, key: str) -> StoredCall | None:
        """The call kept under this key, or None."""
        ...

    async def put(self, call: StoredCall) -> None:
        """Keep a call. A key that is there already is left as it is."""
        ...


class MemoryCallStore:
    """A call store that lives as long as the process."""

    def __init__(self) -> None:
        self._calls: dict[str, StoredCall] = {}

    async def get(self, key: str) -> StoredCall | None:
        """The call kept under this key, or None."""
        return self._calls.get(key)

    async def put(self, call: StoredCall) -> None:
        """Keep a call; the first one under a key stays."""
        self._calls.setdefault(call.key, call)

    @property
    def calls(self) -> tuple[StoredCall, ...]:
        """Every call kept, oldest first."""
        return tuple(self._calls.values())

    @property
    def usage(self) -> Usage:
        """The usage of the stored calls."""
        return Usage.of(self.calls)


class Judge(Protocol):
    """Whatever answers checks automatically.

    A judge holds no state between texts and may be used for many at once. `read_document` is asked once per
    document, `align_summary` (or `check_source` for claims that are known) and `cover_summary` once per summary.
    What gets no usable answer is unscored with the reason; a JudgeError is raised only if the judge itself
    cannot be asked.
    """

    @property
    def name(self) -> str:
        """Its name for people."""
        ...

    @property
    def kind(self) -> str:
        """The kind: lexical, openai or panel."""
        ...

    @property
    def signature(self) -> str:
        """Judge, version and prompt version; alike for judges that must answer alike."""
        ...

    @property
    def concurrency(self) -> int:
        """The number of simultaneous calls."""
        ...

    async def read_document(self, request: DocumentRequest) -> DocumentReading:
        """Everything wanted that depends on the document alone; one call where it fits into one."""
        ...

    async def align_summary(
        self, source: Text, summary: Text, *, instruction: str = ""
    ) -> tuple[JudgedClaim, ...]:
        """The summary's claims, each checked against the source; one call where it fits into one.

        Raises UnusableReply where some unit of the summary got no claims. None for a blank summary.
        """
        ...

    async def check_source(
        self, claims: Sequence[str], source: Text, *, instruction: str = ""
    ) -> tuple[Verdict, ...]:
        """One verdict per claim, in order: does the source support it?"""
        ...

    async def cover_summary(self, request: CoverRequest) -> CoverReading:
        """Answer the questions about a summary alone, in one call if they fit."""
        ...

    def again(self, token: str) -> "Judge":
        """The same judge at the same settings, which a call store has no answers of except under this token."""
        ...

    async def aclose(self) -> None:
        """Free what the judge holds for the running event loop. It can be used again afterwards."""
        ...


def is_worded(content: str) -> bool:
    """True if a text holds a letter or digit, so that something can be claimed in it."""
    return any(character.isalnum() for character in content)


def verdict_by_rule(claim: str, text: Text) -> Verdict | None:
    """The verdict that needs no judge, or None where one has to be asked.

    A blank text expresses nothing, so the answer is no; a blank claim says nothing, so it is unscored.
    """
    if not is_worded(claim):
        return Verdict(None, reason=BLANK_CLAIM_REASON)
    if text.is_blank:
        return Verdict("no", probability=0.0, reason=BLANK_TEXT_REASON)
    return None


_CALLS = ("read_document", "align_summary", "check_source", "cover_summary", "aclose")


def checked_judge(judge: object) -> Judge:
    """The judge itself. Raises JudgeSettings for anything else, such as a model's name or a judge's class."""
    if not isinstance(judge, type) and all(callable(getattr(judge, name, None)) for name in _CALLS):
        return cast("Judge", judge)
    # A text is not repeated: it might be a key.
    got = f"the class {judge.__name__}" if isinstance(judge, type) else type(judge).__name__
    raise JudgeSettings(
        f"A judge is an object that answers, such as LexicalJudge() or OpenAIJudge('gpt-4o-mini'); got {got}."
    )
