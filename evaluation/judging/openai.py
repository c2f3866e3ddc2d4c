"""A judge behind any server that speaks OpenAI's chat completions."""

import hashlib
import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import urlsplit

from evaluation.judging._asking import Answered, Question, ask, together
from evaluation.judging._merged import (
    CoverItems,
    ReadItems,
    align_question,
    is_worded,
    located,
    over_windows,
    verdict_of,
)
from evaluation.judging._windows import BYTES_PER_TOKEN, SMALLEST_ROOM, windows
from evaluation.judging.errors import JudgeSettings, UnusableReply
from evaluation.judging.parsing import Answer, parse_claims, parse_reason, parse_verdicts, storable
from evaluation.judging.prompts import (
    PROMPTS,
    Pieces,
    Step,
    canonical,
    check_input,
    check_step,
    extract_input,
)
from evaluation.judging.protocol import (
    Budget,
    CallStore,
    CoverReading,
    CoverRequest,
    DocumentReading,
    DocumentRequest,
    ExtractedClaim,
    Json,
    JudgedClaim,
    Limits,
    MemoryCallStore,
    Price,
    Side,
    StoredCall,
    Text,
    Verdict,
    verdict_by_rule,
)

if TYPE_CHECKING:
    import httpx2

    from evaluation.judging._caller import Caller

_K = TypeVar("_K")
_A = TypeVar("_A")

DEFAULT_BASE_URL = "https://api.openai.com/v1"


