"""Add, change, archive and restore judges."""

from __future__ import annotations

import logging
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from itertools import chain, count
from typing import TYPE_CHECKING

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.utils import timezone

from annotation.core.events import log
from annotation.core.permissions import Verb, require
from annotation.core.refusals import Conflict, Invalid, NotAllowed
from annotation.judging.queries.judges import address_of, judges_of
from annotation.judging.services.judges import LEXICAL, is_same_server, key_fault, sealed_key, url_fault
from annotation.models import Judge, JudgeCall, JudgeExamples, Project, PromptVersion, Run

if TYPE_CHECKING:
    from django.contrib.auth.models import User

logger = logging.getLogger(__name__)

PER_MINUTE = ("calls_per_minute", "tokens_per_minute")
LIMITS = (
    "temperature",
    "seed",
    "concurrency",
    "timeout_seconds",
    "max_tokens",
    *PER_MINUTE,
    "context_tokens",
)
PRICES = ("prompt_price", "completion_price")
IDENTITY = ("name", "kind", "model")
"""The columns that are fixed once the judge has been used."""
PROFILE = (*IDENTITY, "base_url", "api_key_env", *LIMITS, *PRICES, "custom_instruction", "ask_next_below")
"""The columns of a judge that people fill in."""

LONGEST_STEM = 55
LONGEST_KEY = 1000

SERVER = ("model", "base_url")
"""The columns that determine the reply format of a judge's server."""

NUMBER_BOUNDS: Mapping[str, tuple[float, float, str]] = {
    "temperature": (0, 2, "The temperature must be between 0 and 2."),
    "ask_next_below": (0, 1, "The confidence must be between 0 and 1."),
    "timeout_seconds": (math.ulp(0.0), sys.float_info.max, "The timeout must be above 0 seconds."),
    **dict.fromkeys(("concurrency", "max_tokens"), (1, math.inf, "Enter at least 1.")),
    **dict.fromkeys(PER_MINUTE, (1, math.inf, "Enter at least 1, or leave it empty for no limit.")),
    **dict.fromkeys(PRICES, (0, sys.float_info.max, "The price must be 0 or more.")),
}
"""The minimum and maximum of each number, with the message."""


@transaction.atomic
def add_judge(
    *,
    project: Project | None,
    by: User | None,
    members: Sequence[Judge] = (),
    prompts: Sequence[PromptVersion] = (),
    api_key: str | None = None,
    **profile: object,
) -> Judge:
    """Create a judge of the project. Without a project, create a shared judge, which only administrators may do.

    `profile` has columns of `PROFILE`. `members` are the judges of a panel, and `prompts` are versions of the project's
    prompts. `api_key` is stored encrypted. Raises Invalid with the first of `profile_faults`, Conflict (code
    `name_taken`) if a judge with this name was created meanwhile, and NotAllowed for a key unless an owner enters it.
    """
    _require(project, by, api_key)
    judge = as_changed(Judge(project=project), profile, api_key)
    _save(judge, members, prompts)
    _log_added(judge, by)
    return judge


@transaction.atomic
def copy_judge(*, project: Project, judge: Judge, stem: str, by: User | None) -> Judge:
    """Copy a judge to the project, with its profile, key and prompts but without members.

    The name is the first free one with this stem.
    """
    _require(project, by)
    stem = stem[:LONGEST_STEM]
    taken = set(judges_of(project).filter(name__startswith=stem).values_list("name", flat=True))
    names = chain([stem], (f"{stem}-{number}" for number in count(2)))
    free = next(name for name in names if name not in taken)
    profile = {each: getattr(judge, each) for each in PROFILE} | {"name": free}
    made = Judge(project=project, sealed_key=judge.sealed_key, **profile)
    _save(made, [], list(judge.prompts.all()))
    _log_added(made, by)
    return made


