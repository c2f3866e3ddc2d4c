"""Build judges from their rows, with calls stored as rows, and check addresses and keys."""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar
from urllib.parse import unquote, urlsplit

from django.conf import settings
from django.db.models import F

from annotation.core.jobs import workers_alive
from annotation.core.refusals import Invalid, NotFound, Refusal
from annotation.core.shared.sealed import seal, unseal
from annotation.judging.queries.examples import examples_of, half_of, prompts_with
from annotation.judging.queries.judges import address_of, is_of, judges_of, members_of
from annotation.judging.services.running.calls import RowCallStore
from annotation.judging.services.running.database_thread import DatabaseThread
from annotation.judging.services.running.spend import RunBudget
from annotation.judging.services.save_prompt import own_prompts
from annotation.judging.services.servers import allowed_urls
from annotation.models import DocumentSet, Judge, Project, Run
from evaluation.judging.errors import JudgeSettings
from evaluation.judging.lexical import LexicalJudge
from evaluation.judging.openai import ANY_PORT, OpenAIJudge, base_url_fault
from evaluation.judging.pace import Pace
from evaluation.judging.panel import JudgePanel
from evaluation.judging.prompts import Prompt, Step
from evaluation.judging.protocol import (
    REPLY_FORMATS,
    Budget,
    CallStore,
    Limits,
    MemoryCallStore,
    Price,
    ReplyFormat,
)
from evaluation.judging.protocol import Judge as AnsweringJudge

logger = logging.getLogger(__name__)

LEXICAL = "lexical"
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_PORTS = {"http": 80, "https": 443}

_PACES: dict[int | None, Pace] = {}

JudgeReply = TypeVar("JudgeReply")
Remember = Callable[[Judge, ReplyFormat, Sequence[str]], None]


def judge_by_name(name: str, project: Project | None = None) -> Judge:
    """Return the judge with this name that the project may use; without a project, a shared judge.

    The built-in lexical judge is created at its first use. Raises NotFound (code `no_such_judge`), which lists the
    known names.
    """
    if name == LEXICAL:
        about = {"kind": Judge.Kind.LEXICAL}
        return Judge.objects.get_or_create(project=None, name=LEXICAL, defaults=about)[0]
    # Prefer the project's own judge: two judges have the same name if they were created at the same moment.
    judge = judges_of(project).filter(name=name).order_by(F("project").asc(nulls_last=True)).first()
    if judge is None:
        open_ones = judges_of(project).filter(archived_at=None)
        known = sorted({LEXICAL, *open_ones.values_list("name", flat=True)})
        raise NotFound(
            f"There is no judge {name!r}. Known judges: {', '.join(known)}. "
            "An owner or manager can add one on a project's Judges page.",
            code="no_such_judge",
        )
    return judge


def require_of(judge: Judge, project: Project) -> None:
    """Raise NotFound (code `no_such_judge`) for another project's judge."""
    if not is_of(judge, project):
        raise NotFound("There is no such judge in this project.", code="no_such_judge")


def require_usable(judge: Judge) -> None:
    """Raise Invalid (code `unusable_judge`) with the reason of `fault_of_use`, if there is one."""
    if fault := fault_of_use(judge):
        raise Invalid(fault, field="judge", code="unusable_judge")


def has_price(judge: Judge) -> bool:
    """True if the judge, or a member of the panel, has a price."""
    return any(member.has_price for member in members_of(judge))


def build(
    judge: Judge,
    *,
    store_of: Callable[[Judge], CallStore] | None = None,
    remember: Remember | None = None,
    budget: Budget | None = None,
    told: Mapping[Step, Prompt] | None = None,
) -> AnsweringJudge:
    """Build the judge of a row; a panel is built with all its members.

    `store_of` returns the call store of each judge with a server; by default, calls are stored in memory. `remember`
    is called in the event loop with the judge, the reply format of its server and the refused parameters. `told` has
    prompts with examples, which a panel does not use.
    Raises JudgeSettings with the reason of `fault_of_use`, or if the key's environment variable is not set; the message
    does not contain the key.
    """
    if fault := fault_of_use(judge):
        raise JudgeSettings(fault)
    if judge.kind == Judge.Kind.LEXICAL:
        return LexicalJudge()
    if judge.kind == Judge.Kind.PANEL:
        member_judge = partial(build, store_of=store_of, remember=remember, budget=budget)
        built = [*map(member_judge, members_of(judge))]
        return JudgePanel(built, name=judge.name, ask_next_below=judge.ask_next_below)
    limits = _limits(judge)
    return OpenAIJudge(
        judge.model,
        judge.base_url or None,
        _api_key(judge),
        name=judge.name,
        temperature=judge.temperature,
        seed=judge.seed,
        limits=limits,
        store=MemoryCallStore() if store_of is None else store_of(judge),
        custom_instruction=judge.custom_instruction or None,
        prompts={**own_prompts(judge), **(told or {})},
        price=Price(judge.prompt_price, judge.completion_price) if judge.has_price else None,
        budget=budget if judge.has_price else None,
        pace=_pace(judge, limits),
        reply_format=next((known for known in REPLY_FORMATS if known == judge.reply_format), None),
        refused=judge.refused_parameters,
        remember=None if remember is None else partial(remember, judge),
    )


