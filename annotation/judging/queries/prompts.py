"""In which words a project's judges are told what to do, and how those came about."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, NamedTuple, cast

from django.db.models import Exists, OuterRef, QuerySet

from annotation.core.refusals import NotFound
from annotation.models import Project, PromptVersion, Run
from evaluation.judging.prompts import (
    PROMPTS,
    Prompt,
    Step,
    align_input,
    check_input,
    cover_input,
    extract_input,
    read_input,
)
from evaluation.judging.protocol import Json, Text

VERSIONS_SHOWN = 20
SAMPLE_INSTRUCTION = "Amounts of money are in crowns."
_PROMPT_TOKEN = re.compile(r"\s+|\w+|[^\w\s]")


RUN_STEPS: tuple[Step, ...] = (
    "read_document",
    "extract",
    "align_summary",
    "cover_summary",
    "check_covered",
    "check_supported",
)
"""The steps that runs ask, in their order. Reasons of scores are made by template, so that step has no words of a
project's own."""


@dataclass(frozen=True, slots=True)
class StepPrompt:
    """A step with the words that are in force for it; `latest` is None where no one ever changed them."""

    step: Step
    prompt: Prompt
    latest: PromptVersion | None

    @property
    def number(self) -> int:
        """The number of the latest version, 0 for none: what who saves another one must have seen."""
        return self.latest.number if self.latest else 0

    @property
    def is_own(self) -> bool:
        return self.prompt.is_reworded


DifferenceKind = Literal["same", "gone", "new"]


class Difference(NamedTuple):
    """What changed in one text of a prompt; `part` is "" for the step's own text."""

    part: str
    pieces: list[tuple[DifferenceKind, str]]


class PastVersion(NamedTuple):
    """A version, the prompt that it put in force, and how its words differ from the ones before."""

    row: PromptVersion
    prompt: Prompt
    differences: list[Difference]


class Preview(NamedTuple):
    """One call as the judge gets it: what it is told, and a sample of the question with its texts."""

    system: str
    message: str


def known_step(step: str) -> Step:
    """The step of that name. Raises NotFound (code `no_such_step`)."""
    if step not in RUN_STEPS:
        raise NotFound(
            f"There is no step {step!r}. Steps with prompts: {', '.join(RUN_STEPS)}.", code="no_such_step"
        )
    return step


def steps_of(project: Project) -> list[StepPrompt]:
    """Every step with the words in force, in the order of a run."""
    latest = {row.step: row for row in versions_in_force(project)}
    return [_step_prompt(step, latest.get(step)) for step in RUN_STEPS]


def step_of(project: Project, step: Step) -> StepPrompt:
    """One step with the words in force for it."""
    return _step_prompt(step, versions_in_force(project).filter(step=step).first())


def versions_in_force(project: Project) -> QuerySet[PromptVersion]:
    """The latest version of each step that was ever changed."""
    newer = PromptVersion.objects.filter(
        project=OuterRef("project"), step=OuterRef("step"), number__gt=OuterRef("number")
    )
    rows = PromptVersion.objects.filter(~Exists(newer), project=project)
    return rows.select_related("created_by").order_by("step")


def history_of(project: Project, step: Step) -> list[PastVersion]:
    """The last versions of a step, newest first, each compared with the one before it."""
    rows = PromptVersion.objects.filter(project=project, step=step).select_related("created_by")
    found = list(rows.order_by("-number")[: VERSIONS_SHOWN + 1])
    prompts = [*map(prompt_of, found), PROMPTS[step]]
    compared = zip(found, pairwise(prompts), strict=True)
    past = [PastVersion(row, after, differences(before, after)) for row, (after, before) in compared]
    return past[:VERSIONS_SHOWN]


def prompt_of(row: PromptVersion) -> Prompt:
    """The prompt that a version puts in force. Parts that the step has no longer are left out."""
    built_in = PROMPTS[cast("Step", row.step)]
    if row.is_built_in:
        return built_in
    parts = {name: words for name, words in row.parts.items() if name in built_in.part_words}
    return built_in.reworded(system=row.system, parts=parts)


def own_prompts(rows: Iterable[PromptVersion]) -> dict[Step, Prompt]:
    """The prompts that some versions, one of each step, put in the place of the built-in ones."""
    return {cast("Step", row.step): prompt_of(row) for row in rows if row.step in PROMPTS}


def own_versions_of(run: Run) -> list[PromptVersion]:
    """The versions that a run began with."""
    return list(run.prompt_versions.filter(step__in=RUN_STEPS).order_by("step"))


def differences(before: Prompt, after: Prompt) -> list[Difference]:
    """Word by word what changed, in each text that did."""
    texts = {"": (before.system, after.system)} | {
        name: (before.part_words[name], words) for name, words in after.part_words.items()
    }
    return [Difference(part, _pieces(old, new)) for part, (old, new) in texts.items() if old != new]


def preview(prompt: Prompt, instruction: str) -> Preview:
    """What a judge with that instruction would be told and asked, with all parts, about a sample text."""
    sample = json.dumps(_SAMPLES[prompt.step], ensure_ascii=False, indent=2)
    return Preview(prompt.render(instruction, list(prompt.parts)), sample)


def _step_prompt(step: Step, latest: PromptVersion | None) -> StepPrompt:
    prompt = PROMPTS[step] if latest is None else prompt_of(latest)
    return StepPrompt(step, prompt, latest)


def _pieces(old: str, new: str) -> list[tuple[DifferenceKind, str]]:
    before, after = _PROMPT_TOKEN.findall(old.strip()), _PROMPT_TOKEN.findall(new.strip())
    pieces: list[tuple[DifferenceKind, str]] = []
    # The heuristic for frequent words stays on: without it a long text of one word repeated would take minutes.
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=True)
    for kind, old_start, old_end, new_start, new_end in matcher.get_opcodes():
        gone, new_words = "".join(before[old_start:old_end]), "".join(after[new_start:new_end])
        if kind == "equal":
            pieces.append(("same", gone))
            continue
        if gone:
            pieces.append(("gone", gone))
        if new_words:
            pieces.append(("new", new_words))
    return pieces


_SAMPLE_TEXT = Text.of("The old mill burned down at night. Nobody was hurt.")
_SUMMARY = Text.of("A mill burned down. Two people were hurt.")
_UNITS, _SUMMARY_UNITS = list(_SAMPLE_TEXT.numbered_units()), list(_SUMMARY.numbered_units())
_CLAIMS = {"c1": "The mill burned down", "c2": "Nobody was hurt"}
_SAMPLE_QUESTIONS = {"q1": "Was anybody hurt?"}
_SAMPLES: Mapping[Step, Json] = {
    "read_document": read_input(
        _UNITS, reference=_SUMMARY_UNITS, wanted=[1, 2], questions=_SAMPLE_QUESTIONS, n_questions=2
    ),
    "extract": extract_input(_SAMPLE_TEXT, [1, 2]),
    "align_summary": align_input(_UNITS, _SUMMARY_UNITS, [1, 2]),
    "cover_summary": cover_input(
        _SUMMARY_UNITS,
        {"claims": _CLAIMS, "questions": _SAMPLE_QUESTIONS, "topics": {"t1": "fire"}},
        ("conciseness",),
    ),
    "check_covered": check_input(_SUMMARY, _CLAIMS),
    "check_supported": check_input(_SAMPLE_TEXT, _CLAIMS),
}
