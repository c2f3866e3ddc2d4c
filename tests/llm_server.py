"""A chat-completions server on loopback that answers by simple rules, and with faults on request.

```
with LLMServer() as server:
    server.then(faults.status(500), faults.refusal("No."))     # the next two calls
    judge = OpenAIJudge("scripted", server.base_url)
    ...
    assert len(server.calls) == 3
```

By default a text supports a claim if it contains every word of it. Every unit of a text, without its full stop, is one
claim. A claim with a question mark is a question. The first three different words of a text are its topics. A criterion
gets the second-highest value of its scale, 80 of 100, or .8 of 1.
"""

import asyncio
import gzip
import json
import math
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from email.utils import formatdate
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

import pytest

Answer = dict[str, Any]
ClaimsOf = Callable[[str], list[str]]
_WORD = re.compile(r"\w+")
_SECONDS_TO_STOP = 60
_PIECE = 1 << 16


@dataclass(frozen=True)
class Call:
    method: str
    path: str
    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def format(self) -> str:
        return str(self.body.get("response_format", {}).get("type", "text"))

    @property
    def question(self) -> dict[str, Any]:
        question: dict[str, Any] = json.loads(self.body["messages"][-1]["content"])
        return question

    @property
    def prompt_characters(self) -> int:
        return sum(len(message["content"]) for message in self.body["messages"])


@dataclass(frozen=True)
class Fault:
    """The fault of a call. Attributes with default values do not change the call."""

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    error: dict[str, Any] | None = None
    raw_body: bytes | None = None
    raw_response: bytes | None = None
    seconds_a_byte: float = 0.0
    answer: Callable[[Answer], Answer] | None = None
    content: Callable[[str], str | None] | None = None
    completion: Callable[[Answer], Answer] | None = None
    finish_reason: str = "stop"
    refusal: str | None = None
    delay: float = 0.0
    reset_after: int | None = None
    endless_bytes: int = 0


