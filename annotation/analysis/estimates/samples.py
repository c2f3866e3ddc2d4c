"""The random samples of a project. Estimates use the newest sample whose checks are all answered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.formats import date_format

from annotation.models import Check
from annotation.sampling.queries.check_samples import check_samples

if TYPE_CHECKING:
    from annotation.models import Project


@dataclass(frozen=True, slots=True)
class SampleProgress:
    """A random sample and the day on which it was made. `sampled` counts its checks, `answered`
    those with an answer.
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
    """List the random samples of a side, newest first. Cancelled, empty and watches' samples are left out."""
    return [
        SampleProgress(
            sample_id=sample.sample_id,
            method=sample.method,
            sampled=sample.sampled,
            answered=sample.answered,
            day=date_format(sample.created_at, "j M Y"),
        )
        for sample in check_samples(project, side=side, of_watches=False)
        if sample.sampled and sample.cancelled_at is None
    ]
