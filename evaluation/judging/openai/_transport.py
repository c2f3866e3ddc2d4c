"""A single attempt at a chat completion with the `openai` package."""

import json
import math
import re
import ssl
import time
import zlib
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, replace
from email.utils import parsedate_to_datetime
from functools import lru_cache
from itertools import accumulate
from typing import Any

import httpx2
import openai

from evaluation.judging.prompts import canonical

# The only headers that requests may have besides the key. The `openai` package also adds headers from the environment
# (organisation, project, OPENAI_CUSTOM_HEADERS); they are removed.
_OWN_HEADERS = frozenset(
    {b"host", b"accept", b"accept-encoding", b"connection", b"content-type", b"content-length", b"user-agent"}
)

_TRANSIENT_STATUS = frozenset({408, 409, 425, 429})
_REJECTED_STATUS = frozenset({400, 413, 422})
# Failures that happen before the server has the whole request, so that the attempt costs nothing.
_NEVER_ASKED = (
    httpx2.ConnectError,
    httpx2.ConnectTimeout,
    httpx2.PoolTimeout,
    httpx2.ProxyError,
    httpx2.UnsupportedProtocol,
    httpx2.WriteError,
    httpx2.WriteTimeout,
)
_LONGEST_MESSAGE = 300
_ESCAPABLE = '/"\\'
_SHORTEST_SECRET = 8
"""Shorter keys may be ordinary words, such as "none", so they are not removed from answers."""
NO_COMPLETION = "not a completion"
# Larger counts of tokens in a reply are ignored, because they exceed the database's columns.
_MOST_TOKENS = 2**31 - 1
_POOLS = 16
_LARGEST_LOG = 1000.0
_VALUE = re.compile(r'"value"\s*:\s*"?(\d{1,3})(?!\d)')
MOST_REPLY_BYTES = 4 * 1024**2
"""The largest size of a reply after decompression; longer ones are not read to their end."""
_ABOUT_LENGTH = frozenset({b"content-encoding", b"content-length"})
_ENCODINGS = {"gzip": 16 + zlib.MAX_WBITS, "deflate": zlib.MAX_WBITS}


class Transient(Exception):
    """The attempt failed, but another attempt may succeed.

    `wait` is the pause in seconds that the server requests, or None. `is_broken` is True if the server may have
    received the request but gave no answer.
    """

    def __init__(self, message: str, wait: float | None = None, *, is_broken: bool = False) -> None:
        super().__init__(message)
        self.wait = wait
        self.is_broken = is_broken


