"""An export that a worker writes: its row tells how far it is, and who cancels it has no half a file left."""

from __future__ import annotations

from typing import TYPE_CHECKING

from annotation.core.jobs import StoppedJob, every, hold
from annotation.exports.services import forget_file, perform
from annotation.models import Job

if TYPE_CHECKING:
    from annotation.core.jobs import Claimed

REPORT_SECONDS = 0.5


def perform_claimed(claimed: Claimed) -> None:
    """Write the export. Raises StoppedJob where it was cancelled or given to another worker; as `services.perform`."""
    export = claimed.job.export
    assert export is not None, "a job of an export"
    told = _Told(claimed)
    try:
        with every(REPORT_SECONDS, told.tell):
            perform(export, step=told.step, hold=told.hold)
    except StoppedJob:
        # Another worker may be writing the same file.
        if Job.objects.filter(pk=claimed.job.pk, state=Job.State.CANCELLED).exists():
            forget_file(export)
        raise


class _Told:
    """Writes how far it is into the job, and learns there whether the job is still its own."""

    def __init__(self, claimed: Claimed) -> None:
        self._claimed = claimed
        self._rows = 0
        self._is_lost = False

    def tell(self) -> None:
        mine = Job.objects.filter(pk=self._claimed.job.pk, token=self._claimed.token, state=Job.State.WORKING)
        self._is_lost = not mine.update(done=self._rows)

    def step(self, rows: int) -> None:
        self._rows += rows
        if self._is_lost:
            raise StoppedJob

    def hold(self) -> None:
        if not hold([self._claimed]):
            raise StoppedJob
