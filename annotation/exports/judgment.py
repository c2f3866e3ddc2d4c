"""One answer that anybody gave, as a row of the level `judgments`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Judgment:
    """What somebody said of a peer summary; see `judgments` for the kinds.

    `superseded`: it no longer stands; `set_aside`: it never did, since somebody else had answered otherwise first.
    """

    peer_id: int
    kind: str
    rater: str
    rater_kind: str
    value: str | None
    submitted_at: datetime | None
    superseded: bool
    set_aside: bool = False
    reference_id: str | None = None
    unit: int | None = None
    claim_id: str | None = None
    evidence: Sequence[int] = ()
    selected_by: str | None = None
    inclusion_probability: float | None = None
    guideline_version: int | None = None
