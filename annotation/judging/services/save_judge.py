"""Judges are added, changed, put into the archive and taken out of it: a project's own by its owners and managers,
shared ones by administrators.

What a judge may be is said here alone; the page, the API and the admin ask `profile_faults`.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from datetime import datetime
from itertools import chain, count
from typing import TYPE_CHECKING

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.utils import timezone

from annotation.core.events import log
from annotation.core.permissions import Verb, require
from annotation.core.refusals import Conflict, Invalid, NotAllowed
from annotation.judging.queries.judges import address_of, judges_of, members_of
from annotation.judging.services.judges import LEXICAL, is_allowed_url, key_fault, url_fault
from annotation.models import Judge, JudgeCall, JudgeExamples, Project, PromptVersion, Run

if TYPE_CHECKING:
    from django.contrib.auth.models import User

LIMITS = (
    "temperature",
    "seed",
    "concurrency",
    "timeout_seconds",
    "max_tokens",
    "calls_per_minute",
    "tokens_per_minute",
    "context_tokens",
)
PRICES = ("prompt_price", "completion_price")
PROFILE = (
    "name",
    "kind",
    "model",
    "base_url",
    "api_key_env",
    *LIMITS,
    *PRICES,
    "custom_instruction",
    "ask_next_below",
)
"""The columns of a judge that people fill in."""

LONGEST_STEM = 55

IDENTITY = ("name", "kind", "model")
"""What a judge's verdicts were given as; fixed once there are any."""

SERVER = ("model", "base_url")
"""What decides which reply format a judge's server takes."""

_AT_LEAST_1 = "Enter at least 1{}."
_OR_EMPTY = ", or leave it empty for no limit"
NUMBER_BOUNDS: Mapping[str, tuple[float, float, str]] = {
    "temperature": (0, 2, "The temperature must be between 0 and 2."),
    "ask_next_below": (0, 1, "The confidence must be between 0 and 1."),
    "timeout_seconds": (math.ulp(0.0), sys.float_info.max, "The timeout must be above 0 seconds."),
    "concurrency": (1, math.inf, _AT_LEAST_1.format(" concurrent call")),
    "max_tokens": (1, math.inf, _AT_LEAST_1.format(" token")),
    **dict.fromkeys(("calls_per_minute", "tokens_per_minute"), (1, math.inf, _AT_LEAST_1.format(_OR_EMPTY))),
    **dict.fromkeys(PRICES, (0, sys.float_info.max, "The price must be 0 or more.")),
}
"""The least and the largest that the numbers of a profile may be, as the database checks them, and that in words."""


@transaction.atomic
def add_judge(
    *,
    project: Project | None,
    by: User | None,
    members: Sequence[Judge] = (),
    prompts: Sequence[PromptVersion] = (),
    **profile: object,
) -> Judge:
    """Make a judge of the project's own; without a project one that all projects share, for administrators.

    `profile` holds what `PROFILE` names; `members` are the judges that a panel asks, `prompts` the versions of
    the project's prompts that it uses. Raises Invalid for the first
    of `profile_faults`.
    """
    _require(project, by)
    _refuse_unknown(profile)
    judge = Judge(project=project, **profile)
    for fault in profile_faults(judge, members, prompts):
        raise fault
    _save(judge, members, prompts)
    _log(judge, by, "add judge", {"kind": judge.kind, "model": judge.model, "address": judge.base_url})
    return judge


def copy_judge(*, project: Project, judge: Judge, stem: str, by: User | None) -> Judge:
    """A judge of the project's own that asks the same model in the same way, by the first free name of this stem."""
    profile = {each: getattr(judge, each) for each in PROFILE if each != "name"}
    prompts, name = list(judge.prompts.all()), _free_name(project, stem)
    return add_judge(project=project, by=by, name=name, prompts=prompts, **profile)


def _free_name(project: Project, stem: str) -> str:
    stem = stem[:LONGEST_STEM]
    taken = set(judges_of(project).filter(name__startswith=stem).values_list("name", flat=True))
    names = chain([stem], (f"{stem}-{number}" for number in count(2)))
    return next(name for name in names if name not in taken)


