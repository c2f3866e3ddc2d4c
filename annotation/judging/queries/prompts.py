"""A project's own words for the steps of judging."""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

from django.db.models import QuerySet

from annotation.core.refusals import NotFound
from annotation.models import Project, PromptVersion, Run
from evaluation.judging.prompts import PROMPTS, Prompt, Step

RUN_STEPS: tuple[Step, ...] = ("read_document", "align_summary", "cover_summary", "check_supported")
"""The steps that runs ask, in their order."""


def known_step(step: str) -> Step:
    """The step of that name. Raises NotFound (code `no_such_step`)."""
    if step not in RUN_STEPS:
        raise NotFound(
            f"There is no step {step!r}. Steps with prompts: {', '.join(RUN_STEPS)}.", code="no_such_step"
        )
    return step


def name_of_step(step: str) -> str:
    """The step as people call it, such as "Cover summary"."""
    return step.replace("_", " ").capitalize()


def versions_of(project: Project) -> QuerySet[PromptVersion]:
    """The project's versions, by step, the newest of each first."""
    rows = PromptVersion.objects.filter(project=project, step__in=RUN_STEPS).select_related("created_by")
    return rows.order_by("step", "-number")


def prompt_of(row: PromptVersion) -> Prompt:
    """The prompt in a version's words. Parts that the step has no longer are left out."""
    built_in = PROMPTS[cast("Step", row.step)]
    parts = {name: words for name, words in row.parts.items() if name in built_in.part_words}
    return built_in.reworded(system=row.system, parts=parts)


def own_prompts(rows: Iterable[PromptVersion]) -> dict[Step, Prompt]:
    """The prompts that some versions, one of each step, put in the place of the built-in ones."""
    return {cast("Step", row.step): prompt_of(row) for row in rows if row.step in PROMPTS}


def own_versions_of(run: Run) -> list[PromptVersion]:
    """The versions that the run's judges used when it began."""
    return list(run.prompt_versions.order_by("step", "number"))