@transaction.atomic
def change_judge(
    *,
    judge: Judge,
    by: User | None,
    members: Sequence[Judge] | None = None,
    prompts: Sequence[PromptVersion] | None = None,
    api_key: str | None = None,
    **changes: object,
) -> Judge:
    """Change a judge's profile; omitted columns stay as they are. An empty `api_key` removes the stored key.

    A new server removes the stored key. A new server or model resets the reply format and the refused parameters.
    Raises the Invalid and NotAllowed of `add_judge`. Raises Conflict (code `judge_used`) if the name, kind or model
    changes and the judge has been used.
    """
    _require(judge.project, by, api_key)
    judge = Judge.objects.select_for_update(of=("self",)).select_related("project").get(pk=judge.pk)
    wanted = as_changed(judge, changes, api_key)
    moved: dict[str, object] = {
        name: [before, after]
        for name in changes
        if (before := getattr(judge, name)) != (after := getattr(wanted, name))
    }
    if judge.sealed_key != wanted.sealed_key:
        moved["api_key"] = "entered" if wanted.sealed_key else "removed"
    if not moved.keys().isdisjoint(IDENTITY) and is_used(judge):
        told = f"The judge {judge.name} has answered checks, so its name, kind and model cannot change. Add"
        raise Conflict(f"{told} another judge.", code="judge_used")
    if not moved.keys().isdisjoint(SERVER):
        wanted.reply_format, wanted.refused_parameters = "", []
    before = {"members": list(judge.members.all()), "prompts": list(judge.prompts.all())}
    given = {"members": members, "prompts": prompts}
    after = {name: rows if (new := given[name]) is None else list(new) for name, rows in before.items()}
    _save(wanted, after["members"], after["prompts"])
    for name, rows in before.items():
        if set(rows) != set(after[name]):
            moved[name] = [sorted(map(str, rows)), sorted(map(str, after[name]))]
    if moved:
        _log(wanted, by, "change judge", {"changed": moved})
    return wanted


@transaction.atomic
def archive_judge(*, judge: Judge, by: User | None, restore: bool = False) -> Judge:
    """Archive or restore the judge. Idempotent.

    Runs cannot use an archived judge; its stored key is deleted, and its answers stay.

    Raises Conflict if it is the deciding judge of a project (code `judge_decides`) or has an active run (`run_active`).
    """
    _require(judge.project, by)
    judge = Judge.objects.select_for_update(of=("self",)).select_related("project").get(pk=judge.pk)
    if (judge.archived_at is None) == restore:
        return judge
    if judge.deciding_in.exists():
        raise Conflict(
            f"The verdicts of {judge.name} decide. Choose another deciding judge first.", code="judge_decides"
        )
    if Run.objects.filter(judge=judge, state=Run.State.ACTIVE).exists():
        raise Conflict(f"{judge.name} is running. Wait for the run to end, or cancel it.", code="run_active")
    judge.archived_at, judge.sealed_key = None if restore else timezone.now(), ""
    judge.save(update_fields=["archived_at", "sealed_key"])
    _log(judge, by, "restore judge" if restore else "archive judge", {})
    return judge


def is_used(judge: Judge) -> bool:
    """True if the judge has a run, a verdict or a call."""
    return not judge._state.adding and (
        judge.runs.exists() or judge.verdicts.exists() or JudgeCall.all_calls.filter(judge=judge).exists()
    )


def as_changed(judge: Judge, changes: Mapping[str, object], api_key: str | None = None) -> Judge:
    """Build an unsaved copy of the row with these columns of `PROFILE` and this key.

    Raises Invalid for other columns, and for a key or a variable that this judge cannot have.
    """
    wanted = copy(judge)
    for name, value in changes.items():
        if name not in PROFILE:
            raise Invalid(f"A judge has no {name!r}.", field=name)
        setattr(wanted, name, value)
    if wanted.project is not None and wanted.api_key_env not in ("", judge.api_key_env):
        told = "Only a shared judge takes its key from the environment. An owner of the project enters a key instead."
        raise Invalid(told, field="api_key_env", code="invalid_judge")
    if api_key:
        if wanted.project is None or wanted.kind != Judge.Kind.OPENAI:
            told = "Only a project's own OpenAI-compatible judge stores a key."
            raise Invalid(told, field="api_key", code="invalid_judge")
        if len(api_key) > LONGEST_KEY or not api_key.isascii() or not api_key.isprintable() or " " in api_key:
            told = f"An API key has at most {LONGEST_KEY} letters, digits and signs, and no spaces."
            raise Invalid(told, field="api_key", code="invalid_judge")
        wanted.sealed_key, wanted.api_key_env = sealed_key(api_key, address_of(wanted)), ""
    elif api_key == "" or not is_same_server(address_of(judge), address_of(wanted)):
        wanted.sealed_key = ""
    return wanted


def profile_faults(
    judge: Judge, members: Sequence[Judge], prompts: Sequence[PromptVersion] = ()
) -> list[Invalid]:
    """List the faults that prevent saving the row with these members and prompts, at most one per field."""
    found: dict[str, str] = {}
    for field, message in chain(_column_faults(judge), _server_faults(judge), _member_faults(judge, members)):
        found.setdefault(field, message)
    steps = {(row.project_id, row.step) for row in prompts if row.project_id == judge.project_id}
    if prompts and (judge.kind != Judge.Kind.OPENAI or len(steps) < len(prompts)):
        found["prompts"] = "A language model uses prompts of its own project, one version of each step."
    return [Invalid(message, field=field, code="invalid_judge") for field, message in found.items()]


