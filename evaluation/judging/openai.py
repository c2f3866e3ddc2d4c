"""A judge behind any server that speaks OpenAI's chat completions."""

import asyncio
import hashlib
import threading
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar
from urllib.parse import urlsplit

from evaluation.judging.errors import JudgeSettings, UnusableReply
from evaluation.judging.parsing import Answer, one_line, parse_claims, parse_verdicts, storable
from evaluation.judging.prompts import (
    PROMPTS,
    Json,
    Step,
    canonical,
    check_input,
    check_step,
    extract_input,
)
from evaluation.judging.protocol import (
    CallStore,
    ExtractedClaim,
    Limits,
    MemoryCallStore,
    Side,
    StoredCall,
    Text,
    Verdict,
    verdict_by_rule,
)

if TYPE_CHECKING:
    import httpx2

    from evaluation.judging._caller import Caller

DEFAULT_BASE_URL = "https://api.openai.com/v1"
MOST_ASKINGS = 2
_LONGEST_REPORTED_REPLY = 200

_K = TypeVar("_K")
_A = TypeVar("_A")
_R = TypeVar("_R")


@dataclass(frozen=True, slots=True)
class _Answered(Generic[_A]):
    """What one item of a question got: an answer, or the reason for none."""

    answer: _A | None
    reason: str
    call: str | None


@dataclass(frozen=True, slots=True)
class _Question(Generic[_K, _A]):
    """How a list of items is asked about, whatever they are."""

    step: Step
    compose: Callable[[Sequence[_K]], Json]
    parse: Callable[[str, Sequence[_K]], dict[_K, _A]]


class OpenAIJudge:
    """An LLM behind an OpenAI-compatible server: OpenAI itself, vLLM, Ollama, a gateway.

    Nothing is read from the environment: no key, address, proxy or header. `api_key` None sends none, which
    local servers accept. `temperature` and `seed` None are left out of the request. Without a `store`
    answered calls are kept in memory as long as the judge lives. `http_client` is used as it is and left
    open; it must belong to the event loop in which the judge is used. `custom_instruction` is added to what
    every step tells the judge.

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
        self._systems = {
            step: storable(prompt.render(custom_instruction)) for step, prompt in PROMPTS.items()
        }
        self._identity = canonical(
            {"base_url": self._base_url, "max_tokens": self._limits.max_tokens, **self._parameters}
        )
        self.signature = self._signed(model)
        self._caller: Caller | None = None
        self._guard = threading.Lock()

    def __repr__(self) -> str:
        return f"<OpenAIJudge {self.name!r} at {self._base_url}>"

    async def extract(self, text: Text) -> tuple[ExtractedClaim, ...]:
        """The claims of the text, in the order of its units; none for a blank text, without a call.

        Raises UnusableReply where some unit got no usable answer: half a text's claims would score as the
        whole.
        """
        units = {number: content for number, content in text.numbered_units() if _has_words(content)}
        if not units:
            return ()
        question: _Question[int, tuple[str, ...]] = _Question(
            "extract",
            compose=lambda wanted: extract_input(text, wanted),
            parse=parse_claims,
        )
        answered = await self._ask(question, list(units))
        claims: list[ExtractedClaim] = []
        for number in units:
            got = answered[number]
            if got.answer is None:
                raise UnusableReply(
                    f"The judge {self.name!r} gave no claims for unit {number}: {got.reason}", call=got.call
                )
            claims.extend(_located(claim, number, text) for claim in got.answer)
        return tuple(claims)

    async def check(
        self, claims: Sequence[str], text: Text, *, side: Side = "covered"
    ) -> tuple[Verdict, ...]:
        """One verdict per claim, in the order of the claims.

        A claim that gets no usable answer, asked twice, is unscored with the reason. Against a blank text
        every claim is "no", without a call.
        """
        by_rule = {position: verdict_by_rule(claim, text) for position, claim in enumerate(claims)}
        asked = {f"c{position + 1}": claims[position] for position, rule in by_rule.items() if rule is None}
        units = len(text.unit_spans)
        question: _Question[str, Answer] = _Question(
            check_step(side),
            compose=lambda ids: check_input(text, {identity: asked[identity] for identity in ids}),
            parse=lambda reply, ids: parse_verdicts(reply, ids, units),
        )
        size = self._limits.claims_per_call
        ids = list(asked)
        chunks = [ids[start : start + size] for start in range(0, len(ids), size)]
        answered: dict[str, _Answered[Answer]] = {}
        for part in await _all([self._ask(question, chunk) for chunk in chunks]):
            answered.update(part)
        return tuple(
            rule if rule is not None else _verdict(answered[f"c{position + 1}"])
            for position, rule in by_rule.items()
        )

    async def aclose(self) -> None:
        """Close the connections of the running event loop; the judge can be used again."""
        if self._caller is not None:
            await self._caller.aclose()

    async def _ask(self, question: _Question[_K, _A], items: Sequence[_K]) -> dict[_K, _Answered[_A]]:
        """Each item's answer. Items without a usable one are asked about again, once."""
        answered: dict[_K, _Answered[_A]] = {}
        groups: list[Sequence[_K]] = [items]
        for asking in range(1, MOST_ASKINGS + 1):
            calls = await _all([self._call(question, group, asking) for group in groups])
            again: list[Sequence[_K]] = []
            for group, call in zip(groups, calls, strict=True):
                outcome = _read(question, group, call)
                answered.update(outcome)
                if call.finish_reason in _FINAL:
                    continue
                missing = [item for item in group if outcome[item].answer is None]
                again.extend(
                    _halves(missing) if call.finish_reason == "length" else [missing] if missing else []
                )
            groups = again
        return answered

    async def _call(self, question: _Question[_K, _A], items: Sequence[_K], asking: int) -> StoredCall:
        return await self._calls().call(
            PROMPTS[question.step],
            self._systems[question.step],
            question.compose(items),
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
                )
                self._caller = Caller(settings, self._store)
            return self._caller

    def _signed(self, model: str) -> str:
        versions = ".".join(prompt.version for prompt in PROMPTS.values())
        everything = canonical([self._identity, versions, *self._systems.values()])
        digest = hashlib.sha256(everything.encode("utf-8", "surrogatepass")).hexdigest()
        return f"openai:{model}|prompts:{versions}|{digest[:12]}"


