"""The base class of stored statistics."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Computed:
    """The base class of stored statistics.

    `made_at` is the time of the computation. If statistics are outdated, a worker computes them again.
    """

    made_at: datetime | None = None
    is_stale: bool = False
