"""An owner or manager saves other words for a step of judging, which judges of the project may then use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from django.db import transaction
from django.db.models import Max

from annotation.core.events import log
from annotation.core.permissions import Verb, require
from annotation.core.refusals import Invalid
from annotation.core.text_faults import checked_note
from annotation.judging.queries.prompts import known_step
from annotation.models import Project, PromptVersion
from evaluation.judging.errors import UnusablePrompt
from evaluation.judging.prompts import PROMPTS

if TYPE_CHECKING:
    from django.contrib.auth.models import User

LONGEST_PROMPT_NOTE = 500


@transaction.atomic
def save_prompt(
    *,
    project: Project,
    step: str,
    by: User | None,
    system: str | None = None,
    parts: Mapping[str, str] | None = None,
    note: str = "",
) -> PromptVersion:
    """A new version of a step, built-in where no words are given; the version that has these words, if there is one.

    Raises NotFound for an unknown step; Invalid (code `unusable_prompt`) for words that the step cannot use, its field
    "system" or "parts.<name>".
    """
    require(by, project, Verb.CHANGE_PROJECT)
    built_in = PROMPTS[known_step(step)]
    try:
        prompt = built_in.reworded(system=system, parts=parts)
    except UnusablePrompt as fault:
        field = f"parts.{fault.part}" if fault.part else "system"
        raise Invalid(str(fault), field=field, code=fault.code) from fault
    if not prompt.is_reworded:
        raise Invalid("This is the built-in prompt.", field="system", code="unusable_prompt")
    if_long = f"A note takes at most {LONGEST_PROMPT_NOTE} characters, this one has {{length}}."
    note = checked_note(note, most=LONGEST_PROMPT_NOTE, if_long=if_long)
    # One after the other, so that numbers are given once.
    Project.objects.select_for_update(of=("self",), no_key=True).get(pk=project.pk)
    rows = PromptVersion.objects.filter(project=project, step=step)
    same = rows.filter(version=prompt.version).first()
    if same is not None:
        return same
    row = PromptVersion.objects.create(
        project=project,
        step=step,
        number=(rows.aggregate(last=Max("number"))["last"] or 0) + 1,
        system=prompt.system,
        parts={
            name: words for name, words in prompt.part_words.items() if words != built_in.part_words[name]
        },
        version=prompt.version,
        note=note,
        created_by=by,
    )
    log(
        project=project,
        actor=by,
        verb="save prompt",
        target=row,
        data={"step": row.step, "number": row.number, "version": row.version, "note": note},
    )
    return row