class faults:  # noqa: N801  (a namespace, read as `faults.refusal(...)`)
    @staticmethod
    def status(
        status: int, message: str = "scripted", code: str | None = None, param: str | None = None
    ) -> Fault:
        return Fault(status=status, error={"message": message, "code": code, "param": param, "type": "error"})

    @staticmethod
    def rate_limited(retry_after: str | None = None, **headers: str) -> Fault:
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        if retry_after is not None:
            given["Retry-After"] = retry_after
        return Fault(status=429, error={"message": "slow down"}, headers=given)

    @staticmethod
    def slow(seconds: float) -> Fault:
        return Fault(delay=seconds)

    @staticmethod
    def hang() -> Fault:
        return Fault(delay=3600)

    @staticmethod
    def trickle() -> Fault:
        return Fault(seconds_a_byte=0.05)

    @staticmethod
    def reset() -> Fault:
        return Fault(reset_after=0)

    @staticmethod
    def reset_in_answer() -> Fault:
        return Fault(reset_after=40)

    @staticmethod
    def refusal(text: str = "I cannot help with that.") -> Fault:
        return Fault(refusal=text, content=lambda _: None)

    @staticmethod
    def filtered() -> Fault:
        return Fault(content=lambda _: "", finish_reason="content_filter")

    @staticmethod
    def truncated() -> Fault:
        return Fault(content=lambda text: text[: len(text) // 2], finish_reason="length")

    @staticmethod
    def text(content: str | None) -> Fault:
        return Fault(content=lambda _: content)

    @staticmethod
    def around(change: Callable[[str], str]) -> Fault:
        return Fault(content=change)

    @staticmethod
    def endless(*, packed: bool = False) -> Fault:
        if packed:
            return Fault(raw_body=gzip.compress(bytes(1 << 26), 1), headers={"Content-Encoding": "gzip"})
        return Fault(endless_bytes=256 * (1 << 20))

    @staticmethod
    def unknown_encoding() -> Fault:
        return Fault(raw_body=b"{}", headers={"Content-Encoding": "br"})

    @staticmethod
    def fenced() -> Fault:
        return Fault(content=lambda text: f"```json\n{text}\n```")

    @staticmethod
    def prose() -> Fault:
        return Fault(content=lambda text: f"Sure [as asked]! Here {{it}} is:\n\n{text}\n\nAnything else?")

    @staticmethod
    def changed(change: Callable[[Answer], Answer]) -> Fault:
        return Fault(answer=change)

    @staticmethod
    def completion(change: Callable[[Answer], Answer]) -> Fault:
        return Fault(completion=change)

    @staticmethod
    def without(*ids: str) -> Fault:
        return Fault(
            answer=lambda answer: {
                name: [
                    entry for entry in entries if not isinstance(entry, dict) or entry.get("id") not in ids
                ]
                for name, entries in answer.items()
            }
        )

    @staticmethod
    def body(raw: bytes, status: int = 200, **headers: str) -> Fault:
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        return Fault(raw_body=raw, status=status, headers=given)

    @staticmethod
    def wire(raw: bytes) -> Fault:
        return Fault(raw_response=raw)


class LLMServer:
    """The server. `formats` are the supported reply formats besides plain text; others get HTTP 400.

    `refuses` are parameters that it refuses one at a time; "stream" means that it refuses replies that are not
    streamed. `served_model` is the model name in replies; if it is "", the requested name is used. `chances` are the
    probabilities of the tokens of every "value", for calls that ask for log-probabilities. With `usage`, every call has
    these numbers of prompt and reply tokens; otherwise a token is four characters.
    """

    def __init__(
        self,
        *,
        formats: Sequence[str] = ("json_schema", "json_object"),
        length_field: str = "max_tokens",
        latency: float = 0.0,
        api_key: str | None = None,
        claims_of: ClaimsOf | None = None,
        usage: tuple[int, int] | None = None,
        port: int = 0,
    ) -> None:
        self.calls: list[Call] = []
        self.claims_of: ClaimsOf = claims_of or _whole_unit
        self.formats = tuple(formats)
        self.length_field = length_field
        self.refuses: tuple[str, ...] = ()
        self.latency = latency
        self.api_key = api_key
        self.usage = usage
        self.served_model = ""
        self.chances: dict[str, float] = {}
        self.most_at_once = 0
        self._at_once = 0
        self.connections = 0
        self.open_connections = 0
        self._port = port
        self._next: list[Fault] = []
        self._always: Fault | None = None
        self._rule: Callable[[Call], Fault | None] | None = None
        self._arrived = threading.Condition()
        self._started = threading.Event()
        self._loop = asyncio.new_event_loop()
        self._stop = asyncio.Event()
        self._thread = threading.Thread(target=self._run, name="llm-server", daemon=True)

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._port}/v1"

    def then(self, *queued: Fault | None) -> None:
        with self._arrived:
            self._next.extend(fault or Fault() for fault in queued)

    def always(self, fault: Fault | None) -> None:
        self._always = fault

    def where(self, rule: Callable[[Call], Fault | None]) -> None:
        self._rule = rule

    def wait_for_calls(self, count: int) -> None:
        with self._arrived:
            if not self._arrived.wait_for(lambda: len(self.calls) >= count, timeout=60):
                raise TimeoutError(f"{len(self.calls)} of {count} calls arrived.")

    def __enter__(self) -> Self:
        self._thread.start()
        if not self._started.wait(_SECONDS_TO_STOP):
            raise RuntimeError("The scripted server did not start.")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(_SECONDS_TO_STOP)

    def _run(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._serve())

    async def _serve(self) -> None:
        server = await asyncio.start_server(self._converse, "127.0.0.1", self._port)
        self._port = server.sockets[0].getsockname()[1]
        self._started.set()
        await self._stop.wait()
        server.close()

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.open_connections += 1
        with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            while not writer.transport.is_closing():
                call = await _read(reader)
                await self._answer(call, writer)
        self.open_connections -= 1
        writer.close()

    async def _answer(self, call: Call, writer: asyncio.StreamWriter) -> None:
        with self._arrived:
            self.calls.append(call)
            fault = self._fault(call)
            self._arrived.notify_all()
        self._at_once += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            await asyncio.sleep(self.latency + fault.delay)
        finally:
            self._at_once -= 1
        response = self._response(call, fault)
        if fault.reset_after is not None:
            head = response.index(b"\r\n\r\n") + 4
            writer.write(response[: head + fault.reset_after] if fault.reset_after else b"")
            await writer.drain()
            writer.transport.abort()
            return
        await _send(response, fault, writer)
        for _ in range(0, fault.endless_bytes, _PIECE):
            # The client closes the connection when it has enough.
            writer.write(b"x" * _PIECE)
            await writer.drain()
        if fault.raw_response is not None or fault.endless_bytes:
            writer.close()

    def _fault(self, call: Call) -> Fault:
        if denied := self._denial(call):
            return denied
        if self._next:
            return self._next.pop(0)
        ruled = self._rule(call) if self._rule is not None else None
        return ruled or self._always or self._rejection(call) or Fault()

    def _denial(self, call: Call) -> Fault | None:
        given = call.headers.get("authorization")
        if self.api_key is not None and given != f"Bearer {self.api_key}":
            # OpenAI repeats the key in this message.
            return faults.status(401, f"Incorrect API key provided: {given}")
        if call.path != "/v1/chat/completions":
            return faults.status(404, "no such page")
        return None

    def _rejection(self, call: Call) -> Fault | None:
        if call.format != "text" and call.format not in self.formats:
            return faults.status(
                400, f"response_format {call.format} is not supported", param="response_format"
            )
        for name in self.refuses:
            if name == "stream" and not call.body.get("stream"):
                return faults.status(400, "This model only supports streaming.")
            if name != "stream" and name in call.body:
                return faults.status(400, f"Unsupported parameter: '{name}' is not supported here.")
        if self.length_field not in call.body and self.length_field not in self.refuses:
            message = f"Unsupported parameter; use '{self.length_field}'."
            return faults.status(400, message, "unsupported_parameter", "max_tokens")
        return None

    def _response(self, call: Call, fault: Fault) -> bytes:
        if fault.raw_response is not None:
            return fault.raw_response
        if fault.endless_bytes:
            return b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n"
        if fault.raw_body is not None:
            return _http(fault.status, fault.headers, fault.raw_body)
        if fault.status != 200:
            return _http(fault.status, fault.headers, json.dumps({"error": fault.error}).encode())
        answer = scripted_answer(call, self.claims_of)
        if fault.answer is not None:
            answer = fault.answer(answer)
        content: str | None = json.dumps(answer, ensure_ascii=False)
        if fault.content is not None:
            content = fault.content(content or "")
        completion = _completion(call, content, fault, self.usage)
        completion["model"] = self.served_model or completion["model"]
        if self.chances and call.body.get("logprobs"):
            completion["choices"][0]["logprobs"] = {"content": _tokens(content or "", self.chances)}
        if fault.completion is not None:
            completion = fault.completion(completion)
        if call.body.get("stream"):
            return _http(200, fault.headers, _events(completion))
        return _http(200, fault.headers, json.dumps(completion).encode())


def _whole_unit(unit: str) -> list[str]:
    return [unit.rstrip(".")]


def scripted_answer(call: Call, claims_of: ClaimsOf = _whole_unit) -> Answer:
    question, told = call.question, str(call.body["messages"][0]["content"])
    if question.keys() >= {"text", "summary", "criteria"}:
        return {"criteria": _rated(question["criteria"])}
    if question.keys() >= {"text", "summary"}:
        return _aligned(question, claims_of)
    if not question.keys() & {"text", "reference"}:
        return {"reason": "It is as the verdicts say."}
    text = _numbered(question.get("text", {}))
    answer: Answer = {}
    if "atomic" in told:
        units = _numbered(question["reference"]) if "reference" in question else text
        wanted = question.get("units_wanted", list(units))
        answer["units"] = [{"unit": number, "claims": claims_of(units[number])} for number in wanted]
    asked = {
        identity: content
        for kind in ("claims", "questions", "topics")
        for identity, content in question.get(kind, {}).items()
    }
    if asked:
        answer["answers"] = [
            {"id": identity, **_scripted_verdict(asked[identity], text)} for identity in asked
        ]
    if "n_questions" in question:
        claims = [claim for unit in text.values() for claim in claims_of(unit)]
        answer["questions"] = [
            {"question": f"{claim}?", **_scripted_verdict(claim, text)}
            for claim in claims[: question["n_questions"]]
        ]
    if "main topics" in told:
        answer["topics"] = list(dict.fromkeys(_WORD.findall(" ".join(text.values()))))[:3]
    if "criteria" in question:
        answer["criteria"] = _rated(question["criteria"])
    return answer


def _rated(criteria: dict[str, Any]) -> list[Answer]:
    typed = {"whole numbers from 0 to 100": 80, "numbers from 0 to 1": 0.8}
    fair = {
        identity: typed[each["values"]] if isinstance(each["values"], str) else int([*each["values"]][-2])
        for identity, each in criteria.items()
    }
    return [
        {"id": identity, "evidence": [1], "reason": "fair", "value": value, "confidence": 0.9}
        for identity, value in fair.items()
    ]


def _aligned(question: dict[str, Any], claims_of: ClaimsOf) -> Answer:
    source, summary = _numbered(question["text"]), _numbered(question["summary"])
    units = []
    for number in question.get("units_wanted", list(summary)):
        claims = [
            {"claim": claim, **_scripted_verdict(claim, source)} for claim in claims_of(summary[number])
        ]
        units.append({"unit": number, "claims": claims})
    return {"units": units}


def _numbered(units: dict[str, str]) -> dict[int, str]:
    return {int(number): content for number, content in units.items()}


def _scripted_verdict(claim: str, units: dict[int, str]) -> Answer:
    words = _words(claim)
    missing = words - _words(" ".join(units.values()))
    best = max(units, key=lambda number: len(words & _words(units[number])))
    return {
        "evidence": [] if missing else [best],
        "reason": f"missing: {', '.join(sorted(missing))}" if missing else "all words found",
        "label": "no" if missing else "yes",
        "probability": 0.1 if missing else 0.9,
    }


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.casefold()))


