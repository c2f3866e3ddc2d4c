"""Call a chat-completions service: store replies, limit the pace, and retry after temporary faults."""

import asyncio
import hashlib
import random
import re
import threading
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary, WeakValueDictionary

from evaluation.judging._windows import estimated_tokens
from evaluation.judging.errors import JudgeRefused, JudgeUnavailable
from evaluation.judging.openai._formats import LOGPROBS, OPTIONAL, KnownServer, Settings
from evaluation.judging.openai._transport import NO_COMPLETION, Denied, Rejected, Reply, Service, Transient
from evaluation.judging.pace import Pace
from evaluation.judging.parsing import storable
from evaluation.judging.prompts import Prompt, canonical
from evaluation.judging.protocol import (
    Budget,
    Json,
    Price,
    ReplyFormat,
    StoredCall,
    Usage,
    note_made,
    note_served,
    note_usage,
)

_FIRST_BACKOFF_SECONDS = 0.5
# Other calls wait this long for the first call. A server rejects an unknown format at once, so after this time it has
# presumably accepted the request.
_LONGEST_WAIT_FOR_FIRST = 3.0
_ABOUT_THE_CONTENT = frozenset(
    {"reply_too_long", "context_length_exceeded", "content_filter", "content_policy_violation"}
)
_NAMED = re.compile(r"\b(?:response_format|streaming|" + "|".join(OPTIONAL) + r")\b")
EXPECTED_SHARE = 10
"""The expected length of the first reply is the maximum length divided by this."""
_LENGTHS = frozenset({"max_tokens", "max_completion_tokens"})
_OTHER_LENGTH = re.compile(r"too (large|long|high)|maximum|at most|exceed", re.IGNORECASE)


@dataclass(slots=True)
class _Bill:
    cost: float = 0.0


@dataclass(frozen=True, slots=True)
class _Request:
    prompt: Prompt
    parts: Sequence[str]
    system: str
    message: str


class _Session:
    """The state of one event loop: connections, open calls, and the pause that the server requested.

    The lock `first` belongs to the call that tests which formats and parameters the server accepts.
    """

    def __init__(self, settings: Settings) -> None:
        limits = settings.limits
        self.service = Service(
            settings.base_url, settings.api_key, limits.timeout_seconds, settings.http_client
        )
        self.slots = asyncio.Semaphore(limits.concurrency)
        self.first = asyncio.Lock()
        self.resume_at = 0.0
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def lock(self, key: str) -> asyncio.Lock:
        """Return the lock of a question, which is forgotten when no task uses it."""
        return self._locks.setdefault(key, asyncio.Lock())

    async def pause(self) -> None:
        wait = self.resume_at - asyncio.get_running_loop().time()
        if wait > 0:
            await asyncio.sleep(wait)


