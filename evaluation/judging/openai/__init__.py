"""A judge that calls an OpenAI-compatible server."""

import hashlib
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from copy import copy
from dataclasses import fields
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from evaluation.judging._windows import (
    BYTES_FOR_FORMAT,
    BYTES_PER_TOKEN,
    SMALLEST_ROOM,
    json_bytes,
    pieces_bytes,
)
from evaluation.judging.errors import JudgeSettings, UnusableReply
from evaluation.judging.money import MoneyCap
from evaluation.judging.openai._asking import Answered, ask, ask_for_claims
from evaluation.judging.openai._formats import Settings
from evaluation.judging.openai._merged import (
    CoverItems,
    Listed,
    ReadItems,
    align_question,
    located,
    verdict_of,
)
from evaluation.judging.orchestration import chunks, claims_of, together
from evaluation.judging.pace import Pace
from evaluation.judging.parsing import Answer, storable
from evaluation.judging.prompts import PROMPTS, Prompt, Step, align_input, canonical, cover_input, read_input
from evaluation.judging.protocol import (
    REPLY_FORMATS,
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
    ReplyFormat,
    StoredCall,
    Text,
    Verdict,
    is_worded,
)

if TYPE_CHECKING:
    import httpx2

    from evaluation.judging.openai._caller import Caller

DEFAULT_BASE_URL = "https://api.openai.com/v1"


