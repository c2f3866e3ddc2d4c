"""Examples of people's answers in a judge's prompts."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from annotation.models import Check, Judge, JudgeExamples
from evaluation.judging.examples import Example
from evaluation.judging.prompts import PROMPTS, Prompt, Step

STEPS: Mapping[str, tuple[Step, ...]] = {
    Check.Side.REFERENCE: ("cover_summary",),
    Check.Side.SUMMARY: ("check_supported", "align_summary"),
}
"""The steps whose prompts contain examples of each side."""


def examples_of(judge: Judge) -> JudgeExamples | None:
    """Load the examples of a judge; None if it has none."""
    return JudgeExamples.objects.filter(judge=judge).select_related("guideline", "base").first()


def half_of(cluster: str) -> int:
    """Assign a document set or group to the half 0 or 1, by a hash."""
    return hashlib.sha256(cluster.encode()).digest()[0] % 2


def prompts_with(row: JudgeExamples, half: int, own: Mapping[Step, Prompt]) -> dict[Step, Prompt]:
    """Build the prompts for checks of a half, with the examples and the guideline.

    `own` has the judge's reworded prompts by step.
    """
    guideline = "" if row.guideline is None else row.guideline.text
    return {
        step: own.get(step, PROMPTS[step]).with_examples(
            [_example(each) for each in row.chosen[half] if each["side"] == side], guideline
        )
        for side, steps in STEPS.items()
        for step in steps
    }


def _example(stored: Mapping[str, Any]) -> Example:
    return Example(stored["claim"], stored["passage"], stored["label"], stored["reason"])
