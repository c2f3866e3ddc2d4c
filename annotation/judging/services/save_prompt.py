"""A project's reworded prompts, which its judges may use."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from django.db import transaction
from django.db.models import Max

from annotation.core.events import log
from annotation.core.permissions import Verb, require
from annotation.core.refusals import Invalid
from annotation.models import Judge, Project, PromptVersion
from evaluation.judging.errors import JudgeSettings
from evaluation.judging.prompts import PROMPTS, Prompt, Step

if TYPE_CHECKING:
    from django.contrib.auth.models import User


def own_prompts(judge: Judge) -> dict[Step, Prompt]:
    """Load the reworded prompts of a judge, by step."""
    rows = () if judge._state.adding else judge.prompts.all()
    steps = ((cast("Step", row.step), row.text) for row in rows)
    return {step: PROMPTS[step].reworded(text) for step, text in steps}


@transaction.atomic
def save_prompt(*, project: Project, step: str, text: str, by: User | None) -> PromptVersion:
    """Save a version of a step's prompt; if a version has the same words, return that version.

    Raises Invalid (code `unusable_prompt`) for an unknown step, an unusable text, and the built-in text.
    """
    require(by, project, Verb.CHANGE_PROJECT)
    try:
        built_in = PROMPTS[cast("Step", step)]
        prompt = built_in.reworded(text)
    except KeyError:
        raise Invalid(
            f"There is no step {step!r}. Steps: {', '.join(PROMPTS)}.", code="unusable_prompt"
        ) from None
    except JudgeSettings as fault:
        raise Invalid(str(fault), field="text", code="unusable_prompt") from fault
    if prompt is built_in:
        raise Invalid("This is the built-in prompt.", field="text", code="unusable_prompt")
    # Lock the project, so that version numbers are unique.
    Project.objects.select_for_update(of=("self",), no_key=True).get(pk=project.pk)
    rows = PromptVersion.objects.filter(project=project, step=step)
    if same := rows.filter(version=prompt.version).first():
        return same
    number = (rows.aggregate(last=Max("number"))["last"] or 0) + 1
    row = PromptVersion.objects.create(
        project=project, step=step, number=number, text=prompt.text, version=prompt.version, created_by=by
    )
    log(project=project, actor=by, verb="save prompt", target=row, data={"step": step, "number": number})
    return row
