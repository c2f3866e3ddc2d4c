"""Calls to a chat-completions service that are made once, kept, paced and repeated where repeating helps."""

import asyncio
import hashlib
import random
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal
from weakref import WeakKeyDictionary, WeakValueDictionary

from evaluation.judging._pace import Pace
from evaluation.judging._transport import Denied, Rejected, Reply, Service, Transient
from evaluation.judging._windows import estimated_tokens
from evaluation.judging.errors import JudgeRefused, JudgeUnavailable
from evaluation.judging.parsing import storable
from evaluation.judging.prompts import Prompt, canonical
from evaluation.judging.protocol import Budget, CallStore, Json, Limits, Price, StoredCall, Usage, note_usage

if TYPE_CHECKING:
    import httpx2

Format = Literal["json_schema", "json_object", "text"]
_FORMATS: tuple[Format, ...] = ("json_schema", "json_object", "text")
_FIRST_BACKOFF_SECONDS = 0.5
_ABOUT_THE_CONTENT = frozenset({"context_length_exceeded", "content_filter", "content_policy_violation"})


@dataclass(frozen=True, slots=True)
class Settings:
    """Where and how a judge is called. `parameters` go into every request as they are."""

    judge: str
    base_url: str
    api_key: str | None = field(repr=False)
    parameters: Mapping[str, Json]
    limits: Limits
    http_client: "httpx2.AsyncClient | None" = None
    price: Price | None = None
    budget: Budget | None = None


@dataclass(frozen=True, slots=True)
class _Request:
    """One question as it is sent, whatever the format of the reply turns out to be."""

    prompt: Prompt
    parts: Sequence[str]
    system: str
    message: str


class _Session:
    """What belongs to one event loop: connections, calls in flight, the pause that the server asked for."""

    def __init__(self, settings: Settings) -> None:
        limits = settings.limits
        self.service = Service(
            settings.base_url, settings.api_key, limits.timeout_seconds, settings.http_client
        )
        self.slots = asyncio.Semaphore(limits.concurrency)
        self.resume_at = 0.0
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def lock(self, key: str) -> asyncio.Lock:
        """The lock under which one question is asked; it goes when the last one who holds it does."""
        return self._locks.setdefault(key, asyncio.Lock())

    async def pause(self) -> None:
        """Wait until the server wants to hear from us again."""
        wait = self.resume_at - asyncio.get_running_loop().time()
        if wait > 0:
            await asyncio.sleep(wait)


