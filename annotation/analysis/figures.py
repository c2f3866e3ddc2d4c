from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Computed:
    """The base class of stored statistics.

    `made_at` is the time of the computation. `is_stale` is True if the inputs have changed since; then a worker
    computes the statistics again.
    """

    made_at: datetime | None = None
    is_stale: bool = False