class OpenAIJudge:
    """An LLM at an OpenAI-compatible server: OpenAI itself, vLLM, Ollama, a gateway.

    It asks once more about items without a usable answer.
    - `base_url`, `api_key`: None means OpenAI's address, and no key (for local servers)
    - `temperature`, `seed`: requests do not contain them if they are None
    - `store`: the store of answered calls; the default is a store in memory
    - `http_client`: must belong to the event loop that uses the judge; the judge does not close it
    - `custom_instruction`: an addition to the prompt of every step
    - `prompts`: prompts that replace the built-in ones, by step; see `Prompt.reworded`
    - `price`, `budget`: the price of tokens, and a limit on the cost of calls
    - `remember`: a function that gets the reply format and the refused parameters of the server when they are found.
      It is called in the event loop and must not raise.
    - `reply_format`, `refused`: values that `remember` received earlier
    - `pace`: a limit per minute that several judges share; it replaces the judge's own limit

    Raises JudgeSettings for invalid settings. Its methods raise JudgeRefused, JudgeUnavailable and BudgetSpent;
    `align_summary` also raises UnusableReply.
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
        prompts: Mapping[Step, Prompt] | None = None,
        price: Price | None = None,
        budget: Budget | None = None,
        reply_format: ReplyFormat | None = None,
        refused: Collection[str] = (),
        remember: Callable[[ReplyFormat, tuple[str, ...]], None] | None = None,
        pace: Pace | None = None,
    ) -> None:
        _check_texts(
            model=model or "",
            base_url=base_url,
            api_key=api_key,
            name=name,
            custom_instruction=custom_instruction,
        )
        if not (model and model.strip()):
            raise JudgeSettings("A judge needs the name of a model.")
        self.name = name or model
        parameters: dict[str, Json] = {"model": model, "temperature": temperature, "seed": seed}
        self._settings = Settings(
            self.name,
            _checked_url(base_url or DEFAULT_BASE_URL),
            _checked_key(api_key),
            {name: value for name, value in parameters.items() if value is not None},
            _checked_limits(limits or Limits()),
            MemoryCallStore() if store is None else store,
            http_client,
            price,
            _checked_budget(budget, price, self.name),
            _checked_format(reply_format),
            pace,
            tuple(refused),
            remember,
        )
        self._limits = self._settings.limits
        self._custom_instruction = (custom_instruction or "").strip()
        self._prompts: dict[Step, Prompt] = {**PROMPTS, **(prompts or {})}
        if wrong := [
            step for step, prompt in self._prompts.items() if step not in PROMPTS or step != prompt.step
        ]:
            told = f"No prompt belongs under the step {wrong[0]!r}."
            raise JudgeSettings(f"{told} Steps: {', '.join(PROMPTS)}.")
        own: dict[str, Json] = {"base_url": self._settings.base_url, "max_tokens": self._limits.max_tokens}
        self._identity = canonical({**own, **self._settings.parameters})
        self.signature = self._signed(model)
        self._caller: Caller | None = None
        self._guard = threading.Lock()

    def __repr__(self) -> str:
        return f"<OpenAIJudge {self.name!r} at {self._settings.base_url}>"

    def again(self, token: str) -> "OpenAIJudge":
        """Return a copy of the judge that asks stored questions again, under call keys with the token.

        The copy shares connections and limits with the judge.
        """
        twin = self.with_prompts({})
        twin._identity = canonical([self._identity, token])
        return twin

    def with_prompts(self, prompts: Mapping[Step, Prompt]) -> "OpenAIJudge":
        """Return a copy of the judge with other prompts; the copy shares store, connections, limits and signature."""
        twin = copy(self)
        twin._caller = self._calls()
        twin._prompts = {**self._prompts, **prompts}
        return twin

    @property
    def concurrency(self) -> int:
        """Return the largest number of simultaneous calls."""
        return self._limits.concurrency

    async def read_document(self, request: DocumentRequest) -> DocumentReading:
        """Read the requested claims, questions with the source's answers, and topics, in one call if they fit.

        A question is answered yes if any window of the source answers yes.
        """
        items = ReadItems(request)
        most = self._limits.claims_per_call
        beside = read_input(
            [], reference=[(0, "")], wanted=_numbers(request.claims_text, most), n_questions=99
        )
        calls = items.calls(self._room("read_document", request.instruction, beside), most)
        parts = await ask_for_claims(
            self._call,
            calls,
            request.claims_text,
            is_unit=items.is_unit,
            has_claims=lambda taken: not isinstance(taken, Listed) or bool(taken.texts),
        )
        return items.reading(parts)

    async def align_summary(
        self, source: Text, summary: Text, *, instruction: str = ""
    ) -> tuple[JudgedClaim, ...]:
        """Extract the summary's claims and check them against the source.

        If source and summary together exceed the context, the claims are extracted first and checked then. Raises
        UnusableReply if a unit of the summary has no usable answer.
        """
        wanted = [number for number, content in summary.numbered_units() if is_worded(content)]
        if not wanted:
            return ()
        if source.is_blank or not self._fits_to_align(source, summary, instruction):
            claims = await claims_of(self, DocumentRequest(summary, claims=True, instruction=instruction))
            texts = [claim.text for claim in claims]
            return tuple(map(JudgedClaim, claims, await self._supported(texts, source, instruction)))
        question = align_question(source, summary, wanted, instruction)
        parts = await ask_for_claims(
            self._call,
            [(question, chunk) for chunk in chunks(wanted, self._limits.claims_per_call)],
            summary,
            is_unit=lambda _: True,
            has_claims=bool,
        )
        units = {number: answered for part in parts for number, answered in part.items()}
        if missing := [answered for answered in units.values() if answered.answer is None]:
            told = f"The judge {self.name!r} gave no claims for {len(missing)} of {len(units)} units"
            raise UnusableReply(f"{told}: {missing[0].reason}")
        found: list[tuple[ExtractedClaim, Answered[Answer]]] = [
            (located(claim, number, summary), Answered(answer, "", answered.call))
            for number, answered in units.items()
            for claim, answer in answered.answer or ()
        ]
        left = [claim.text for claim, answered in found if answered.answer is None]
        again = dict(zip(left, await self._supported(left, source, instruction, first=2), strict=True))
        return tuple(
            JudgedClaim(claim, again[claim.text] if answered.answer is None else verdict_of(answered))
            for claim, answered in sorted(found, key=lambda pair: pair[0].unit)
        )

    async def check_source(
        self, claims: Sequence[str], source: Text, *, instruction: str = ""
    ) -> tuple[Verdict, ...]:
        """Check whether the source supports each claim; one verdict per claim, in order."""
        return await self._supported(claims, source, instruction)

    async def cover_summary(self, request: CoverRequest) -> CoverReading:
        """Answer the claims, questions, topics and criteria of `request` from its summary, in one call if they fit.

        An item is yes if any window of the summary answers yes; `combined` merges the ratings of windows. If
        `request.beside` does not fit into one call with the summary, the ratings are unscored.
        """
        return await self._cover(request, "check_supported" if request.beside else "cover_summary")

    async def aclose(self) -> None:
        """Close the connections of the running event loop; the judge can be used again."""
        if self._caller is not None:
            await self._caller.aclose()

    async def _supported(
        self, claims: Sequence[str], source: Text, instruction: str, first: int = 1
    ) -> tuple[Verdict, ...]:
        request = CoverRequest(source, tuple(claims), instruction=instruction)
        return (await self._cover(request, "check_supported", first)).claims

    async def _cover(self, request: CoverRequest, step: Step, first: int = 1) -> CoverReading:
        items = CoverItems(request, step)
        own = {f"r{number}": each for number, each in enumerate(request.criteria, start=1)}
        room = self._room(step, request.instruction, cover_input([], {}, own))
        calls = items.calls(room, self._limits.claims_per_call)
        parts = await together([ask(self._call, question, chunk, first) for question, chunk in calls])
        return items.reading(parts)

    def _fits_to_align(self, source: Text, summary: Text, instruction: str) -> bool:
        beside = align_input([], [], _numbers(summary, self._limits.claims_per_call))
        room = self._room("align_summary", instruction, beside)
        if room is None:
            return True
        return pieces_bytes([*source.numbered_units(), *summary.numbered_units()]) <= room

    def _room(self, step: Step, instruction: str, beside: Json) -> int | None:
        """Return the bytes that a call has for texts and items, in addition to the message `beside`; None if there is
        no limit.

        The result is at least SMALLEST_ROOM.
        """
        context = self._limits.context_tokens
        if context is None:
            return None
        prompt = self._prompts[step]
        told = prompt.render(self._wish(instruction), list(prompt.parts))
        schema = prompt.schema_of(list(prompt.parts))
        taken = json_bytes([told, schema, beside]) + BYTES_FOR_FORMAT
        return max(SMALLEST_ROOM, (context - self._limits.max_tokens) * BYTES_PER_TOKEN - taken)

    def _wish(self, instruction: str) -> str:
        return "\n".join(filter(None, (self._custom_instruction, instruction.strip())))

    async def _call(
        self, step: Step, parts: Sequence[str], instruction: str, message: Json, asking: int
    ) -> StoredCall:
        prompt = self._prompts[step]
        return await self._calls().call(
            prompt,
            storable(prompt.render(self._wish(instruction), parts)),
            message,
            parts=parts,
            identity=self._identity,
            asking=asking,
        )

    def _calls(self) -> "Caller":
        # Import the openai package on first use, because it takes about a second.
        from evaluation.judging.openai._caller import Caller  # noqa: PLC0415

        with self._guard:
            if self._caller is None:
                self._caller = Caller(self._settings)
            return self._caller

    def _signed(self, model: str) -> str:
        versions = ".".join(prompt.version for prompt in self._prompts.values())
        told = [
            storable(prompt.render(self._custom_instruction, list(prompt.parts)))
            for prompt in self._prompts.values()
        ]
        everything = canonical([self._identity, versions, *told])
        digest = hashlib.sha256(everything.encode("utf-8", "surrogatepass")).hexdigest()
        return f"openai:{model[:100]}|prompts:{versions}|{digest[:12]}"


def _numbers(text: Text, most: int) -> list[int]:
    count = len(text.unit_spans)
    return list(range(max(0, count - most) + 1, count + 1))


def _check_texts(**settings: object) -> None:
    for name, value in settings.items():
        # Name only the type in the message, because the value may be an API key.
        if not isinstance(value, str | None):
            raise JudgeSettings(f"A judge's {name} must be a text, got {type(value).__name__}.")


ANY_PORT = ":*"
"""Allows every port of a host in a list of base URLs that judges may call."""


def base_url_fault(base_url: str) -> str:
    """Describe the fault of a base URL in a sentence; "" if there is none.

    No request is made.
    """
    try:
        parts = urlsplit(base_url)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        return f"A judge's base URL cannot be read: {error}."
    # Refuse these characters, because parsers disagree on tabs and line breaks.
    if any(char.isspace() or not char.isprintable() for char in base_url):
        return "A judge's base URL holds no spaces, line ends or other characters that are not shown."
    if parts.username is not None or parts.password is not None or "?" in base_url or "#" in base_url:
        return (
            "A judge's base URL holds neither user, password, query nor fragment; keys are given beside it, by their "
            "own setting."
        )
    if parts.scheme not in ("http", "https") or not host:
        return "A judge's base URL starts with http:// or https:// and names a host."
    return ""


def _checked_url(base_url: str) -> str:
    base_url = base_url.strip()
    if fault := base_url_fault(base_url):
        raise JudgeSettings(fault)
    return base_url.rstrip("/")


def _checked_key(api_key: str | None) -> str | None:
    key = (api_key or "").strip()
    if not key.isascii() or not key.isprintable():
        raise JudgeSettings("The API key holds characters that cannot be sent in a header.")
    return key or None


def _checked_budget(budget: Budget | None, price: Price | None, name: str) -> Budget | None:
    if budget is None:
        return None
    prices = (0.0,) if price is None else (price.prompt, price.completion)
    # A money cap needs both prices. Any other budget needs one price.
    if not (min(prices) > 0 if isinstance(budget, MoneyCap) else max(prices) > 0):
        told = f"The judge {name!r} has no price, so a cap would hold nothing. Give the price of a million tokens"
        raise JudgeSettings(f"{told} of prompts and of replies, both above 0: price=Price(2.0, 8.0).")
    return budget


def _checked_format(reply_format: ReplyFormat | None) -> ReplyFormat | None:
    if reply_format is not None and reply_format not in REPLY_FORMATS:
        told = f"A reply format is one of {', '.join(REPLY_FORMATS)}, or None where it is not known"
        raise JudgeSettings(f"{told}; got {reply_format!r}.")
    return reply_format


def _checked_limits(limits: Limits) -> Limits:
    for each in fields(limits):
        value, least = getattr(limits, each.name), 0 if each.name.endswith("seconds") else 1
        if (value is None and each.default is not None) or (value is not None and value < least):
            or_none = "" if each.default is not None else " or None"
            raise JudgeSettings(f"The limit {each.name} must be at least {least}{or_none}, got {value}.")
    if limits.timeout_seconds == 0:
        raise JudgeSettings("The limit timeout_seconds must be above 0.")
    if limits.context_tokens is not None and limits.context_tokens <= limits.max_tokens:
        told = f"The limit context_tokens ({limits.context_tokens}) must be larger than max_tokens"
        raise JudgeSettings(f"{told} ({limits.max_tokens}), for the reply is part of the context.")
    return limits