class Caller:
    """One judge's calls. Safe to use from several event loops and threads at once."""

    def __init__(self, settings: Settings, store: CallStore) -> None:
        self._settings = settings
        self._store = store
        self._format: Format = "json_schema"
        self._length_field = "max_tokens"
        self._sessions: WeakKeyDictionary[asyncio.AbstractEventLoop, _Session] = WeakKeyDictionary()
        self._guard = threading.Lock()
        self._pace = Pace(settings.limits.calls_per_minute, settings.limits.tokens_per_minute)

    async def call(
        self,
        prompt: Prompt,
        system: str,
        user: Json,
        *,
        identity: str,
        asking: int,
        parts: Sequence[str] = (),
    ) -> StoredCall:
        """The reply to one question: the stored one, else a new one, which is then stored.

        `identity` stands for everything about the judge that can change its answers; `asking` counts how
        often the same question is put. A request that the server rejects comes back with finish reason
        "rejected", unstored.
        Raises JudgeRefused, JudgeUnavailable and BudgetSpent.
        """
        message = storable(canonical(user))
        key = _digest(identity, prompt.step, prompt.version, system, message, str(asking))
        session = self._session()
        # Those who ask the same thing at the same time wait for the one who pays.
        async with session.lock(key):
            stored = await self._store.get(key)
            if stored is not None:
                return stored
            call = await self._fetch(session, key, _Request(prompt, parts, system, message))
            if call.finish_reason != "rejected":
                await self._store.put(call)
            return call

    async def aclose(self) -> None:
        """Close the connections of the running event loop."""
        with self._guard:
            session = self._sessions.pop(asyncio.get_running_loop(), None)
        if session is not None:
            await session.service.aclose()

    def _session(self) -> _Session:
        loop = asyncio.get_running_loop()
        with self._guard:
            # A session refers to its loop, so closed loops would stay in the mapping for ever.
            for other in [other for other in self._sessions if other.is_closed()]:
                del self._sessions[other]
            if loop not in self._sessions:
                self._sessions[loop] = _Session(self._settings)
            return self._sessions[loop]

    async def _fetch(self, session: _Session, key: str, request: _Request) -> StoredCall:
        """Ask in the best format that the server is not known to reject; remember what it rejects."""
        reply: Reply | None = None
        rejection: Rejected | None = None
        body: dict[str, Any] = {}
        for chosen in _FORMATS[_FORMATS.index(self._format) :]:
            body = self._body(request, chosen)
            try:
                reply = await self._paid(session, body)
            except Rejected as refusal:
                rejection = rejection or refusal
                if refusal.code in _ABOUT_THE_CONTENT:
                    break
                continue
            self._format = max(self._format, chosen, key=_FORMATS.index)
            break
        return StoredCall(
            key=key,
            judge=self._settings.judge,
            step=request.prompt.step,
            prompt_version=request.prompt.version,
            request=reply.request if reply else canonical(body),
            reply=storable(reply.content if reply else str(rejection)),
            finish_reason=reply.finish_reason if reply else "rejected",
            prompt_tokens=reply.prompt_tokens if reply else None,
            completion_tokens=reply.completion_tokens if reply else None,
            seconds=reply.seconds if reply else 0.0,
        )

    def _body(self, request: _Request, chosen: Format) -> dict[str, Any]:
        prompt, system = request.prompt, request.system
        schema = prompt.schema_of(request.parts)
        if chosen != "json_schema" and prompt.parts:
            system = f"{system}\nAnswer with JSON only, of this schema: {canonical(schema)}"
        messages = [{"role": "system", "content": system}, {"role": "user", "content": request.message}]
        body: dict[str, Any] = {**self._settings.parameters, "messages": messages}
        body[self._length_field] = self._settings.limits.max_tokens
        if chosen == "json_schema":
            named = {"name": prompt.step, "strict": True, "schema": schema}
            body["response_format"] = {"type": "json_schema", "json_schema": named}
        elif chosen == "json_object":
            body["response_format"] = {"type": "json_object"}
        return body

    async def _paid(self, session: _Session, body: dict[str, Any]) -> Reply:
        """The reply, with its cost set aside before and settled after."""
        price, budget = self._settings.price, self._settings.budget
        prompt_tokens = sum(estimated_tokens(message["content"]) for message in body["messages"])
        most = 0.0 if price is None else price.of(prompt_tokens, self._settings.limits.max_tokens)
        if budget is not None:
            budget.reserve(most)
        cost = 0.0
        try:
            reply = await self._persistent(session, body, prompt_tokens)
            cost = most if reply.prompt_tokens is None else self._cost(reply)
            note_usage(Usage(1, reply.prompt_tokens or 0, reply.completion_tokens or 0, reply.seconds, cost))
            return reply
        finally:
            if budget is not None:
                budget.settle(most, cost)

    def _cost(self, reply: Reply) -> float:
        price = self._settings.price
        if price is None:
            return 0.0
        return price.of(reply.prompt_tokens or 0, reply.completion_tokens or 0)

    async def _persistent(self, session: _Session, body: dict[str, Any], prompt_tokens: int) -> Reply:
        """Make attempts until one is answered, up to the limits."""
        limits = self._settings.limits
        for attempt in range(1, limits.max_attempts + 1):
            await session.pause()
            await self._pace.turn(prompt_tokens + limits.max_tokens)
            try:
                return await self._attempt(session, body)
            except Transient as failure:
                wait = _backoff(attempt) if failure.wait is None else failure.wait
                if attempt == limits.max_attempts:
                    raise JudgeUnavailable(
                        f"{self._described()} could not be asked: {failure} ({attempt} attempts)."
                    ) from None
                if wait > limits.max_wait_seconds:
                    raise JudgeUnavailable(
                        f"{self._described()} asks to wait {wait:.0f} s, longer than the "
                        f"{limits.max_wait_seconds:g} s allowed."
                    ) from None
                if failure.wait is not None:
                    session.resume_at = max(session.resume_at, asyncio.get_running_loop().time() + wait)
                await asyncio.sleep(wait)
        raise AssertionError("max_attempts is at least 1")

    async def _attempt(self, session: _Session, body: dict[str, Any]) -> Reply:
        timeout = self._settings.limits.timeout_seconds
        async with session.slots:
            try:
                # The client's own timeout is per read, so a server that trickles would never meet it.
                async with asyncio.timeout(timeout):
                    return await session.service.ask(body)
            except TimeoutError:
                raise Transient(f"it did not answer within {timeout:g} s") from None
            except Denied as denial:
                raise JudgeRefused(f"{self._described()} refused: {denial}.") from None
            except Rejected as rejection:
                if not self._is_about_length_field(rejection, body):
                    raise
        return await self._attempt(session, self._with_new_length_field(body))

    def _is_about_length_field(self, rejection: Rejected, body: Mapping[str, Any]) -> bool:
        # Newer OpenAI models know the limit of a reply only by its new name, older servers only by the old
        # one.
        return "max_tokens" in body and "max_tokens" in (rejection.parameter or str(rejection))

    def _with_new_length_field(self, body: dict[str, Any]) -> dict[str, Any]:
        self._length_field = "max_completion_tokens"
        renamed = dict(body)
        renamed[self._length_field] = renamed.pop("max_tokens")
        return renamed

    def _described(self) -> str:
        return f"The judge {self._settings.judge!r} at {self._settings.base_url}"


def _backoff(attempt: int) -> float:
    # Jitter, so that calls that failed together do not come back together.
    return float(_FIRST_BACKOFF_SECONDS * 2 ** (attempt - 1) * random.uniform(0.5, 1.0))


def _digest(*parts: str) -> str:
    # Lengths keep ("ab", "c") and ("a", "bc") apart.
    digest = hashlib.sha256()
    for part in parts:
        encoded = part.encode("utf-8", "surrogatepass")
        digest.update(len(encoded).to_bytes(8, "big"))
        digest.update(encoded)
    return digest.hexdigest()
