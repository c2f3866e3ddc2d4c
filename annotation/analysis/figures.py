"""The base of facts that a worker computes and stores."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Computed:
    """`made_at` says when the figures were computed; stale ones are being computed again, for something has changed."""

    made_at: datetime | None = None
    is_stale: bool = False