def _limits(judge: Judge) -> Limits:
    workers = max(1, workers_alive())
    shared = {name: getattr(judge, name) for name in ("concurrency", "calls_per_minute", "tokens_per_minute")}
    return Limits(
        timeout_seconds=judge.timeout_seconds,
        max_tokens=judge.max_tokens,
        context_tokens=judge.context_tokens,
        **{name: limit and max(1, limit // workers) for name, limit in shared.items()},
    )


def _pace(judge: Judge, limits: Limits) -> Pace:
    # Use one object per process and judge, so that limits per minute hold from one turn to the next.
    pace = _PACES.setdefault(judge.pk, Pace(None, None))
    pace.calls, pace.tokens = limits.calls_per_minute, limits.tokens_per_minute
    return pace


def remember_server(judge: Judge, reply_format: str, refused: Sequence[str]) -> None:
    """Store the reply format and refused parameters, unless the server or model of the row has changed."""
    same = Judge.objects.filter(pk=judge.pk, model=judge.model, base_url=judge.base_url)
    same.update(reply_format=reply_format, refused_parameters=list(refused))


@dataclass(frozen=True, slots=True)
class JudgeAtWork:
    """A judge whose event loop runs in another thread, so that this thread can use the database."""

    halves: Sequence[AnsweringJudge]
    row: Judge
    loop: asyncio.AbstractEventLoop

    @property
    def judge(self) -> AnsweringJudge:
        return self.halves[0]

    def judge_of(self, document_set: DocumentSet) -> AnsweringJudge:
        """The judge for this set, with the examples for its half, if there are any."""
        return self.halves[half_of(document_set.cluster) % len(self.halves)]

    def repeat_judge(self, document_set: DocumentSet, run: Run) -> AnsweringJudge | None:
        """The judge for repeated questions about this set; None if the run repeats no questions."""
        return self.judge_of(document_set).again(run.public_id) if run.repeat_share else None

    def begin(self, question: Coroutine[Any, Any, JudgeReply]) -> Future[JudgeReply]:
        """Start asking a question, and return at once."""
        return asyncio.run_coroutine_threadsafe(question, self.loop)


@contextmanager
def at_work(judge: Judge, *, run: Run | None = None) -> Iterator[JudgeAtWork]:
    """Build a judge with an event loop, and close everything at the end of the with block.

    Calls are stored as rows, and the rows of judges get the reply formats of their servers. Calls for a run count
    towards its cost and cap. Raises JudgeSettings if the judge cannot be built or the run's project may not use it.
    """
    if run is not None:
        try:
            require_of(judge, run.project)
        except Refusal as refusal:
            raise JudgeSettings(refusal.message) from refusal
    # Money waits for no stored call, so it has a thread of its own.
    with closing(DatabaseThread("judge-rows")) as rows, closing(DatabaseThread("run-budget")) as money:

        def remember(*found: Any) -> None:
            # Do not wait for this, because after a failure the next worker finds the values again.
            rows.begin(partial(remember_server, *found))

        examples = None if run is None else examples_of(judge)
        told = [prompts_with(examples, half, own_prompts(judge)) for half in (0, 1)] if examples else [{}]
        built = build(
            judge,
            store_of=lambda member: RowCallStore(member, rows, run=run),
            remember=remember,
            budget=None if run is None else RunBudget(run, money),
            told=told[0],
        )
        others = (built.with_prompts(each) for each in told[1:] if isinstance(built, OpenAIJudge))
        halves = [built, *others]
        with _loop_in_thread() as loop:
            try:
                yield JudgeAtWork(halves, judge, loop)
            finally:
                asyncio.run_coroutine_threadsafe(_end_asking(built), loop).result()


@contextmanager
def _loop_in_thread() -> Iterator[asyncio.AbstractEventLoop]:
    loop, is_over = asyncio.new_event_loop(), threading.Event()

    def run() -> None:
        while not is_over.is_set():
            try:
                loop.run_forever()
            except BaseException:
                # Go on, because nobody would end the open calls: their jobs would wait as long as the worker lives.
                logger.exception("The event loop of a judge broke off, and starts again")

    thread = threading.Thread(target=run, name="judge-loop", daemon=True)
    thread.start()
    try:
        yield loop
    finally:
        is_over.set()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _end_asking(judge: AnsweringJudge) -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
    await judge.aclose()


def is_allowed_url(url: str, allowed: list[str]) -> bool:
    """True if a judge may call this base URL.

    An entry allows addresses with its scheme, host and port (by default the port of the scheme), whose path is the
    entry's path or below it. The port `:*` allows every port.
    """
    wanted = _address(url)
    for entry in allowed if wanted else ():
        covering = _address(entry.replace(ANY_PORT, "", 1))
        if wanted and covering:
            (server, port, folders), (its_server, its_port, its_folders) = wanted, covering
            is_its_port = port == its_port or ANY_PORT in entry
            if server == its_server and is_its_port and folders[: len(its_folders)] == its_folders:
                return True
    return False


def fault_of_use(judge: Judge) -> str:
    """The reason why the judge cannot be asked in this installation; "" if none is known."""
    if judge.archived_at is not None:
        return f"The judge {judge.name!r} is archived. Unarchive it, or choose another."
    if judge.kind == Judge.Kind.PANEL:
        members = members_of(judge)
        if not members or any(member.kind == Judge.Kind.PANEL for member in members):
            return f"The panel {judge.name!r} needs members that are no panels. Choose them on its form."
        return next(filter(None, map(fault_of_use, members)), "")
    if judge.kind == Judge.Kind.OPENAI:
        address = address_of(judge)
        return url_fault(address) or key_fault(judge.api_key_env, address) or _sealed_fault(judge)
    return ""


def url_fault(url: str) -> str:
    """The reason why no judge may call this base URL; "" if one may."""
    if fault := base_url_fault(url):
        return fault
    own = [f"http://{host}:{settings.OWN_PORT}" for host in LOOPBACK] if settings.OWN_PORT else []
    if is_allowed_url(url, own):
        return f"{url} is the address of Coverdict itself."
    if is_allowed_url(url, allowed_urls()):
        return ""
    parts = urlsplit(url)
    entry = f"{parts.scheme}://{parts.netloc}"
    line = f"COVERDICT_JUDGE_URLS={','.join([*settings.COVERDICT_JUDGE_URLS, entry])}"
    return (
        f"The judge would call {url}, which is not allowed here. An administrator can allow {entry} on the page "
        f"Status, or set {line} in the environment of the server and the workers."
    )


def key_fault(variable: str, url: str) -> str:
    """The reason why the key in this environment variable may not be sent to this base URL; "" if it may."""
    if not variable or is_allowed_url(url, settings.COVERDICT_JUDGE_KEYS.get(variable, [])):
        return ""
    # Omit a value that is no name, because it may be a pasted key.
    name = variable if variable.isidentifier() and variable.isupper() else "this variable"
    return (
        f"The key in {name} may not be sent to {url}. The administrator of this installation can bind a variable to "
        f"that address: COVERDICT_JUDGE_KEYS=NAME={url}"
    )


def sealed_key(key: str, url: str) -> str:
    """Encrypt the key; it can be decrypted only for the scheme, host and port of this base URL."""
    return seal(key, purpose=_purpose(url))


def is_same_server(url: str, other: str) -> bool:
    """True if both base URLs have the same scheme, host and port."""
    return _purpose(url) == _purpose(other)


def _purpose(url: str) -> str:
    address = _address(url)
    return f"judge key {address[:2] if address else None}"


def _sealed_fault(judge: Judge) -> str:
    if not judge.sealed_key or unseal(judge.sealed_key, purpose=_purpose(address_of(judge))) is not None:
        return ""
    return (
        f"The API key of the judge {judge.name!r} cannot be read, because SECRET_KEY has changed. Enter it again on "
        "the judge's page."
    )


def _api_key(judge: Judge) -> str | None:
    if judge.sealed_key:
        return unseal(judge.sealed_key, purpose=_purpose(address_of(judge)))
    if not judge.api_key_env:
        return None
    key = os.environ.get(judge.api_key_env, "")
    if not key:
        told = f"The judge {judge.name!r} takes its key from the environment variable {judge.api_key_env},"
        raise JudgeSettings(f"{told} which is not set where the worker runs.")
    return key


def _address(url: str) -> tuple[tuple[str, str], int, list[str]] | None:
    """Split a URL into scheme and host, port, and folders; None if they cannot be compared safely."""
    if base_url_fault(url):
        return None
    parts = urlsplit(url)
    folders = [folder for folder in unquote(parts.path).split("/") if folder]
    # Refuse paths with dots, because they may leave the folder that they begin with.
    if ".." in folders or "\\" in url:
        return None
    return (parts.scheme, parts.hostname or ""), parts.port or _PORTS[parts.scheme], folders
