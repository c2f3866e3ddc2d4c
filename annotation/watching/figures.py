"""The figures of an installation in Prometheus' text format."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping

from django.conf import settings
from django.db import DatabaseError
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector

import annotation
from annotation.watching.queries import disk, open_jobs, spent_by_active_runs, watches, workers

logger = logging.getLogger(__name__)


def as_text() -> bytes:
    """Write the figures. If the database is down, its figures are missing, and `coverdict_database_up` is 0."""
    return generate_latest(_registry())


def _registry() -> CollectorRegistry:
    registry = CollectorRegistry(auto_describe=False)
    if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
        # All processes of the server write their counts into this folder.
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call] # it has no types
    registry.register(_Installation())
    return registry


class _Installation:
    def collect(self) -> Iterator[Metric]:
        yield _gauge("info", "The version that answers.", {(annotation.__version__,): 1}, ("version",))
        room = disk()
        yield _gauge("disk_free_bytes", "Free on the file system of COVERDICT_VAR.", {(): room.free})
        yield _gauge("disk_bytes", "Size of the file system of COVERDICT_VAR.", {(): room.total})
        try:
            of_database = list(_of_queue())
        except DatabaseError:
            logger.warning("The figures of the database are left out", exc_info=True)
            of_database = []
        yield _gauge("database_up", "Whether the database answers.", {(): bool(of_database)})
        yield from of_database


def _of_queue() -> Iterator[Metric]:
    kinds = open_jobs()
    by_kind: dict[str, tuple[str, list[float]]] = {
        "jobs_waiting": ("Jobs that wait.", [each.waiting for each in kinds]),
        "jobs_working": ("Jobs that are worked on.", [each.working for each in kinds]),
        "oldest_job_seconds": (
            "Longest wait of a job that may be taken.",
            [each.oldest_seconds for each in kinds],
        ),
    }
    for name, (description, values) in by_kind.items():
        names = [(each.kind.value,) for each in kinds]
        yield _gauge(name, description, dict(zip(names, values, strict=True)), ("kind",))
    yield _gauge("runs_active", "Runs with open jobs.", {(): sum(each.runs for each in kinds)})
    spent = spent_by_active_runs()
    for name, description in (
        ("run_calls", "Calls of an active run."),
        ("run_tokens", "Tokens of an active run."),
        ("run_cost", "Cost of an active run at the judge's prices."),
    ):
        yield _gauge(
            name, description, {(run,): getattr(each, name[4:]) for run, each in spent.items()}, ("run",)
        )
    watched = watches()
    yield _gauge(
        "watch_state",
        "1 for the state that a watch reported last.",
        {(*names, str(latest["state"])): 1 for names, latest in watched.items()},
        ("project", "watch", "state"),
    )
    yield _gauge(
        "watch_mean",
        "Mean of a watched score in the newest period.",
        {
            (*names, score): mean
            for names, latest in watched.items()
            for score, mean in latest["means"].items()
        },
        ("project", "watch", "score"),
    )
    known = workers()
    yield _gauge(
        "workers",
        f"Workers that reported in the last {settings.WORKER_SILENT_SECONDS} seconds.",
        {(): sum(each.is_alive for each in known)},
    )


def _gauge(
    name: str, description: str, values: Mapping[tuple[str, ...], float], labels: tuple[str, ...] = ()
) -> GaugeMetricFamily:
    family = GaugeMetricFamily(f"coverdict_{name}", description, labels=labels)
    for labelled, value in values.items():
        family.add_metric(labelled, value)
    return family
