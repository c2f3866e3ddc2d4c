"""Which examples of people's answers a judge is told, and in whose document sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from annotation.models import Check, Judge, JudgeExamples
from evaluation.judging.examples import Example
from evaluation.judging.prompts import PROMPTS, Prompt, Step

STEPS: Mapping[str, tuple[Step, ...]] = {
    Check.Side.REFERENCE: ("check_covered", "cover_summary"),
    Check.Side.PEER: ("check_supported", "align_summary"),
}
"""The steps that answer checks of a side: these are told examples of it."""

ToldExample = Mapping[str, Any]
"""An example as a row keeps it: `side`, `set` (or group), `claim`, `passage`, `label`, `reason`."""


def examples_of(judge: Judge) -> JudgeExamples | None:
    """The examples that a judge is told; None where it is told none. One query."""
    return JudgeExamples.objects.filter(judge=judge).select_related("guideline", "base").first()


def prompts_with(
    row: JudgeExamples, told: Sequence[ToldExample], own: Mapping[Step, Prompt]
) -> dict[Step, Prompt]:
    """The prompts of the steps that answer checks, in the project's own words where it has some, with these examples.

    The guideline goes with each.
    """
    guideline = "" if row.guideline is None else row.guideline.text
    return {
        step: own.get(step, PROMPTS[step]).with_examples(
            [_example(each) for each in told if each["side"] == side], guideline
        )
        for side, steps in STEPS.items()
        for step in steps
    }


def _example(told: ToldExample) -> Example:
    return Example(told["claim"], told["passage"], cast("Any", told["label"]), told["reason"])