def _column_faults(judge: Judge) -> Iterator[tuple[str, str]]:
    for name, (least, most, words) in NUMBER_BOUNDS.items():
        value = getattr(judge, name)
        if isinstance(value, int | float) and not least <= value <= most:
            yield name, words
    try:
        judge.clean_fields(exclude=[each.name for each in Judge._meta.fields if each.name not in PROFILE])
    except ValidationError as error:
        for field, messages in error.message_dict.items():
            yield field, " ".join(messages)
    if judge.project is not None and judge.name == LEXICAL:
        yield "name", "The built-in judge is called lexical. Choose another name."
    # A shared judge's name must be unique in all projects. But projects must not learn the names of others' judges.
    rows = judges_of(judge.project) if judge.project is not None else Judge.objects.all()
    if rows.filter(name=judge.name).exclude(pk=judge.pk).exists():
        yield "name", f"There is a judge named {judge.name} already. Choose another name."
    if judge.context_tokens is not None and judge.context_tokens <= judge.max_tokens:
        yield (
            "context_tokens",
            f"The context includes request and reply, so it must be larger than a reply's {judge.max_tokens} tokens.",
        )
    # Require both prices or none, because calls without a price would not count towards a cap.
    if bool(judge.prompt_price) != bool(judge.completion_price):
        missing, what = ("completion", "replies") if judge.prompt_price else ("prompt", "prompts")
        yield (
            f"{missing}_price",
            f"Enter both prices or neither; otherwise {what} would count as free under a cap.",
        )


def _server_faults(judge: Judge) -> Iterator[tuple[str, str]]:
    if judge.kind != Judge.Kind.OPENAI:
        if judge.base_url or judge.api_key_env:
            yield "base_url", "Only an OpenAI-compatible judge has an address and a key."
        return
    if not judge.model:
        yield "model", "Name the model at the provider."
    if refused := url_fault(address_of(judge)):
        yield "base_url", refused
    elif fault := key_fault(judge.api_key_env, address_of(judge)):
        yield "api_key_env", fault


def _member_faults(judge: Judge, members: Sequence[Judge]) -> Iterator[tuple[str, str]]:
    if judge.kind != Judge.Kind.PANEL:
        if members or judge.ask_next_below is not None:
            yield ("members" if members else "ask_next_below"), "Only a panel has members."
        return
    if not members:
        yield "members", "Choose the panel's members."
    if nested := [member.name for member in members if member.kind == Judge.Kind.PANEL]:
        yield "members", f"A panel cannot ask panels: {', '.join(nested)}. Name judges."
    taught = JudgeExamples.objects.filter(judge__in=[member.pk for member in members]).order_by("judge__name")
    if names := list(taught.values_list("judge__name", flat=True)):
        yield "members", f"A panel cannot include judges with examples: {', '.join(names)}."
    if any(member.project_id not in (None, judge.project_id) for member in members):
        yield (
            "members",
            "A panel can include only shared judges and, if it is not shared, judges of its own project.",
        )


def _require(project: Project | None, by: User | None, api_key: str | None = None) -> None:
    if project is not None:
        require(by, project, Verb.CHANGE_PROJECT if api_key is None else Verb.SET_KEYS)
    elif by is not None and not by.is_superuser:
        told = (
            "This judge is shared by all projects, so only administrators can change it. Add a judge to this"
        )
        raise NotAllowed(f"{told} project instead.", code="shared_judge")


def _save(judge: Judge, members: Sequence[Judge], prompts: Sequence[PromptVersion]) -> None:
    for fault in profile_faults(judge, members, prompts):
        raise fault
    try:
        with transaction.atomic():
            judge.save()
    except IntegrityError as error:
        raise Conflict(
            f"Someone has just added a judge named {judge.name}. Choose another name.", code="name_taken"
        ) from error
    judge.members.set(members)
    judge.prompts.set(prompts)


def _log_added(judge: Judge, by: User | None) -> None:
    data = {"kind": judge.kind, "model": judge.model, "address": judge.base_url}
    _log(judge, by, "add judge", data | ({"api_key": "entered"} if judge.sealed_key else {}))


def _log(judge: Judge, by: User | None, verb: str, data: Mapping[str, object]) -> None:
    if judge.project is not None:
        log(project=judge.project, actor=by, verb=verb, target=judge, data={"judge": judge.name, **data})
    else:
        # A shared judge is in no project's log.
        logger.info("%s: %s by %s", verb.capitalize(), judge.name, by.username if by else "the operator")
