from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Computed:
    """The base class of stored statistics. `StoredStatistics.facts` fills these fields."""

    made_at: datetime | None = None
    is_stale: bool = False
