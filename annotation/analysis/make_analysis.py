"""Make the statistics of a project and keep them until what they were made from has changed.

Nothing is made where an answer is saved, nor where a page, a file or the API is asked: who shows statistics asks for
them here, gets the old ones, marked as such, and a worker makes the new ones. Only where no worker lives they are made
at once.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeVar

from django.db import transaction
from django.utils import timezone

from annotation.analysis.agreement import agreement
from annotation.analysis.figures import Computed
from annotation.analysis.fingerprint import fingerprint_of
from annotation.analysis.judge import judge_quality
from annotation.analysis.leaderboard import differences, leaderboard
from annotation.analysis.leaderboard.averages import SEED
from annotation.core.facts import plain, read
from annotation.core.jobs import Claimed, Lease, again, enqueue
from annotation.core.refusals import NotReady
from annotation.judging.queries.runs import is_worker_alive
from annotation.models import SCORES, Analysis, Job, Project

if TYPE_CHECKING:
    from collections.abc import Sequence

Figures = TypeVar("Figures", bound=Computed)

FAILED_SECONDS = 60
"""After so long those that could not be made are tried again."""
WAITED_SECONDS = 2.0
"""After so long who waits for a worker is told to come again."""
MADE_EVERY_SECONDS = 5
"""While answers arrive, statistics are made again no sooner than so long after the last ones,"""
MADE_EVERY_TIMES = 10
"""nor sooner than so many times as long as making them took: a worker has other work, and so has the machine."""
LOOK_EVERY_SECONDS = 0.2
"""How often who waits for a worker looks."""


def _nothing(project: Project) -> Sequence[object]:
    return ()


@dataclass(frozen=True, slots=True)
class StatisticsRecipe:
    """How one kind of statistics is made.

    `compute` takes the project and the key and gives facts. `inputs` names what it depends on
    beyond the common fingerprint. `shape` is raised when the payload changes its form: what was stored in another shape
    counts as never made.
    """

    compute: Callable[[Project, str], Any]
    inputs: Callable[[Project], Sequence[object]] = _nothing
    shape: int = 1


@dataclass(frozen=True, slots=True)
class StoredStatistics:
    """Stored statistics. `payload` is None where they were never made and a worker is at it.

    `is_stale` tells that their inputs have changed since, and that a worker is making them again; `failed_at` when it
    failed to, if it did, and has not succeeded since.
    """

    payload: Any | None
    """The facts as JSON."""
    made_at: datetime | None = None
    seconds: float = 0.0
    is_stale: bool = False
    failed_at: datetime | None = None

    def facts(self, shape: type[Figures]) -> Figures | None:
        """The facts of that shape; None where there are none yet."""
        if self.payload is None:
            return None
        return replace(read(shape, self.payload), made_at=self.made_at, is_stale=self.is_stale)

    @property
    def is_missing(self) -> bool:
        return self.payload is None

    @property
    def is_current(self) -> bool:
        """Whether there is nothing for a worker to make: what is not there will not come."""
        return not (self.is_missing or self.is_stale)


def _by_key(project: Project, key: str) -> Any:
    """The leaderboard by a score, or the differences of all its pairs."""
    what, _, rest = key.partition(" ")
    if what == "board":
        return leaderboard.leaderboard(project, score=rest)
    return differences.differences(project, **differences.named(rest))


RECIPES: Mapping[Analysis.Kind, StatisticsRecipe] = {
    # A board holds a mean of every score: a further one changes its form.
    Analysis.Kind.LEADERBOARD: StatisticsRecipe(_by_key, shape=742 + len(SCORES)),
    Analysis.Kind.AGREEMENT: StatisticsRecipe(
        agreement.agreement, inputs=agreement.agreement_inputs, shape=7
    ),
    Analysis.Kind.JUDGE: StatisticsRecipe(
        judge_quality.judge_quality, inputs=judge_quality.judge_inputs, shape=15
    ),
}
"""Every kind that can be made; the one place where they are named."""


def current_statistics(
    *, project: Project, kind: Analysis.Kind, key: str = "", wait: bool = False
) -> StoredStatistics:
    """The statistics as far as they are known: the stored ones, marked as stale where something has changed since.

    Of stale ones, and of those that were never made, a worker is asked, once in a while at most. Nothing comes back
    where there are none; who waits gets the first ones, or NotReady where a worker is not done with them soon. Where no
    worker lives, new ones are made here and now.
    """
    until = time.monotonic() + WAITED_SECONDS
    while True:
        found = _stored(project, kind, key)
        if not found.is_missing and not found.is_stale:
            return found
        if not is_worker_alive():
            return compute(project=project, kind=kind, key=key)
        if _is_due(found):
            _ask_worker(project=project, kind=kind, key=key)
        if not wait or not found.is_missing:
            return found
        if found.failed_at is not None:
            raise NotReady(
                "Computing these numbers failed; see the worker's log for the reason. Requesting them again "
                f"retries after {FAILED_SECONDS} seconds.",
                seconds=FAILED_SECONDS,
                code="not_made",
            )
        if time.monotonic() > until:
            raise NotReady(
                "These numbers are being computed. Try again in a few seconds.", seconds=WAITED_SECONDS
            )
        time.sleep(LOOK_EVERY_SECONDS)


def _is_due(found: StoredStatistics) -> bool:
    """Whether a worker may be asked: neither have these just been made, nor has a worker just failed to."""
    now = timezone.now()
    if found.failed_at is not None and now < found.failed_at + timedelta(seconds=FAILED_SECONDS):
        return False
    pause = timedelta(seconds=max(MADE_EVERY_SECONDS, MADE_EVERY_TIMES * found.seconds))
    return found.made_at is None or now > found.made_at + pause


def _stored(project: Project, kind: Analysis.Kind, key: str) -> StoredStatistics:
    recipe = RECIPES[kind]
    row = Analysis.objects.filter(project=project, kind=kind, key=key).select_related("job").first()
    # What was made by an older program has another shape and cannot be shown.
    if row is None or row.payload.get("shape") != recipe.shape:
        return StoredStatistics(payload=None, failed_at=_failed_at(row) if row else None)
    return _told(row, is_stale=row.inputs != _inputs(project, recipe))


def compute(*, project: Project, kind: Analysis.Kind, key: str = "") -> StoredStatistics:
    """Make the statistics here and now and store them, whatever is stored already.

    The fingerprint is taken before anything is read: what changes meanwhile makes them stale, never wrong unseen.
    """
    recipe = RECIPES[kind]
    inputs = _inputs(project, recipe)
    started = time.perf_counter()
    payload = plain(recipe.compute(project, key))
    row = Analysis(
        project=project,
        kind=kind,
        key=key,
        inputs=inputs,
        seed=SEED,
        payload={"shape": recipe.shape, "made": payload},
        seconds=time.perf_counter() - started,
        made_at=timezone.now(),
    )
    Analysis.objects.bulk_create(
        [row],
        update_conflicts=True,
        unique_fields=["project", "kind", "key"],
        update_fields=["inputs", "seed", "payload", "seconds", "made_at"],
    )
    return _told(row)


def perform(claimed: Claimed, lease: Lease) -> None:
    """Make what a worker was asked for."""
    asked = claimed.job.analysis
    recompute(project=claimed.job.project, kind=Analysis.Kind(asked.kind), key=asked.key)


def recompute(*, project: Project, kind: Analysis.Kind, key: str) -> None:
    """Make the statistics unless those that are stored are fresh."""
    stored = Analysis.objects.filter(project=project, kind=kind, key=key)
    if not stored.filter(inputs=_inputs(project, RECIPES[kind])).exists():
        compute(project=project, kind=kind, key=key)


def _inputs(project: Project, recipe: StatisticsRecipe) -> str:
    return fingerprint_of(project, recipe.shape, *recipe.inputs(project))


def _told(row: Analysis, *, is_stale: bool = False) -> StoredStatistics:
    return StoredStatistics(
        payload=row.payload["made"],
        made_at=row.made_at,
        seconds=row.seconds,
        is_stale=is_stale,
        failed_at=_failed_at(row),
    )


def _failed_at(row: Analysis) -> datetime | None:
    """Start of the last failed computation; None if none failed or a later one succeeded."""
    job = row.job
    if job is None or not job.error or (row.made_at and job.started_at and row.made_at > job.started_at):
        return None
    return job.started_at


@transaction.atomic
def _ask_worker(*, project: Project, kind: Analysis.Kind, key: str) -> None:
    """Queue it, unless it is queued. Where the broker is away the page is shown all the same."""
    Analysis.objects.bulk_create([Analysis(project=project, kind=kind, key=key)], ignore_conflicts=True)
    row = Analysis.objects.select_for_update(of=("self",), no_key=True).get(
        project=project, kind=kind, key=key
    )
    if row.job_id is not None:
        again(Job.objects.filter(pk=row.job_id))
        return
    row.job = Job.objects.create(kind=Job.Kind.ANALYSIS, project=project)
    row.save(update_fields=["job"])
    enqueue([row.job])