def _completion(
    call: Call, content: str | None, fault: Fault, usage: tuple[int, int] | None
) -> dict[str, Any]:
    message = {"role": "assistant", "content": content, "refusal": fault.refusal}
    prompt_tokens, completion_tokens = usage or (call.prompt_characters // 4, len(content or "") // 4)
    return {
        "id": "chatcmpl-scripted",
        "object": "chat.completion",
        "created": 0,
        "model": call.body.get("model"),
        "choices": [{"index": 0, "message": message, "finish_reason": fault.finish_reason}],
        "usage": {
            "prompt_tokens": prompt_tokens,
            "completion_tokens": completion_tokens,
            "total_tokens": prompt_tokens + completion_tokens,
        },
    }


def _tokens(content: str, chances: dict[str, float]) -> list[Answer]:
    pieces = [piece for piece in re.split(r"(\d+)", content) if piece]
    told = [{"token": token, "logprob": math.log(chance)} for token, chance in chances.items()]
    return [
        {"token": piece, "logprob": 0.0, "top_logprobs": told if before.endswith('"value": ') else []}
        for before, piece in zip(["", *pieces], pieces, strict=False)
    ]


def _events(completion: Answer) -> bytes:
    [choice] = completion["choices"]
    content = choice["message"]["content"] or ""
    deltas: list[Answer] = [{"role": "assistant"}]
    deltas += [{"content": content[start : start + 7]} for start in range(0, len(content), 7)]
    choices = [[{"index": 0, "delta": delta, "finish_reason": None}] for delta in deltas]
    choices.append([{"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}])
    events = [
        {**completion, "object": "chat.completion.chunk", "choices": each, "usage": None} for each in choices
    ]
    events.append({**completion, "choices": []})
    lines = [f"data: {json.dumps(event, ensure_ascii=False)}\n\n" for event in events]
    return "".join([": keep-alive\n\n", *lines, "data: [DONE]\n\n"]).encode()


async def _send(response: bytes, fault: Fault, writer: asyncio.StreamWriter) -> None:
    if not fault.seconds_a_byte:
        writer.write(response)
        await writer.drain()
        return
    for start in range(len(response)):
        writer.write(response[start : start + 1])
        await writer.drain()
        await asyncio.sleep(fault.seconds_a_byte)


async def _read(reader: asyncio.StreamReader) -> Call:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    method, target, _ = head[0].split(" ", 2)
    headers = {
        name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:])
    }
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Call(method, urlsplit(target).path, headers, json.loads(body or b"{}"))


def _http(status: int, headers: dict[str, str], body: bytes) -> bytes:
    lines = {
        "Content-Type": "application/json",
        "Content-Length": str(len(body)),
        "Date": formatdate(usegmt=True),
        **headers,
    }
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return f"HTTP/1.1 {status} Scripted\r\n{head}\r\n".encode("latin-1") + body


@pytest.fixture
def llm_server() -> Iterator[LLMServer]:
    """A server for one test; a conftest makes the fixture available by importing it."""
    with LLMServer() as server:
        yield server