_FINAL = frozenset({"refusal", "content_filter", "rejected"})
"""Finish reasons that asking the same thing again would only repeat."""


def _read(question: _Question[_K, _A], items: Sequence[_K], call: StoredCall) -> dict[_K, _Answered[_A]]:
    fault = _fault(call)
    answers = {} if fault else question.parse(call.reply, items)
    missing = fault or (
        "the reply does not answer this one" if answers else "the reply holds no answer in the form asked for"
    )
    key = None if call.finish_reason == "rejected" else call.key
    return {
        item: _Answered(answers[item], "", key) if item in answers else _Answered(None, f"{missing}.", key)
        for item in items
    }


def _fault(call: StoredCall) -> str:
    """Why a reply cannot be read at all, or nothing."""
    said = one_line(call.reply, _LONGEST_REPORTED_REPLY).rstrip(".")
    match call.finish_reason:
        case "length":
            return "the reply was cut off before its end (finish_reason length)"
        case "refusal":
            return f"the judge refused: {said}"
        case "content_filter":
            return "the provider's content filter withheld the reply"
        case "rejected":
            return f"the server rejected the request: {said}"
        case "not a completion":
            return f"the server's answer was not a chat completion{f': {said}' if said else ''}"
    return "" if call.reply.strip() else "the reply was empty"


def _verdict(answered: _Answered[Answer]) -> Verdict:
    answer = answered.answer
    if answer is None:
        return Verdict(None, reason=f"Unscored: {answered.reason}", call=answered.call)
    return Verdict(answer.label, answer.probability, answer.evidence, answer.reason, answered.call)


def _located(claim: str, unit: int, text: Text) -> ExtractedClaim:
    span = text.unit_spans[unit - 1]
    start = text.text.find(claim, span.start, span.end)
    if start < 0:
        return ExtractedClaim(claim, unit)
    return ExtractedClaim(claim, unit, start, start + len(claim))


def _halves(items: Sequence[_K]) -> list[Sequence[_K]]:
    middle = (len(items) + 1) // 2
    return [half for half in (items[:middle], items[middle:]) if half]


def _has_words(content: str) -> bool:
    return any(character.isalnum() for character in content)


async def _all(work: Sequence[Coroutine[None, None, _R]]) -> list[_R]:
    """Every result, in order; at the first failure the rest is cancelled, so that nothing is left running."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(each) for each in work]
    except BaseExceptionGroup as failures:
        raise failures.exceptions[0] from None
    return [task.result() for task in tasks]


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
    if limits.timeout_seconds <= 0 or limits.max_wait_seconds < 0:
        raise JudgeSettings(
            "The limits timeout_seconds and max_wait_seconds must not be negative, nor the first 0."
        )
    return limits
