"""An owner or manager puts a step of judging into other words, or goes back to the built-in ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from django.db import transaction

from annotation.core.events import log
from annotation.core.permissions import Verb, require
from annotation.core.refusals import Conflict, Invalid
from annotation.core.text_faults import checked_note
from annotation.judging.queries.prompts import StepPrompt, known_step, step_of
from annotation.models import Project, PromptVersion
from evaluation.judging.errors import UnusablePrompt
from evaluation.judging.prompts import PROMPTS, Prompt

if TYPE_CHECKING:
    from django.contrib.auth.models import User

LONGEST_PROMPT_NOTE = 500


@transaction.atomic
def reword_prompt(
    *,
    project: Project,
    step: str,
    by: User | None,
    system: str | None = None,
    parts: Mapping[str, str] | None = None,
    note: str = "",
    seen: int | None = None,
) -> PromptVersion | None:
    """Put a step's words in force, as a new version; runs that have begun keep theirs.

    What is not given keeps the words in force. `seen` is the number of the version that `by` had on screen, 0
    for none: where there is a newer one, Conflict (code `newer_prompt`) carries both and nothing is written.
    Left out, no such test is made. Words that are in force already are no new version: the one in force comes
    back, None where none was ever made. The built-in words go back to the built-in prompt.
    Raises NotFound for an unknown step; Invalid (code `unusable_prompt`) for words that the step cannot be
    told in, its field "system" or "parts.<name>".
    """
    require(by, project, Verb.CHANGE_PROJECT)
    now = _locked(project, step)
    return _put_in_force(now, project, reworded(now.prompt, system=system, parts=parts), by, note, seen)


@transaction.atomic
def restore_prompt(
    *, project: Project, step: str, by: User | None, note: str = "", seen: int | None = None
) -> PromptVersion | None:
    """Put a step's built-in words in force again, as a new version that says so.

    Raises as `reword_prompt`.
    """
    require(by, project, Verb.CHANGE_PROJECT)
    now = _locked(project, step)
    return _put_in_force(now, project, PROMPTS[now.step], by, note, seen)


def reworded(prompt: Prompt, *, system: str | None = None, parts: Mapping[str, str] | None = None) -> Prompt:
    """The prompt in these words. Raises Invalid (code `unusable_prompt`)."""
    try:
        return prompt.reworded(system=system, parts=parts)
    except UnusablePrompt as fault:
        field = f"parts.{fault.part}" if fault.part else "system"
        raise Invalid(str(fault), field=field, code=fault.code) from fault


def _locked(project: Project, step: str) -> StepPrompt:
    # Whoever starts a run locks the project too, so that a run never begins with half a change.
    Project.objects.select_for_update(of=("self",), no_key=True).get(pk=project.pk)
    return step_of(project, known_step(step))


def _put_in_force(
    now: StepPrompt, project: Project, prompt: Prompt, by: User | None, note: str, seen: int | None
) -> PromptVersion | None:
    if prompt.version == now.prompt.version:
        return now.latest
    note = _checked_note(note)
    if seen is not None and seen != now.number:
        raise _conflict(now, prompt, note)
    built_in = PROMPTS[now.step].part_words
    row = PromptVersion.objects.create(
        project=project,
        step=now.step,
        number=now.number + 1,
        is_built_in=not prompt.is_reworded,
        system=prompt.system if prompt.is_reworded else "",
        parts={name: words for name, words in prompt.part_words.items() if words != built_in[name]},
        version=prompt.version,
        note=note,
        created_by=by,
    )
    log(
        project=project,
        actor=by,
        verb="reword prompt" if prompt.is_reworded else "restore prompt",
        target=row,
        data={
            "step": row.step,
            "number": row.number,
            "versions": [now.prompt.version, prompt.version],
            "note": note,
        },
    )
    return row


def _checked_note(note: str) -> str:
    if_long = f"A note takes at most {LONGEST_PROMPT_NOTE} characters, this one has {{length}}."
    return checked_note(note, most=LONGEST_PROMPT_NOTE, if_long=if_long)


def _conflict(now: StepPrompt, yours: Prompt, note: str) -> Conflict:
    latest = now.latest
    who = latest.created_by.get_username() if latest and latest.created_by else "The operator"
    return Conflict(
        f"{who} has saved version {now.number} of this prompt since you began. Yours is not saved: look at "
        f"both, then save again on top of version {now.number}.",
        code="newer_prompt",
        details={
            "yours": {**_words(yours), "note": note},
            "theirs": {**_words(now.prompt), "note": latest.note if latest else "", "number": now.number},
        },
    )


def _words(prompt: Prompt) -> dict[str, object]:
    return {"version": prompt.version, "system": prompt.system.strip(), "parts": prompt.part_words}
