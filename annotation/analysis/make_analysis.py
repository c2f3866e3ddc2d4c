"""Compute statistics and store them until their inputs change."""

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
from annotation.analysis.leaderboard import leaderboard
from annotation.analysis.leaderboard.averages import SEED
from annotation.core.facts import plain, read
from annotation.core.jobs import Claimed, Lease, again, enqueue
from annotation.core.refusals import NotReady
from annotation.judging.queries.runs import is_worker_alive
from annotation.models import SCORES, Analysis, Job, Project
from annotation.scoring.own_scores import own_inputs

if TYPE_CHECKING:
    from collections.abc import Sequence

Figures = TypeVar("Figures", bound=Computed)

FAILED_SECONDS = 60
"""The pause in seconds after the start of a failed computation."""
WAITED_SECONDS = 2.0
"""The longest wait in seconds for a worker before NotReady."""
MADE_EVERY_SECONDS = 5
"""The shortest pause in seconds between a computation and the next request to a worker."""
MADE_EVERY_TIMES = 10
"""The shortest pause as a multiple of the last computation's duration."""
LOOK_EVERY_SECONDS = 0.2
"""The seconds between two checks for the result by a waiting request."""


def _nothing(project: Project) -> Sequence[object]:
    return ()


@dataclass(frozen=True, slots=True)
class StatisticsRecipe:
    """The computation of one kind of statistics.

    `compute` takes the project and the key and returns facts. `inputs` returns the inputs besides the common
    fingerprint. `shape` must be increased if the stored form changes; stored statistics with another shape are ignored.
    """

    compute: Callable[[Project, str], Any]
    inputs: Callable[[Project], Sequence[object]] = _nothing
    shape: int = 1


@dataclass(frozen=True, slots=True)
class StoredStatistics:
    """Stored statistics. `payload` is None before the first computation.

    `is_stale` is True if the inputs have changed. `failed_at` is the start of the worker's latest job if it failed;
    None if there was a later computation.
    """

    payload: Any | None
    """The facts as JSON."""
    made_at: datetime | None = None
    seconds: float = 0.0
    is_stale: bool = False
    failed_at: datetime | None = None

    def facts(self, shape: type[Figures]) -> Figures | None:
        """Convert `payload` to the dataclass `shape`; None before the first computation."""
        if self.payload is None:
            return None
        return replace(read(shape, self.payload), made_at=self.made_at, is_stale=self.is_stale)

    @property
    def is_missing(self) -> bool:
        return self.payload is None

    @property
    def is_current(self) -> bool:
        """Return True if the statistics were computed from the present inputs."""
        return not (self.is_missing or self.is_stale)


def _ranked_by(project: Project, key: str) -> leaderboard.Leaderboard:
    score = key.removesuffix(leaderboard.OF_THESE_DOCUMENTS)
    return leaderboard.leaderboard(project, score=score, these_documents=score != key)


RECIPES: Mapping[Analysis.Kind, StatisticsRecipe] = {
    # The shape depends on the number of scores, because a leaderboard stores a mean of every score.
    Analysis.Kind.LEADERBOARD: StatisticsRecipe(_ranked_by, inputs=own_inputs, shape=749 + len(SCORES)),
    Analysis.Kind.AGREEMENT: StatisticsRecipe(
        agreement.agreement, inputs=agreement.agreement_inputs, shape=8
    ),
    Analysis.Kind.JUDGE: StatisticsRecipe(
        judge_quality.judge_quality, inputs=judge_quality.judge_inputs, shape=18
    ),
}


def current_statistics(
    *, project: Project, kind: Analysis.Kind, key: str = "", wait: bool = False
) -> StoredStatistics:
    """Return the stored statistics, marked as stale if their inputs have changed.

    `key` names a variant, such as the ranked score. Without a live worker, this call computes stale and missing
    statistics. Otherwise they are requested from a worker, with pauses between requests, and missing statistics have
    the payload None. With `wait`, the call waits for missing statistics, and raises NotReady if the computation failed,
    or after WAITED_SECONDS.
    """
    until = time.monotonic() + WAITED_SECONDS
    while True:
        found = _stored(project, kind, key)
        if not found.is_missing and not found.is_stale:
            return found
        if not is_worker_alive():
            return compute(project=project, kind=kind, key=key)
        if _is_due(found):
            ask_worker(project=project, kind=kind, key=key)
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
    now = timezone.now()
    if found.failed_at is not None and now < found.failed_at + timedelta(seconds=FAILED_SECONDS):
        return False
    pause = timedelta(seconds=max(MADE_EVERY_SECONDS, MADE_EVERY_TIMES * found.seconds))
    return found.made_at is None or now > found.made_at + pause


def _stored(project: Project, kind: Analysis.Kind, key: str) -> StoredStatistics:
    recipe = RECIPES[kind]
    row = Analysis.objects.filter(project=project, kind=kind, key=key).select_related("job").first()
    # Ignore statistics of an older version of the program, which have another shape and cannot be shown.
    if row is None or row.payload.get("shape") != recipe.shape:
        return StoredStatistics(payload=None, failed_at=_failed_at(row) if row else None)
    return _with_state(row, is_stale=row.inputs != _inputs(project, recipe))


def compute(*, project: Project, kind: Analysis.Kind, key: str = "") -> StoredStatistics:
    """Compute and store the statistics, even if the stored statistics are current.

    The fingerprint is taken before the inputs are read, so that concurrent changes make the result stale.
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
    return _with_state(row)


def perform(claimed: Claimed, lease: Lease) -> None:
    """Compute the statistics that a job asks for."""
    asked = claimed.job.analysis
    recompute(project=claimed.job.project, kind=Analysis.Kind(asked.kind), key=asked.key)


def recompute(*, project: Project, kind: Analysis.Kind, key: str) -> None:
    """Compute the statistics unless the stored statistics are current."""
    stored = Analysis.objects.filter(project=project, kind=kind, key=key)
    if not stored.filter(inputs=_inputs(project, RECIPES[kind])).exists():
        compute(project=project, kind=kind, key=key)


def _inputs(project: Project, recipe: StatisticsRecipe) -> str:
    return fingerprint_of(project, recipe.shape, *recipe.inputs(project))


def _with_state(row: Analysis, *, is_stale: bool = False) -> StoredStatistics:
    return StoredStatistics(
        payload=row.payload["made"],
        made_at=row.made_at,
        seconds=row.seconds,
        is_stale=is_stale,
        failed_at=_failed_at(row),
    )


def _failed_at(row: Analysis) -> datetime | None:
    job = row.job
    if job is None or not job.error or (row.made_at and job.started_at and row.made_at > job.started_at):
        return None
    return job.started_at


@transaction.atomic
def ask_worker(*, project: Project, kind: Analysis.Kind, key: str) -> None:
    """Queue the computation unless it is queued or running."""
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
