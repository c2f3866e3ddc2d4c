"""The base class of stored statistics."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Computed:
    """`made_at` is the time of the computation. Stale figures are outdated and being recomputed."""

    made_at: datetime | None = None
    is_stale: bool = False