@transaction.atomic
def change_judge(
    *,
    judge: Judge,
    by: User | None,
    members: Sequence[Judge] | None = None,
    prompts: Sequence[PromptVersion] | None = None,
    **changes: object,
) -> Judge:
    """Change what is said of a judge; what is left out stays.

    What is known of its server's replies is forgotten with the server or the model. Raises Invalid as `add_judge`;
    Conflict (code `judge_used`) for another name, kind or model of one that has answered anything.
    """
    _require(judge.project, by)
    _refuse_unknown(changes)
    judge = Judge.objects.select_for_update(of=("self",)).select_related("project").get(pk=judge.pk)
    asked = members_of(judge) if judge.kind == Judge.Kind.PANEL else []
    wanted = as_changed(judge, changes)
    moved = {
        name: [getattr(judge, name), getattr(wanted, name)]
        for name in changes
        if getattr(judge, name) != getattr(wanted, name)
    }
    if set(IDENTITY) & set(moved) and is_used(judge):
        raise Conflict(
            f"The judge {judge.name} has answered checks, so its name, kind and model cannot change. Add "
            "another judge.",
            code="judge_used",
        )
    new = asked if members is None else list(members)
    used = list(judge.prompts.all())
    words = used if prompts is None else list(prompts)
    for fault in profile_faults(wanted, new, words):
        raise fault
    if set(SERVER) & set(moved):
        wanted.reply_format, wanted.refused_parameters = "", []
    _save(wanted, new, words)
    if {one.pk for one in asked} != {one.pk for one in new}:
        moved["members"] = [sorted(one.name for one in asked), sorted(one.name for one in new)]
    if set(used) != set(words):
        moved["prompts"] = [sorted(map(str, used)), sorted(map(str, words))]
    if moved:
        _log(wanted, by, "change judge", {"changed": moved})
    return wanted


@transaction.atomic
def archive_judge(*, judge: Judge, by: User | None) -> Judge:
    """Keep runs from using the judge from now on; its answers stay. Twice changes nothing.

    Raises Conflict while it decides somewhere (code `judge_decides`) or is at work (`run_active`).
    """
    _require(judge.project, by)
    if judge.deciding_in.exists():
        raise Conflict(
            f"The verdicts of {judge.name} decide. Choose another deciding judge first.", code="judge_decides"
        )
    if Run.objects.filter(judge=judge, state=Run.State.ACTIVE).exists():
        raise Conflict(f"{judge.name} is running. Wait for the run to end, or cancel it.", code="run_active")
    return _set_archived(judge, by, timezone.now())


@transaction.atomic
def restore_judge(*, judge: Judge, by: User | None) -> Judge:
    """Take a judge out of the archive. Twice changes nothing."""
    return _set_archived(judge, by, None)


def _set_archived(judge: Judge, by: User | None, at: datetime | None) -> Judge:
    _require(judge.project, by)
    judge = Judge.objects.select_for_update(of=("self",)).select_related("project").get(pk=judge.pk)
    if (judge.archived_at is None) != (at is None):
        judge.archived_at = at
        judge.save(update_fields=["archived_at"])
        _log(judge, by, "restore judge" if at is None else "archive judge", {})
    return judge


def is_used(judge: Judge) -> bool:
    """True if the judge has answered anything, or is asked to."""
    return not judge._state.adding and (
        judge.runs.exists() or judge.verdicts.exists() or JudgeCall.all_calls.filter(judge=judge).exists()
    )


def as_changed(judge: Judge, changes: Mapping[str, object]) -> Judge:
    """A copy of the row with other values, not saved."""
    wanted = copy(judge)
    for name, value in changes.items():
        setattr(wanted, name, value)
    return wanted


def profile_faults(
    judge: Judge, members: Sequence[Judge], prompts: Sequence[PromptVersion] = ()
) -> list[Invalid]:
    """Everything that keeps the row from being saved with these members and prompts, each with the field that is
    wrong.
    """
    found = chain(_faults(judge, members), _prompt_faults(judge, prompts))
    return [Invalid(told, field=field, code="invalid_judge") for field, told in found]


def keys_for(url: str) -> list[str]:
    """The environment variables whose keys may be sent to that base URL; all of them where no URL is named."""
    bound = settings.COVERDICT_JUDGE_KEYS
    return sorted(name for name in bound if not url or is_allowed_url(url, bound[name]))


def _faults(judge: Judge, members: Sequence[Judge]) -> Iterator[tuple[str, str]]:
    told = set()
    for field, message in (*_number_faults(judge), *_field_faults(judge)):
        if field not in told:
            told.add(field)
            yield field, message
    if "name" not in told:
        yield from _name_faults(judge)
    if judge.kind == Judge.Kind.OPENAI:
        yield from _server_faults(judge)
    elif judge.base_url or judge.api_key_env:
        yield "base_url", "Only an OpenAI-compatible judge has an address and a key."
    yield from _member_faults(judge, members)
    context, reply = judge.context_tokens, judge.max_tokens
    if context is not None and context <= reply:
        yield (
            "context_tokens",
            f"The context includes request and reply, so it must be larger than a reply's {reply} tokens.",
        )
    yield from _price_faults(judge.prompt_price, judge.completion_price)


def _field_faults(judge: Judge) -> Iterator[tuple[str, str]]:
    """What the columns themselves refuse, such as a name of odd characters or a number that is none."""
    others = [field.name for field in Judge._meta.fields if field.name not in PROFILE]
    try:
        judge.clean_fields(exclude=others)
    except ValidationError as error:
        for field, messages in error.message_dict.items():
            yield field, " ".join(messages)


