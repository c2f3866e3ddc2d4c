"""The periods of a watch, and the summaries that are judged in each."""

from __future__ import annotations

import hashlib
import heapq
from collections.abc import Iterator
from datetime import UTC, datetime, time, timedelta
from typing import TYPE_CHECKING

from annotation.models import Summary, Watch

if TYPE_CHECKING:
    from django.db.models import QuerySet

LENGTHS = {Watch.Length.DAY: timedelta(days=1), Watch.Length.WEEK: timedelta(weeks=1)}
PERIODS_A_YEAR = {Watch.Length.DAY: 365, Watch.Length.WEEK: 52}
GRACE = timedelta(hours=1)
"""A period is closed this long after its end, because the clocks of servers differ and pushes take time."""
READ_AT_ONCE = 2000


def next_period(watch: Watch) -> tuple[datetime, datetime]:
    """Return start and end of the first period that is not closed yet. Weeks start on Monday; times are UTC."""
    last = watch.periods.order_by("-start").first()
    start = last.end if last else _first_start(watch)
    return start, start + LENGTHS[Watch.Length(watch.length)]


def _first_start(watch: Watch) -> datetime:
    day = watch.starts_on
    if watch.length == Watch.Length.WEEK:
        day -= timedelta(days=day.weekday())
    return datetime.combine(day, time(), tzinfo=UTC)


def summaries_between(watch: Watch, start: datetime, end: datetime) -> QuerySet[Summary]:
    """Select the watched systems' summaries that arrived from `start` until before `end`."""
    rows = Summary.objects.filter(
        document_set__project_id=watch.project_id, is_summary=True, created_at__gte=start, created_at__lt=end
    )
    systems = list(watch.systems.values_list("pk", flat=True))
    return rows.filter(system__in=systems) if systems else rows


def choose(watch: Watch, start: datetime, end: datetime) -> tuple[list[int], int]:
    """Return the keys of the period's chosen summaries, and the number of all its summaries.

    The chosen ones have the smallest hashes of their ids, keyed by the watch: a repetition chooses the same.
    """
    key, total = watch.public_id.encode(), 0

    def hashed() -> Iterator[tuple[bytes, int]]:
        nonlocal total
        rows = summaries_between(watch, start, end).order_by().values_list("pk", "public_id")
        for pk, public_id in rows.iterator(chunk_size=READ_AT_ONCE):
            total += 1
            yield hashlib.blake2b(public_id.encode(), key=key, digest_size=16).digest(), pk

    chosen = [pk for _, pk in heapq.nsmallest(watch.summaries, hashed())]
    return chosen, total