class OpenAIJudge:
    """An LLM behind an OpenAI-compatible server: OpenAI itself, vLLM, Ollama, a gateway.

    Nothing is read from the environment: no key, address, proxy or header. `api_key` None sends none, which
    local servers accept. `temperature` and `seed` None are left out of the request. Without a `store`
    answered calls are kept in memory as long as the judge lives. `http_client` is used as it is and left
    open; it must belong to the event loop in which the judge is used. `custom_instruction` is added to what
    every step tells the judge. With a `price` the cost of calls is known, and a `budget` can cap it.

    Asks for answers by JSON schema, and where the server does not know that, as a JSON object, then as plain
    text. Items without a usable answer are asked about once more.
    Raises JudgeSettings for settings that cannot work. `extract` and `check` raise JudgeRefused and
    JudgeUnavailable; `extract` also UnusableReply.

    Example: `OpenAIJudge("llama3.1", "http://127.0.0.1:11434/v1", seed=1)`.
    """

    kind = "openai"

    def __init__(
        self,
        model: str,
        base_url: str | None = None,
        api_key: str | None = None,
        *,
        name: str | None = None,
        temperature: float | None = 0.0,
        seed: int | None = None,
        limits: Limits | None = None,
        store: CallStore | None = None,
        http_client: "httpx2.AsyncClient | None" = None,
        custom_instruction: str | None = None,
        price: Price | None = None,
        budget: Budget | None = None,
    ) -> None:
        if not model.strip():
            raise JudgeSettings("A judge needs the name of a model.")
        self._base_url = _checked_url(base_url or DEFAULT_BASE_URL)
        self._limits = _checked_limits(limits or Limits())
        self.name = name or model
        self._api_key = _checked_key(api_key)
        self._http_client = http_client
        self._store: CallStore = MemoryCallStore() if store is None else store
        self._parameters: dict[str, Json] = {"model": model}
        if temperature is not None:
            self._parameters["temperature"] = temperature
        if seed is not None:
            self._parameters["seed"] = seed
        self._custom_instruction = (custom_instruction or "").strip()
        self._price = price
        self._budget = budget
        self._identity = canonical(
            {"base_url": self._base_url, "max_tokens": self._limits.max_tokens, **self._parameters}
        )
        self.signature = self._signed(model)
        self._caller: Caller | None = None
        self._guard = threading.Lock()

    def __repr__(self) -> str:
        return f"<OpenAIJudge {self.name!r} at {self._base_url}>"

    @property
    def concurrency(self) -> int:
        """How many calls it makes at once."""
        return self._limits.concurrency

    async def extract(self, text: Text) -> tuple[ExtractedClaim, ...]:
        """The claims of the text, in the order of its units; none for a blank text, without a call.

        Raises UnusableReply where some unit got no usable answer: half a text's claims would score as the
        whole.
        """
        return await self._extract(text, "")

    async def check(
        self, claims: Sequence[str], text: Text, *, side: Side = "covered"
    ) -> tuple[Verdict, ...]:
        """One verdict per claim, in the order of the claims.

        A claim that gets no usable answer, asked twice, is unscored with the reason. Against a blank text
        every claim is "no", without a call. Of a text longer than the judge's context every window is asked
        about, and a claim is "yes" where any of them says so.
        """
        return await self._check(claims, text, side, "")

    async def read_document(self, request: DocumentRequest) -> DocumentReading:
        """Claims, questions with the source's answers, and topics, as far as they are wanted: one call.

        A long document takes more: one for each window that its context allows, and for every so many units.
        """
        items = ReadItems(request)
        room = self._room("read_document", items.extra)
        parts = await together(
            [
                ask(self._call, question, chunk)
                for question, wanted in items.questions(room)
                for chunk in self._chunks(wanted)
            ]
        )
        return items.reading(parts)

    async def align_summary(
        self, source: Text, summary: Text, *, instruction: str = ""
    ) -> tuple[JudgedClaim, ...]:
        """The summary's claims, each with what the source says of it: one call.

        A claim whose answer cannot be read is asked about once more. Where source and summary do not fit into
        the context together, the claims are taken first and then held against the windows of the source.
        Raises UnusableReply where some unit of the summary got no usable answer.
        """
        wanted = [number for number, content in summary.numbered_units() if is_worded(content)]
        if not wanted:
            return ()
        if len(windows(source, self._room("align_summary", summary.text))) > 1 or source.is_blank:
            claims = await self._extract(summary, instruction)
            verdicts = await self._check([claim.text for claim in claims], source, "supported", instruction)
            return tuple(map(JudgedClaim, claims, verdicts))
        question = align_question(source, summary, wanted, instruction)
        found: list[tuple[ExtractedClaim, Answered[Answer]]] = []
        for part in await together([ask(self._call, question, chunk) for chunk in self._chunks(wanted)]):
            for number, answered in part.items():
                listed = self._usable(answered, number)
                found += [
                    (located(claim, number, summary), Answered(answer, "", answered.call))
                    for claim, answer in listed
                ]
        missing = [claim.text for claim, answered in found if answered.answer is None]
        again = dict(
            zip(missing, await self._check(missing, source, "supported", instruction, first=2), strict=True)
        )
        return tuple(
            JudgedClaim(claim, again[claim.text] if answered.answer is None else verdict_of(answered))
            for claim, answered in sorted(found, key=lambda pair: pair[0].unit)
        )

    async def check_source(
        self, claims: Sequence[str], source: Text, *, instruction: str = ""
    ) -> tuple[Verdict, ...]:
        """One verdict per claim, as `check`: does the source bear it out?"""
        return await self._check(claims, source, "supported", instruction)

    async def cover_summary(self, request: CoverRequest) -> CoverReading:
        """Claims, questions, topics and ratings of a summary, asked without its source: one call.

        Nothing is asked about a blank summary: it expresses nothing.
        """
        items = CoverItems(request)
        found = windows(request.summary, self._room("cover_summary", self._longest(items.texts)))
        parts = await together(
            [
                ask(self._call, items.question(pieces), chunk)
                for pieces in found
                for chunk in self._chunks(items.asked)
            ]
        )
        return items.reading(parts)

    async def explain(self, facts: Mapping[str, Json], *, instruction: str = "") -> str | None:
        """Scores and the verdicts behind them in a few sentences; None where two replies held no reason."""
        question: Question[str, str] = Question(
            "explain",
            compose=lambda _: facts,
            parse=lambda reply, items: (
                dict.fromkeys(items, reason) if (reason := parse_reason(reply)) else {}
            ),
            instruction=instruction,
        )
        return (await ask(self._call, question, ["reason"]))["reason"].answer

    async def aclose(self) -> None:
        """Close the connections of the running event loop; the judge can be used again."""
        if self._caller is not None:
            await self._caller.aclose()

    async def _extract(self, text: Text, instruction: str) -> tuple[ExtractedClaim, ...]:
        claims: list[ExtractedClaim] = []
        for pieces in windows(text, self._room("extract", "")):
            wanted = [number for number, content in pieces if is_worded(content)]
            question = _extract_question(text, pieces, instruction)
            for part in await together([ask(self._call, question, chunk) for chunk in self._chunks(wanted)]):
                for number, answered in part.items():
                    listed = self._usable(answered, number)
                    claims += [located(claim, number, text) for claim in listed]
        return tuple(claims)

    async def _check(
        self, claims: Sequence[str], text: Text, side: Side, instruction: str, first: int = 1
    ) -> tuple[Verdict, ...]:
        by_rule = {position: verdict_by_rule(claim, text) for position, claim in enumerate(claims)}
        asked = {f"c{position + 1}": claims[position] for position, rule in by_rule.items() if rule is None}
        room = self._room(check_step(side), self._longest(asked.values()))
        found = windows(text, room) if asked else []
        parts = await together(
            [
                ask(self._call, _check_question(text, pieces, asked, side, instruction), chunk, first)
                for pieces in found
                for chunk in self._chunks(list(asked))
            ]
        )
        return tuple(
            rule if rule is not None else verdict_of(over_windows(parts, f"c{position + 1}"))
            for position, rule in by_rule.items()
        )

    def _usable(self, answered: Answered[_A], unit: int) -> _A:
        """The answer. Raises UnusableReply where there is none."""
        if answered.answer is None:
            raise UnusableReply(
                f"The judge {self.name!r} gave no claims for unit {unit}: {answered.reason}",
                call=answered.call,
            )
        return answered.answer

    def _chunks(self, items: Sequence[_K]) -> list[Sequence[_K]]:
        size = self._limits.claims_per_call
        return [items[start : start + size] for start in range(0, len(items), size)]

    def _longest(self, texts: Iterable[str]) -> str:
        """The longest texts that one call may ask about, as one."""
        return " ".join(sorted(texts, key=len)[-self._limits.claims_per_call :])

    def _room(self, step: Step, extra: str) -> int | None:
        """Bytes of text that fit into one call beside what else it holds; None where everything does."""
        context = self._limits.context_tokens
        if context is None:
            return None
        prompt = PROMPTS[step]
        told = prompt.render(self._custom_instruction, list(prompt.parts))
        beside = len(
            (told + canonical(prompt.schema_of(list(prompt.parts))) + extra).encode("utf-8", "replace")
        )
        return max(SMALLEST_ROOM, (context - self._limits.max_tokens) * BYTES_PER_TOKEN - beside)

    async def _call(
        self, step: Step, parts: Sequence[str], instruction: str, message: Json, asking: int
    ) -> StoredCall:
        prompt = PROMPTS[step]
        wish = "\n".join(filter(None, (self._custom_instruction, instruction.strip())))
        return await self._calls().call(
            prompt,
            storable(prompt.render(wish, parts)),
            message,
            parts=parts,
            identity=self._identity,
            asking=asking,
        )

    def _calls(self) -> "Caller":
        # The openai package takes about a second to import; who never calls need not wait for it.
        from evaluation.judging._caller import Caller, Settings  # noqa: PLC0415

        with self._guard:
            if self._caller is None:
                settings = Settings(
                    self.name,
                    self._base_url,
                    self._api_key,
                    self._parameters,
                    self._limits,
                    self._http_client,
                    self._price,
                    self._budget,
                )
                self._caller = Caller(settings, self._store)
            return self._caller

    def _signed(self, model: str) -> str:
        versions = ".".join(prompt.version for prompt in PROMPTS.values())
        told = [
            storable(prompt.render(self._custom_instruction, list(prompt.parts)))
            for prompt in PROMPTS.values()
        ]
        everything = canonical([self._identity, versions, *told])
        digest = hashlib.sha256(everything.encode("utf-8", "surrogatepass")).hexdigest()
        return f"openai:{model}|prompts:{versions}|{digest[:12]}"


