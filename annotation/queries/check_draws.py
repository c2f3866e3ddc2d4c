"""The draws of checks for reviewers: how many were drawn of how many, and how far they are answered."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from django.db import connection
from django.db.models import Count, F, Func, IntegerField, Q

from annotation.models import Draw

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
    """The latest draws of checks, the newest first."""
    drawn = Draw.objects.filter(project=project, item=Draw.Item.CHECK).order_by("-pk")
    # The frame may name a million checks: it is counted where it lies.
    count = "jsonb_array_length" if connection.vendor == "postgresql" else "json_array_length"
    rows = drawn.annotate(
        framed=Func(F("frame"), function=count, output_field=IntegerField()),
        drawn=Count("drawn_checks"),
        answered=Count("drawn_checks", filter=Q(drawn_checks__verdict__isnull=False)),
    )
    columns = ("public_id", "method", "share", "seed", "framed", "drawn", "answered", "created_at")
    return [CheckDraw(*row) for row in rows.values_list(*columns)[:SHOWN]]


def open_draws(project: Project) -> list[CheckDraw]:
    """Those of the latest draws in which checks still wait for their answer."""
    return [draw for draw in check_draws(project) if not draw.is_complete]
