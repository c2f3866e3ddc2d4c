"""One sample claim for a judge, to see whether it answers, how quickly, and what its server can do."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from annotation.core.permissions import Verb, require, roles_with
from annotation.core.refusals import Invalid, NotAllowed
from annotation.judging.services.judges import FoundOut, build, remember_server, require_usable
from annotation.models import Judge, Membership, Project
from evaluation.errors import JudgeError
from evaluation.judging.protocol import REPLY_FORMATS, ReplyFormat, Text, Usage, Verdict, metered
from evaluation.judging.protocol import Judge as AnsweringJudge

if TYPE_CHECKING:
    from django.contrib.auth.models import User

TRIAL_CLAIM = "The bridge was closed on Monday."
TRIAL_TEXT = "On Monday the old bridge was closed for repairs. It opens again in spring."
LONGEST_SECONDS = 20.0
"""Whoever tries a judge waits for it, so nothing is tried twice and a hang ends early."""


@dataclass(frozen=True, slots=True)
class Trial:
    """What a judge answered to the sample claim.

    `seconds` is the whole wait, connecting included. `format` is the best reply format that the server
    takes (that all servers of a panel take), empty where no server answered; tokens and cost are those of the
    trial.
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


def may_try(by: User) -> bool:
    """Whether the person may let judges run in any project; superusers always."""
    if by.is_superuser:
        return True
    # Whoever is blind may run judges, too.
    open_projects = Project.objects.filter(archived_at=None)
    held = Membership.objects.filter(user=by, project__in=open_projects).values_list("roles", flat=True)
    return any(roles_with(Verb.RUN) & set(roles) for roles in held)


def require_may_try(judge: Judge, by: User | None) -> None:
    """Raises NotAllowed for people who may run judges nowhere, or not in the judge's project (NotFound to those outside
    of it).
    """
    if by is not None and not may_try(by):
        raise NotAllowed("Only people who can start runs in a project can try a judge.")
    if judge.project is not None:
        require(by, judge.project, Verb.RUN)


def try_judge(*, judge: Judge, by: User | None, members: Sequence[Judge] | None = None) -> Trial:
    """Ask the judge whether a sample text says a sample claim; it need not be saved, and `members` are then a panel's.

    No text of a project is sent, and nothing is kept but the reply format that its server takes, which is found anew:
    whoever has changed the server tries the judge. A panel's members are all asked, and theirs kept.
    Raises as `require_may_try`; Invalid where the judge cannot be asked (code `unusable_judge`) or did not answer
    (`judge_failed`), with what the server said and never a key.
    """
    require_may_try(judge, by)
    require_usable(judge, members)
    found: dict[str, tuple[Judge, FoundOut]] = {}

    def remember(asked: Judge, taken: FoundOut) -> None:
        before = found.get(asked.name, (asked, {}))[1]
        found[asked.name] = (asked, {**before, **taken})

    began = time.monotonic()
    try:
        built = build(
            judge,
            remember=remember,
            finds_formats_anew=True,
            members=members,
        )
        verdict, usage = asyncio.run(_ask(built))
    except TimeoutError as late:
        raise Invalid(
            f"The judge {judge.name!r} gave no answer within {LONGEST_SECONDS:g} seconds.",
            field="judge",
            code="judge_failed",
        ) from late
    except JudgeError as failure:
        raise Invalid(str(failure), field="judge", code="judge_failed") from failure
    finally:
        for member, taken in found.values():
            remember_server(member, {"refused_parameters": [], **taken})
    return Trial(
        label=verdict.label,
        probability=verdict.probability,
        reason=verdict.reason,
        seconds=time.monotonic() - began,
        calls=usage.calls,
        format=_plainest(taken["reply_format"] for _, taken in found.values() if "reply_format" in taken),
        prompt_tokens=usage.prompt_tokens,
        completion_tokens=usage.completion_tokens,
        cost=usage.cost,
    )


async def _ask(judge: AnsweringJudge) -> tuple[Verdict, Usage]:
    try:
        with metered() as meter:
            async with asyncio.timeout(LONGEST_SECONDS):
                [verdict] = await judge.check([TRIAL_CLAIM], Text.of(TRIAL_TEXT))
        return verdict, meter.usage
    finally:
        await judge.aclose()


def _plainest(formats: Iterable[ReplyFormat]) -> str:
    """The plainest of them, which every server takes; nothing where there is none."""
    return max(formats, key=REPLY_FORMATS.index, default="")