def _number_faults(judge: Judge) -> Iterator[tuple[str, str]]:
    for name, (least, most, words) in NUMBER_BOUNDS.items():
        value = getattr(judge, name)
        if isinstance(value, int | float) and not least <= value <= most:
            yield name, words


def _name_faults(judge: Judge) -> Iterator[tuple[str, str]]:
    if judge.project is not None and judge.name == LEXICAL:
        yield "name", "The built-in judge is called lexical. Choose another name."
        return
    # A shared name is one in all projects; of a project's own nobody outside is told.
    rows = judges_of(judge.project) if judge.project is not None else Judge.objects.all()
    if rows.filter(name=judge.name).exclude(pk=judge.pk).exists():
        yield "name", f"There is a judge named {judge.name} already. Choose another name."


def _server_faults(judge: Judge) -> Iterator[tuple[str, str]]:
    if not judge.model:
        yield "model", "Name the model at the provider."
    if refused := url_fault(address_of(judge)):
        yield "base_url", refused
    key = judge.api_key_env
    if not key:
        return
    # What is no name may be a key that was pasted: it is not repeated.
    if not (key.isidentifier() and key.isupper()):
        yield (
            "api_key_env",
            "This is not the name of an environment variable, such as OPENAI_API_KEY. Keys are never stored: "
            "put the key into the workers' environment.",
        )
    elif not refused and (fault := key_fault(key, address_of(judge))):
        yield "api_key_env", fault


def _member_faults(judge: Judge, members: Sequence[Judge]) -> Iterator[tuple[str, str]]:
    if judge.kind != Judge.Kind.PANEL:
        if members:
            yield "members", "Only a panel has members."
        if judge.ask_next_below is not None:
            yield "ask_next_below", "Only a panel asks its members in turn."
        return
    if not members:
        yield "members", "Choose the panel's members."
    nested = [member.name for member in members if member.kind == Judge.Kind.PANEL]
    if nested:
        yield "members", f"A panel cannot ask panels: {', '.join(nested)}. Name judges."
    of_members = JudgeExamples.objects.filter(judge__in=[member.pk for member in members])
    taught = list(of_members.order_by("judge__name").values_list("judge__name", flat=True))
    if taught:
        yield "members", f"A panel cannot include judges with examples: {', '.join(taught)}."
    reach = {None, judge.project_id}
    if any(member.project_id not in reach for member in members):
        yield (
            "members",
            "A panel can include only shared judges and judges of its own project."
            if judge.project_id
            else "A shared panel can include only shared judges.",
        )


def _prompt_faults(judge: Judge, prompts: Sequence[PromptVersion]) -> Iterator[tuple[str, str]]:
    if prompts and judge.kind != Judge.Kind.OPENAI:
        yield "prompts", "Only an OpenAI-compatible judge has prompts."
    elif any(row.project_id != judge.project_id for row in prompts):
        yield "prompts", "A judge uses prompts of its own project."
    elif len({row.step for row in prompts}) < len(prompts):
        yield "prompts", "Choose one version of each step."


def _price_faults(prompt: float | None, completion: float | None) -> Iterator[tuple[str, str]]:
    """A cap would not hold calls that seem to be free."""
    for field, missing, given in (
        ("completion_price", completion, prompt),
        ("prompt_price", prompt, completion),
    ):
        if given and given > 0 and missing == 0:
            what = "replies" if field == "completion_price" else "prompts"
            yield field, f"Enter both prices or neither; otherwise {what} would count as free under a cap."


def _require(project: Project | None, by: User | None) -> None:
    if project is not None:
        require(by, project, Verb.CHANGE_PROJECT)
    elif by is not None and not by.is_superuser:
        raise NotAllowed(
            "This judge is shared by all projects, so only administrators can change it. Add a judge to this "
            "project instead.",
            code="shared_judge",
        )


def _refuse_unknown(profile: Mapping[str, object]) -> None:
    unknown = sorted(set(profile) - set(PROFILE))
    if unknown:
        raise Invalid(f"A judge has no {unknown[0]!r}.", field=unknown[0])


def _save(judge: Judge, members: Sequence[Judge], prompts: Sequence[PromptVersion]) -> None:
    try:
        with transaction.atomic():
            judge.save()
    except IntegrityError as error:
        raise Conflict(
            f"Someone has just added a judge named {judge.name}. Choose another name.", code="name_taken"
        ) from error
    judge.members.set(members)
    judge.prompts.set(prompts)


def _log(judge: Judge, by: User | None, verb: str, data: Mapping[str, object]) -> None:
    """A shared judge is in no project's log; the admin keeps what administrators do."""
    if judge.project is not None:
        log(project=judge.project, actor=by, verb=verb, target=judge, data={"judge": judge.name, **data})
