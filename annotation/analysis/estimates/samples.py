"""Random samples of a project."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.formats import date_format

from annotation.models import Check
from annotation.sampling.queries.check_samples import CheckSample, check_samples

if TYPE_CHECKING:
    from annotation.models import Project


@dataclass(frozen=True, slots=True)
class SampleProgress:
    """A random sample. `day` has the days on which it was made and extended.

    `sampled` counts its checks or summaries, and `answered` those with an answer.
    """

    sample_id: str
    method: str
    sampled: int
    answered: int
    day: str

    @property
    def is_complete(self) -> bool:
        return 0 < self.answered == self.sampled


def samples(project: Project, side: Check.Side = Check.Side.REFERENCE) -> list[SampleProgress]:
    """List the latest random samples with checks on a side, newest first.

    Cancelled samples and those of watches are left out.
    """
    found = check_samples(project, side=side, of_watches=False)
    made = {sample.sample_id: sample for sample in found}
    return [
        SampleProgress(
            sample_id=sample.sample_id,
            method=sample.method,
            sampled=sample.sampled,
            answered=sample.answered,
            day=_day(sample, made),
        )
        for sample in found
        if sample.sampled and sample.cancelled_at is None
    ]


def _day(sample: CheckSample, made: Mapping[str, CheckSample]) -> str:
    own, before = date_format(sample.created_at, "j M Y"), made.get(sample.extends)
    return own if before is None else f"{_day(before, made)}, extended on {own}"
