"""The draws of checks for reviewers: how many were drawn of how many, and how far they are answered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from django.db import connection
from django.db.models import Count, F, Func, IntegerField

from annotation.models import Draw, DrawnCheck

if TYPE_CHECKING:
    from annotation.models import Project

SHOWN = 25


@dataclass(frozen=True, slots=True)
class CheckDraw:
    """`answered` of `drawn` checks, out of `frame`, have the answer of somebody who knew nothing of the judge's."""

    draw_id: str
    method: str
    share: float
    seed: int
    frame: int
    drawn: int
    answered: int
    created_at: datetime

    @property
    def is_complete(self) -> bool:
        return self.answered == self.drawn


def check_draws(project: Project) -> list[CheckDraw]:
    """The latest draws of checks, the newest first. Two queries."""
    drawn = Draw.objects.filter(project=project, item=Draw.Item.CHECK).order_by("-pk")
    # The frame may name a million checks: it is counted where it lies, and once, not with each check of the draw.
    count = "jsonb_array_length" if connection.vendor == "postgresql" else "json_array_length"
    framed = drawn.annotate(framed=Func(F("frame"), function=count, output_field=IntegerField()))
    columns = ("pk", "public_id", "method", "share", "seed", "framed", "created_at")
    rows = list(framed.values_list(*columns)[:SHOWN])
    counts = _counts([row[0] for row in rows])
    return [
        CheckDraw(public_id, method, share, seed, frame, *counts.get(key, (0, 0)), created_at)
        for key, public_id, method, share, seed, frame, created_at in rows
    ]


def _counts(keys: Sequence[int]) -> dict[int, tuple[int, int]]:
    """By draw how many checks were drawn, and how many of them are answered."""
    rows = DrawnCheck.objects.filter(draw__in=keys).order_by().values_list("draw")
    counted = rows.annotate(Count("pk"), Count("verdict"))
    return {draw: (drawn, answered) for draw, drawn, answered in counted}


def open_draws(project: Project) -> list[CheckDraw]:
    """Those of the latest draws in which checks still wait for their answer."""
    return [draw for draw in check_draws(project) if not draw.is_complete]
