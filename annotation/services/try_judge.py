"""One sample claim for a judge, to see whether it answers, how quickly, and what its server can do."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from annotation.models import Judge
from annotation.permissions import Verb, verbs_in, visible_projects
from annotation.refusals import Invalid, NotAllowed
from annotation.services.judges import build, require_usable
from evaluation import JudgeError
from evaluation.judging.protocol import MemoryCallStore, Text, Verdict

if TYPE_CHECKING:
    from django.contrib.auth.models import User

CLAIM = "The bridge was closed on Monday."
TEXT = "On Monday the old bridge was closed for repairs. It opens again in spring."
LONGEST_SECONDS = 20.0
"""Whoever tries a judge waits for it, so nothing is tried twice and a hang ends early."""

FORMATS = {
    "json_schema": "answers by JSON schema",
    "json_object": "answers in JSON, but not by a schema",
    "text": "plain text only; JSON is found in it",
}


@dataclass(frozen=True, slots=True)
class Trial:
    """What a judge answered to the sample claim.

    `seconds` is the whole wait, connecting included. `format` is the best reply format that the server
    takes, empty where no server was asked; tokens and cost are those of the trial.
    """

    label: str | None
    probability: float | None
    reason: str
    seconds: float
    calls: int
    format: str
    prompt_tokens: int
    completion_tokens: int
    cost: float

    @property
    def format_in_words(self) -> str:
        return FORMATS.get(self.format, "no server was asked")


def may_try(by: User) -> bool:
    """Whether the person may let judges run in any project; superusers always."""
    return by.is_superuser or any(Verb.RUN in verbs_in(by, project) for project in visible_projects(by))


def try_judge(*, judge: Judge, by: User | None) -> Trial:
    """Ask the judge whether a sample text says a sample claim. Nothing is kept.

    Raises NotAllowed for people who may run judges nowhere; Invalid where the judge cannot be asked
    (code `unusable_judge`) or did not answer (`judge_failed`), with what the server said and never a key.
    """
    if by is not None and not may_try(by):
        raise NotAllowed("Trying a judge is for those who may start runs in some project.")
    require_usable(judge)
    # The row is changed in memory alone: a trial must end while somebody waits for it.
    judge.timeout_seconds = min(judge.timeout_seconds, LONGEST_SECONDS)
    store = MemoryCallStore()
    began = time.monotonic()
    try:
        verdict = asyncio.run(_ask(judge, store))
    except TimeoutError as late:
        raise Invalid(
            f"The judge {judge.name!r} gave no answer within {LONGEST_SECONDS:g} seconds.",
            field="judge",
            code="judge_failed",
        ) from late
    except JudgeError as failure:
        raise Invalid(str(failure), field="judge", code="judge_failed") from failure
    return _trial(judge, store, verdict, time.monotonic() - began)


async def _ask(judge: Judge, store: MemoryCallStore) -> Verdict:
    built = build(judge, store_of=lambda _: store)
    try:
        async with asyncio.timeout(LONGEST_SECONDS):
            [verdict] = await built.check([CLAIM], Text.of(TEXT))
            return verdict
    finally:
        await built.aclose()


def _trial(judge: Judge, store: MemoryCallStore, verdict: Verdict, seconds: float) -> Trial:
    usage = store.usage
    cost = usage.prompt_tokens * judge.prompt_price + usage.completion_tokens * judge.completion_price
    return Trial(
        label=verdict.label,
        probability=verdict.probability,
        reason=verdict.reason,
        seconds=seconds,
        calls=usage.calls,
        format=_format(store),
        prompt_tokens=usage.prompt_tokens,
        completion_tokens=usage.completion_tokens,
        cost=cost / 1_000_000,
    )


def _format(store: MemoryCallStore) -> str:
    """The reply format of the last request that the server took."""
    if not store.calls:
        return ""
    request = json.loads(store.calls[-1].request)
    asked = request.get("response_format") or {"type": "text"}
    return str(asked["type"])
