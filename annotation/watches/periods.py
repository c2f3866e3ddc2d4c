"""The periods of a watch, and the summaries that are judged in each."""

from __future__ import annotations

import hashlib
import heapq
from collections.abc import Iterator
from datetime import UTC, datetime, time, timedelta

from annotation.models import Summary, Watch

LENGTHS = {Watch.Length.DAY: timedelta(days=1), Watch.Length.WEEK: timedelta(weeks=1)}
PERIODS_A_YEAR = {Watch.Length.DAY: 365, Watch.Length.WEEK: 52}
GRACE = timedelta(hours=1)
"""A period is closed this long after its end, because the clocks of servers differ and pushes take time."""
READ_AT_ONCE = 2000


def next_period(watch: Watch) -> tuple[datetime, datetime]:
    """Return start and end of the first period that is not closed yet. Weeks start on Monday; times are UTC."""
    last = watch.periods.order_by("-start").first()
    early = watch.starts_on.weekday() if watch.length == Watch.Length.WEEK else 0
    first = datetime.combine(watch.starts_on - timedelta(days=early), time(), tzinfo=UTC)
    start = last.end if last else first
    return start, start + LENGTHS[Watch.Length(watch.length)]


def choose(watch: Watch, start: datetime, end: datetime) -> tuple[list[int], int]:
    """Return the keys of the period's chosen summaries, and the number of all its summaries of the watched systems.

    The chosen ones have the smallest hashes of their ids, keyed by the watch: a repetition chooses the same.
    """
    key, total = watch.public_id.encode(), 0
    rows = Summary.objects.filter(
        document_set__project_id=watch.project_id, is_summary=True, created_at__gte=start, created_at__lt=end
    )
    if systems := list(watch.systems.values_list("pk", flat=True)):
        rows = rows.filter(system__in=systems)

    def hashed() -> Iterator[tuple[bytes, int]]:
        nonlocal total
        columns = rows.order_by().values_list("pk", "public_id")
        for pk, public_id in columns.iterator(chunk_size=READ_AT_ONCE):
            total += 1
            yield hashlib.blake2b(public_id.encode(), key=key, digest_size=16).digest(), pk

    chosen = [pk for _, pk in heapq.nsmallest(watch.summaries, hashed())]
    return chosen, total
