"""What a judge is, what it is given, what it answers, and where its calls are kept.

A judge needs nothing of a database: services fill `CallStore` from rows, a notebook fills it from memory.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, Self

from evaluation._labels import Label
from evaluation._text import Span, sentence_spans

Side = Literal["covered", "supported"]
"""What a check asks: is the claim expressed by a summary (covered), or borne out by a source (supported)?"""

BLANK_TEXT_REASON = "The text is empty."
BLANK_CLAIM_REASON = "The claim holds no words."


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
        """Whether there is nothing to read."""
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
    """

    label: Label | None
    probability: float | None = None
    evidence: tuple[int, ...] = ()
    reason: str = ""
    call: str | None = None


@dataclass(frozen=True, slots=True)
class StoredCall:
    """One answered call as it was made: enough to pay for it once and to read what the judge really said.

    `request` is the request's canonical JSON, without any secret. `reply` is the judge's text as received
    (with characters that no database stores replaced), or what the server gave as the reason for answering
    nothing. `finish_reason` is the server's, or "refusal", "rejected" or "not a completion".
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


@dataclass(frozen=True, slots=True)
class Usage:
    """What a number of calls took. Calls whose server reported no tokens count with 0."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0

    @classmethod
    def of(cls, calls: Iterable[StoredCall]) -> Self:
        """The sum over the calls."""
        count = prompt = completion = 0
        seconds = 0.0
        for call in calls:
            count += 1
            prompt += call.prompt_tokens or 0
            completion += call.completion_tokens or 0
            seconds += call.seconds
        return cls(count, prompt, completion, seconds)


@dataclass(frozen=True, slots=True)
class Limits:
    """How hard a judge may press its service.

    `concurrency`: calls at once. `timeout_seconds`: for one attempt from first byte sent to last byte read.
    `max_attempts`: attempts per call, the first included. `max_wait_seconds`: the longest pause between two
    attempts; a server that asks for a longer one is unavailable. `max_tokens`: of one reply.
    `claims_per_call`: longer lists are cut into several calls.
    """

    concurrency: int = 8
    timeout_seconds: float = 60.0
    max_attempts: int = 4
    max_wait_seconds: float = 60.0
    max_tokens: int = 4000
    claims_per_call: int = 40


class CallStore(Protocol):
    """Where answered calls are kept, so that the same question is never paid for twice."""

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
        """What the kept calls took."""
        return Usage.of(self.calls)


class Judge(Protocol):
    """Whatever answers checks automatically.

    A judge holds no state between texts and may be used for many at once.
    """

    @property
    def name(self) -> str:
        """What people call it."""
        ...

    @property
    def kind(self) -> str:
        """What sort of judge: lexical, openai or panel."""
        ...

    @property
    def signature(self) -> str:
        """Judge, version and prompt version; alike for judges that must answer alike."""
        ...

    async def extract(self, text: Text) -> tuple[ExtractedClaim, ...]:
        """The claims of the text, in the order of its units; none for a blank text."""
        ...

    async def check(
        self, claims: Sequence[str], text: Text, *, side: Side = "covered"
    ) -> tuple[Verdict, ...]:
        """One verdict per claim, in the order of the claims."""
        ...

    async def aclose(self) -> None:
        """Free what the judge holds for the running event loop. It can be used again afterwards."""
        ...


def verdict_by_rule(claim: str, text: Text) -> Verdict | None:
    """The verdict that needs no judge, or None where one has to be asked.

    A blank text expresses nothing, so the answer is no; a blank claim says nothing, so it is unscored.
    """
    if not any(character.isalnum() for character in claim):
        return Verdict(None, reason=BLANK_CLAIM_REASON)
    if text.is_blank:
        return Verdict("no", probability=0.0, reason=BLANK_TEXT_REASON)
    return None