class Caller:
    """The calls of a judge. Several event loops and threads can use it at once."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._server = KnownServer(settings)
        self._sessions: WeakKeyDictionary[asyncio.AbstractEventLoop, _Session] = WeakKeyDictionary()
        self._guard = threading.Lock()
        limits = settings.limits
        self._replies, self._reply_tokens = 0, 0
        self._pace = settings.pace or Pace(limits.calls_per_minute, limits.tokens_per_minute)

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
        """Return the stored reply to a question, or call the server and store the reply.

        `identity` stands for the judge in the key of the call; `asking` numbers repetitions of the same question, from
        1. If the server rejects the request, the result has the finish reason "rejected" and is not stored. Raises
        JudgeRefused, JudgeUnavailable and BudgetSpent.
        """
        message = storable(canonical(user))
        key = _digest(identity, prompt.step, prompt.version, system, message, str(asking))
        session = self._session()
        # If several tasks of a loop ask the same question, one calls the server and the others wait for its reply.
        async with session.lock(key):
            try:
                call = await self._settings.store.get(key)
                if call is None:
                    async with self._first_alone(session):
                        call = await self._fetch(session, key, _Request(prompt, parts, system, message))
                    if call.finish_reason != "rejected":
                        note_made(key)
                        await self._settings.store.put(call)
            finally:
                self._settings.store.release(key)
            note_served(call.model)
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
            # Remove closed loops here: their sessions refer to them, so the weak dictionary never drops them.
            for other in [other for other in self._sessions if other.is_closed()]:
                del self._sessions[other]
            if loop not in self._sessions:
                self._sessions[loop] = _Session(self._settings)
            return self._sessions[loop]

    @asynccontextmanager
    async def _first_alone(self, session: _Session) -> AsyncIterator[None]:
        """Let one call go first while the server is unknown; other calls wait a few seconds for its result.

        If the first call ends without a result, another call goes first.
        """
        is_held = False
        if not self._server.is_known:
            with suppress(TimeoutError):
                async with asyncio.timeout(_LONGEST_WAIT_FOR_FIRST):
                    is_held = await session.first.acquire()
        if is_held and self._server.is_known:
            session.first.release()
            is_held = False
        try:
            yield
        finally:
            if is_held:
                session.first.release()

    async def _fetch(self, session: _Session, key: str, request: _Request) -> StoredCall:
        """Try the best known format, then simpler ones, and record the accepted format."""
        reply: Reply | None = None
        rejection: Rejected | None = None
        body: dict[str, Any] = {}
        for chosen in self._server.to_try:
            left_out = self._server.refused
            body = self._body(request, chosen, left_out)
            try:
                reply, refused = await self._accepted(session, request, chosen, left_out)
            except Rejected as refusal:
                rejection = rejection or refusal
                if refusal.code in _ABOUT_THE_CONTENT:
                    break
                continue
            if reply.finish_reason != NO_COMPLETION:
                self._server.answered(chosen, refused)
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
            model=storable(reply.model if reply else ""),
            chances=reply.chances if reply else "",
        )

    async def _accepted(
        self, session: _Session, request: _Request, chosen: ReplyFormat, left_out: frozenset[str]
    ) -> tuple[Reply, frozenset[str]]:
        """Send the request without the parameters that the server refuses; repeat it for each further refused
        parameter.

        Return the reply and the parameters that were left out.
        """
        while True:
            body = self._body(request, chosen, left_out)
            try:
                return await self._persistent(session, body), left_out
            except Rejected as refusal:
                name = _refused_in(body, refusal)
                if name is None and "logprobs" in body and refusal.code not in _ABOUT_THE_CONTENT:
                    # Some servers refuse an unknown parameter without naming it.
                    name = "logprobs"
                # A budget needs a maximum reply length, because without it the cost of a call has no limit.
                is_needed = name and self._settings.budget is not None and left_out | {name} >= _LENGTHS
                if name is None or is_needed:
                    raise
                left_out |= {name}

    def _body(self, request: _Request, chosen: ReplyFormat, left_out: frozenset[str]) -> dict[str, Any]:
        prompt, system, most = request.prompt, request.system, self._settings.limits.max_tokens
        schema = prompt.schema_of(request.parts)
        if chosen != "json_schema":
            system = f"{system}\nAnswer with JSON only, of this schema: {canonical(schema)}"
        messages = [{"role": "system", "content": system}, {"role": "user", "content": request.message}]
        length = "max_completion_tokens" if "max_tokens" in left_out else "max_tokens"
        body: dict[str, Any] = {**self._settings.parameters, "messages": messages, length: most}
        if "criteria" in request.parts and not left_out.intersection(LOGPROBS):
            # Ask for the most tokens that OpenAI allows.
            body |= {"logprobs": True, "top_logprobs": 20}
        if "stream" in left_out:
            body |= {"stream": True, "stream_options": {"include_usage": True}}
        if chosen == "json_schema":
            named = {"name": prompt.step, "strict": True, "schema": schema}
            body["response_format"] = {"type": "json_schema", "json_schema": named}
        elif chosen == "json_object":
            body["response_format"] = {"type": "json_object"}
        # "stream" in `left_out` means that the server refuses unstreamed replies, so the request must ask for a stream.
        return {name: value for name, value in body.items() if name == "stream" or name not in left_out}

    async def _persistent(self, session: _Session, body: dict[str, Any]) -> Reply:
        limits = self._settings.limits
        prompt_tokens = _prompt_tokens(body)
        for attempt in range(1, limits.max_attempts + 1):
            await session.pause()
            await self._pace.turn(prompt_tokens + limits.max_tokens)
            try:
                return await self._paid(session, body, prompt_tokens)
            except Denied as denial:
                raise JudgeRefused(f"{self._described()} refused: {denial}.") from None
            except Transient as failure:
                wait = _backoff(attempt) if failure.wait is None else failure.wait
                if attempt == limits.max_attempts:
                    told = f"{self._described()} could not be asked: {failure} ({attempt} attempts)."
                    raise JudgeUnavailable(told) from None
                if wait > limits.max_wait_seconds:
                    told = f"{self._described()} asks to wait {wait:.0f} s, longer than the"
                    raise JudgeUnavailable(f"{told} {limits.max_wait_seconds:g} s allowed.") from None
                if failure.wait is not None:
                    session.resume_at = max(session.resume_at, asyncio.get_running_loop().time() + wait)
                await asyncio.sleep(wait)
        raise AssertionError("max_attempts is at least 1")

    async def _paid(self, session: _Session, body: dict[str, Any], prompt_tokens: int) -> Reply:
        """Make one attempt. Reserve its expected cost before and settle the actual cost after."""
        price, limits = self._settings.price or Price(), self._settings.limits
        # Reserve a likely length, because with the maximum length no call would fit under a small cap.
        likely = self._reply_tokens / self._replies if self._replies else limits.max_tokens / EXPECTED_SHARE
        expected = price.of(prompt_tokens, round(likely))
        broken = Usage(cost=price.of(prompt_tokens, 0), broken_calls=1)
        # Reserve money before a slot. Otherwise a call that waits for the budget would occupy the slot of a call
        # that could free some of it.
        async with _reserved(self._settings.budget, expected) as bill, session.slots:
            try:
                reply = await self._timed(session, body)
            except (Transient, asyncio.CancelledError) as failure:
                if not isinstance(failure, Transient) or failure.is_broken:
                    bill.cost = broken.cost
                    note_usage(broken)
                raise
            prompt, completion = reply.prompt_tokens, reply.completion_tokens
            if prompt is None:
                bill.cost = price.of(prompt_tokens, limits.max_tokens)
            else:
                bill.cost = price.of(prompt, completion or 0)
                self._replies += 1
                self._reply_tokens += completion or 0
            note_usage(Usage(1, prompt or 0, completion or 0, reply.seconds, bill.cost))
            return reply

    async def _timed(self, session: _Session, body: dict[str, Any]) -> Reply:
        timeout = self._settings.limits.timeout_seconds
        try:
            # The client's own timeout applies to each read, so a slow stream of bytes would never exceed it.
            async with asyncio.timeout(timeout):
                return await session.service.ask(body)
        except TimeoutError:
            raise Transient(f"it did not answer within {timeout:g} s", is_broken=True) from None

    def _described(self) -> str:
        return f"The judge {self._settings.judge!r} at {self._settings.base_url}"


@asynccontextmanager
async def _reserved(budget: Budget | None, most: float) -> AsyncIterator[_Bill]:
    """Reserve money for one attempt, and settle its bill even after an error."""
    bill = _Bill()
    if budget is None:
        yield bill
        return
    await budget.reserve(most)
    try:
        yield bill
    finally:
        await _end_of(asyncio.ensure_future(budget.settle(most, bill.cost)))


async def _end_of(work: "asyncio.Future[None]") -> None:
    """Wait for the end of the work and raise its exception. A cancellation of the caller is raised only after the
    end.
    """
    cancellation: asyncio.CancelledError | None = None
    while not work.done():
        try:
            await asyncio.wait([work])
        except asyncio.CancelledError as error:
            cancellation = error
    if cancellation is not None:
        raise cancellation
    work.result()


def _refused_in(body: Mapping[str, Any], rejection: Rejected) -> str | None:
    found = _NAMED.search(rejection.parameter or str(rejection))
    name = "stream" if found and found[0] == "streaming" else found and found[0]
    if name is None or name == "response_format":
        return None
    if name == "stream":
        return None if "stream" in body else name
    # Read the message too, because it may complain only of the number's size, or name both length parameters.
    if name in _LENGTHS:
        sent = next((each for each in ("max_tokens", "max_completion_tokens") if each in body), None)
        return None if sent != "max_tokens" and _OTHER_LENGTH.search(str(rejection)) else sent
    return name if name in body else None


def _prompt_tokens(body: Mapping[str, Any]) -> int:
    schema = canonical(body["response_format"]) if "response_format" in body else ""
    return estimated_tokens(schema) + sum(estimated_tokens(each["content"]) for each in body["messages"])


def _backoff(attempt: int) -> float:
    # Pause for a random time, so that calls that failed together are not repeated together.
    return float(_FIRST_BACKOFF_SECONDS * 2 ** (attempt - 1) * random.uniform(0.5, 1.0))


def _digest(*parts: str) -> str:
    # Hash the length of each part too, so that ("ab", "c") and ("a", "bc") differ.
    digest = hashlib.sha256()
    for part in parts:
        encoded = part.encode("utf-8", "surrogatepass")
        digest.update(len(encoded).to_bytes(8, "big"))
        digest.update(encoded)
    return digest.hexdigest()
