"""Test the connection to a judge's server with one short question."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING

from annotation.core.permissions import Verb, require
from annotation.core.refusals import Invalid
from annotation.judging.services.judges import build, remember_server, require_of, require_usable
from annotation.models import Judge, Project
from evaluation.errors import JudgeError
from evaluation.judging.protocol import Judge as AnsweringJudge
from evaluation.judging.protocol import Text, Verdict

if TYPE_CHECKING:
    from django.contrib.auth.models import User

CLAIM = "The bridge was closed on Monday."
TEXT = "On Monday the old bridge was closed for repairs. It opens again in spring."
LONGEST_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class Connection:
    """A successful test; `format` is the reply format that was found."""

    seconds: float
    format: str


def check_connection(*, project: Project, judge: Judge, by: User | None) -> Connection:
    """Ask the server of a judge, saved or not, about a fixed claim and text.

    The reply format and the refused parameters are determined again, and stored if the judge is saved. Raises NotFound
    for another project's judge. Raises Invalid if the judge cannot be asked (code `unusable_judge`) or gives no usable
    answer (`judge_failed`).
    """
    require(by, project, Verb.RUN)
    require_of(judge, project)
    if judge.kind != Judge.Kind.OPENAI:
        raise Invalid(f"The judge {judge.name!r} has no server.", field="judge", code="unusable_judge")
    require_usable(judge)
    # Forget the known reply format and refused parameters of the server, so that they are determined again.
    fresh = copy(judge)
    fresh.reply_format, fresh.refused_parameters = "", []
    found: list[tuple[str, Sequence[str]]] = []
    began = time.monotonic()
    try:
        verdict = asyncio.run(_ask(build(fresh, remember=lambda _, *taken: found.append(taken))))
    except TimeoutError as late:
        raise _failed(f"The server gave no answer within {LONGEST_SECONDS:g} seconds.") from late
    except JudgeError as failure:
        raise _failed(str(failure)) from failure
    finally:
        if found:
            remember_server(judge, *found[-1])
    if verdict.label is None:
        raise _failed(f"The server gave no usable answer. {verdict.reason}")
    return Connection(time.monotonic() - began, found[-1][0])


async def _ask(judge: AnsweringJudge) -> Verdict:
    try:
        async with asyncio.timeout(LONGEST_SECONDS):
            [verdict] = await judge.check_source([CLAIM], Text.of(TEXT))
        return verdict
    finally:
        await judge.aclose()


def _failed(message: str) -> Invalid:
    return Invalid(message, field="judge", code="judge_failed")