class Rejected(Exception):
    """The server rejects this request but may answer others."""

    def __init__(self, message: str, *, code: str = "", parameter: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.parameter = parameter


class Denied(Exception):
    """The server gave an answer after which further requests have no prospect."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A server's reply. `content` is the text of the answer or refusal, `model` is the model name in the reply.

    `chances` are described at `StoredCall`.
    """

    request: str
    content: str
    finish_reason: str
    prompt_tokens: int | None
    completion_tokens: int | None
    seconds: float
    model: str = ""
    chances: str = ""


class _SealedClient(openai.AsyncOpenAI):
    """Sends only the headers in `_OWN_HEADERS` and the key."""

    bearer: str | None = None

    @property
    def default_headers(self) -> dict[str, str | openai.Omit]:
        # Leave out the package's headers about the machine and itself.
        json_type = "application/json"
        return {"Accept": json_type, "Content-Type": json_type, "User-Agent": self.user_agent}

    async def _prepare_request(self, request: httpx2.Request) -> None:
        # Use the raw pairs, because they are faster than looking up single names.
        kept = [pair for pair in request.headers.raw if pair[0].lower() in _OWN_HEADERS]
        if self.bearer is not None:
            kept.append((b"Authorization", f"Bearer {self.bearer}".encode("ascii")))
        request.headers = httpx2.Headers(kept)


@lru_cache(maxsize=1)
def _trusted() -> ssl.SSLContext:
    """Return the trusted certificates, which take long to read."""
    return httpx2.create_ssl_context(trust_env=False)


class _TooLong(httpx2.ReadError):
    pass


class _Bounded(httpx2.AsyncByteStream):
    """Limits the size of a response after decompression. The client's own decoder would unpack a chunk of any size."""

    def __init__(self, response: httpx2.Response) -> None:
        self._response = response
        self._encoding = response.headers.get("content-encoding", "identity").strip().lower()
        self._unpacking = (
            zlib.decompressobj(_ENCODINGS[self._encoding]) if self._encoding in _ENCODINGS else None
        )

    async def __aiter__(self) -> AsyncIterator[bytes]:
        # Raise the error here and not in `__init__`, because the client closes the response only after an error in
        # its body.
        if self._unpacking is None and self._encoding != "identity":
            raise httpx2.DecodingError(f"the content encoding {self._encoding!r} was not asked for")
        left = MOST_REPLY_BYTES
        stream: Any = self._response.stream
        async for chunk in stream:
            data = chunk if self._unpacking is None else self._unpacked(chunk, left + 1)
            left -= len(data)
            if left < 0:
                raise _TooLong("too long")
            yield data

    def _unpacked(self, chunk: bytes, most: int) -> bytes:
        assert self._unpacking is not None
        try:
            return self._unpacking.decompress(chunk, most)
        except zlib.error as error:
            raise httpx2.DecodingError(str(error)) from error

    async def aclose(self) -> None:
        await self._response.aclose()


class _Spread(httpx2.AsyncBaseTransport):
    """Several small pools of connections, because a pool searches all its connections for every request.

    A request uses the first pool among the least busy pools.
    """

    def __init__(self, pools: int) -> None:
        limits = httpx2.Limits(max_connections=None, max_keepalive_connections=64)
        trusted = _trusted()
        self._pools = [
            httpx2.AsyncHTTPTransport(verify=trusted, trust_env=False, limits=limits) for _ in range(pools)
        ]
        self._busy = [0] * pools

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        chosen = self._busy.index(min(self._busy))
        self._busy[chosen] += 1
        try:
            response = await self._pools[chosen].handle_async_request(request)
        finally:
            self._busy[chosen] -= 1
        headers = [pair for pair in response.headers.raw if pair[0].lower() not in _ABOUT_LENGTH]
        return httpx2.Response(
            response.status_code,
            headers=headers,
            stream=_Bounded(response),
            extensions=response.extensions,
            request=request,
        )

    async def aclose(self) -> None:
        for pool in self._pools:
            await pool.aclose()


class Service:
    """A chat-completions service, used in one event loop."""

    def __init__(
        self,
        base_url: str,
        api_key: str | None,
        timeout_seconds: float,
        http_client: httpx2.AsyncClient | None,
    ) -> None:
        self._key = _any_spelling(api_key) if api_key else None
        self._quotes_key = api_key is not None and len(api_key) >= _SHORTEST_SECRET
        self._owned = None if http_client is not None else _own_http_client(timeout_seconds)
        # Pass "" instead of None where the openai package would read the environment.
        self._client = _SealedClient(
            api_key=api_key or "none",
            admin_api_key="",
            organization="",
            project="",
            webhook_secret="",
            base_url=base_url,
            timeout=timeout_seconds,
            max_retries=0,
            http_client=http_client or self._owned,
        )
        self._client.bearer = api_key

    async def ask(self, body: Mapping[str, Any]) -> Reply:
        """Send one request and return the reply.

        Raises Transient, Rejected or Denied.
        """
        # The caller has replaced surrogates, which cannot be encoded.
        request = canonical(body)
        started = time.perf_counter()
        try:
            # Post directly. The package's own method copies the body and builds models of the reply, which takes long.
            response = await self._client.post(
                "/chat/completions", cast_to=httpx2.Response, content=request.encode()
            )
        except openai.APITimeoutError as failure:
            raise Transient("it did not answer in time", is_broken=_is_broken(failure)) from None
        except openai.APIConnectionError as failure:
            if isinstance(failure.__cause__, _TooLong):
                message = f"its reply is longer than {MOST_REPLY_BYTES // 1024**2} MiB"
                raise Rejected(message, code="reply_too_long") from None
            message = f"the connection failed ({_cause_name(failure)})"
            raise Transient(message, is_broken=_is_broken(failure)) from None
        except openai.APIStatusError as failure:
            raise self._status_fault(failure) from None
        return self._clean(_reply(request, response.content, time.perf_counter() - started))

    async def aclose(self) -> None:
        """Close the connections of the service's own client. A client that the caller passed stays open."""
        if self._owned is not None:
            await self._owned.aclose()

    def _status_fault(self, failure: openai.APIStatusError) -> Transient | Rejected | Denied:
        status = failure.status_code
        code = failure.code or ""
        if status == 429 and code == "insufficient_quota":
            return Denied("the account has no quota left (HTTP 429, insufficient_quota)")
        if status in _TRANSIENT_STATUS or status >= 500:
            return Transient(f"it answered HTTP {status}", _retry_after(failure.response.headers))
        if status in _REJECTED_STATUS:
            message = self._without_key(_server_message(failure))[:_LONGEST_MESSAGE]
            return Rejected(f"HTTP {status}: {message}", code=code, parameter=_string(failure.param))
        return Denied(f"it answered HTTP {status}{_HINTS.get(status, '')}")

    def _clean(self, reply: Reply) -> Reply:
        # Hide the key: some gateways quote it, in errors with status 200 and in answers. Leave a short key in
        # answers, because it may be a word, such as "none" or "local".
        if not self._quotes_key and reply.finish_reason != NO_COMPLETION:
            return reply
        content, reason = self._without_key(reply.content), self._without_key(reply.finish_reason)
        return replace(reply, content=content, finish_reason=reason, model=self._without_key(reply.model))

    def _without_key(self, text: str) -> str:
        return self._key.sub("[key]", text) if self._key else text


def _any_spelling(key: str) -> re.Pattern[str]:
    # Match the key with any of its characters escaped as in JSON.
    return re.compile("".join(map(_spelling, key)))


def _spelling(character: str) -> str:
    # Match a backslash only before characters that JSON may escape. Before any other character it belongs to the text
    # in front of the key.
    plain = rf"\\?{re.escape(character)}" if character in _ESCAPABLE else re.escape(character)
    return rf"(?:{plain}|\\u(?i:{ord(character):04x}))"


_HINTS = {
    401: " (check the API key)",
    402: " (the account cannot pay)",
    403: " (the API key may not use this model)",
    404: " (check the model's name and the base URL)",
}


def _own_http_client(timeout_seconds: float) -> httpx2.AsyncClient:
    # Follow no redirects, because a judge may call only its own address.
    return httpx2.AsyncClient(
        timeout=timeout_seconds,
        trust_env=False,
        follow_redirects=False,
        transport=_Spread(_POOLS),
        headers={"Accept-Encoding": ", ".join(_ENCODINGS)},
    )


def _cause_name(failure: BaseException) -> str:
    return type(failure.__cause__ or failure).__name__


def _is_broken(failure: openai.APIConnectionError) -> bool:
    return not isinstance(failure.__cause__, _NEVER_ASKED)


def _server_message(failure: openai.APIStatusError) -> str:
    body = failure.body
    message = body.get("message") if isinstance(body, dict) else body
    return str(message or "no reason given")


def _retry_after(headers: Mapping[str, str]) -> float | None:
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        seconds = _seconds(headers.get(name, ""))
        if seconds is not None:
            return seconds / unit
    try:
        date = parsedate_to_datetime(headers.get("retry-after", ""))
        return max(0.0, date.timestamp() - time.time())
    except (ValueError, OverflowError):
        return None


def _seconds(value: str) -> float | None:
    # Accept only digits, because Python also reads "nan", "inf", "1_0" and signs as floats.
    plain = value.strip()
    return (
        float(plain) if plain.replace(".", "", 1).isascii() and plain.replace(".", "", 1).isdigit() else None
    )


def _reply(request: str, content: bytes, seconds: float) -> Reply:
    try:
        body = json.loads(content)
    except (ValueError, RecursionError):
        body = _streamed(content)
    choice = _member(_first(_member(body, "choices")))
    message = _member(choice.get("message"))
    finish_reason = _string(choice.get("finish_reason"))
    text = _content(message.get("content"))
    refusal = _string(message.get("refusal"))
    if refusal:
        text, finish_reason = refusal, "refusal"
    if not choice:
        text, finish_reason = _string(_member(_member(body).get("error")).get("message")), NO_COMPLETION
    usage = _member(_member(body).get("usage"))
    return Reply(
        request,
        text,
        finish_reason,
        _count(usage.get("prompt_tokens")),
        _count(usage.get("completion_tokens")),
        seconds,
        _string(_member(body, "model")),
        _chances(text, _member(choice.get("logprobs"), "content")),
    )


def _chances(text: str, given: object) -> str:
    tokens = given if isinstance(given, list) else []
    names = [_string(_member(each, "token")) for each in tokens]
    if not tokens or "".join(names) != text:
        return ""
    places = {end: place for place, end in enumerate(accumulate(map(len, names)))}
    found: list[dict[str, float]] = []
    for value in _VALUE.finditer(text):
        place = places.get(value.end())
        is_single = place is not None and names[place].strip() == value[1]
        found.append({value[1]: 0.0} if is_single else {})
        listed = _member(tokens[place], "top_logprobs") if place is not None and is_single else None
        for each in listed if isinstance(listed, list) else ():
            number, chance = _string(_member(each, "token")).strip(), _member(each, "logprob")
            # NaN fails the comparison, and an integer of many digits cannot become a float.
            if number.isdecimal() and isinstance(chance, int | float) and abs(chance) < _LARGEST_LOG:
                found[-1][number] = found[-1].get(number, 0.0) + math.exp(min(chance, 0.0))
    return canonical(found)


def _streamed(content: bytes) -> dict[str, Any]:
    whole: dict[str, Any] = {}
    said: dict[str, list[str]] = {"content": [], "refusal": []}
    choice: dict[str, Any] = {}
    for line in content.decode("utf-8", "replace").splitlines():
        if not line.startswith("data:"):
            continue
        try:
            event = json.loads(line.removeprefix("data:"))
        except (ValueError, RecursionError):
            continue
        # Later events replace values of earlier events; only the last event contains the usage.
        whole |= {name: value for name in ("usage", "model", "error") if (value := _member(event, name))}
        if each := _member(_first(_member(event, "choices"))):
            for name, pieces in said.items():
                pieces.append(_content(_member(_member(each.get("delta")), name)))
            choice["finish_reason"] = each.get("finish_reason") or choice.get("finish_reason")
    if choice:
        choice["message"] = {name: "".join(pieces) for name, pieces in said.items()}
        whole["choices"] = [choice]
    return whole


def _member(value: object, name: str | None = None) -> Any:
    members = value if isinstance(value, dict) else {}
    return members if name is None else members.get(name)


def _first(value: object) -> object:
    return value[0] if isinstance(value, list) and value else None


def _content(value: object) -> str:
    # Some servers send the text as a list of parts; parts with reasoning are dropped.
    if isinstance(value, list):
        texts = (part for part in value if _member(part, "type") in (None, "text", "output_text"))
        return "".join(_string(_member(part, "text")) for part in texts)
    return _string(value)


def _string(value: object) -> str:
    return value if isinstance(value, str) else ""


def _count(value: object) -> int | None:
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if 0 <= value <= _MOST_TOKENS else None