def _extract_question(text: Text, pieces: Pieces, instruction: str) -> Question[int, tuple[str, ...]]:
    return Question(
        "extract",
        compose=lambda wanted: extract_input(text, wanted, pieces),
        parse=parse_claims,
        instruction=instruction,
    )


def _check_question(
    text: Text, pieces: Pieces, asked: Mapping[str, str], side: Side, instruction: str
) -> Question[str, Answer]:
    units = len(text.unit_spans)
    return Question(
        check_step(side),
        compose=lambda ids: check_input(text, {identity: asked[identity] for identity in ids}, pieces),
        parse=lambda reply, ids: parse_verdicts(reply, ids, units),
        instruction=instruction,
    )


def _checked_url(base_url: str) -> str:
    parts = urlsplit(base_url.strip())
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise JudgeSettings(
            f"A judge's base URL starts with http:// or https:// and names a host, got {base_url!r}."
        )
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        raise JudgeSettings(
            "A judge's base URL holds neither user, password, query nor fragment; give the key as api_key."
        )
    return base_url.strip().rstrip("/")


def _checked_key(api_key: str | None) -> str | None:
    key = (api_key or "").strip()
    if not key.isascii() or not key.isprintable():
        raise JudgeSettings("The API key holds characters that cannot be sent in a header.")
    return key or None


def _checked_limits(limits: Limits) -> Limits:
    for name in ("concurrency", "max_attempts", "max_tokens", "claims_per_call"):
        if getattr(limits, name) < 1:
            raise JudgeSettings(f"The limit {name} must be at least 1, got {getattr(limits, name)}.")
    for name in ("calls_per_minute", "tokens_per_minute", "context_tokens"):
        value = getattr(limits, name)
        if value is not None and value < 1:
            raise JudgeSettings(f"The limit {name} must be at least 1 or None, got {value}.")
    if limits.context_tokens is not None and limits.context_tokens <= limits.max_tokens:
        raise JudgeSettings(
            f"The limit context_tokens ({limits.context_tokens}) must be larger than max_tokens "
            f"({limits.max_tokens}), for the reply is part of the context."
        )
    if limits.timeout_seconds <= 0 or limits.max_wait_seconds < 0:
        raise JudgeSettings(
            "The limits timeout_seconds and max_wait_seconds must not be negative, nor the first 0."
        )
    return limits
