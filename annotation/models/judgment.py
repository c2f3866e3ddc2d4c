"""What assessors said in the SEE form."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from annotation.models.assignment import Reading
from annotation.models.base import PublicRow
from annotation.models.claim import Claim
from annotation.models.constraints import bounded, either
from annotation.models.guideline import Guideline
from annotation.models.summary import Unit

COUNTING = Q(
    reading__state=Reading.State.SUBMITTED,
    is_current=True,
    percent__isnull=False,
)
"""Which judgments of units count in scores and as answers: the last word of closed work."""
ASKED_AT_PRESENT = Q(unit__isnull=False) | Q(
    claim__isnull=False, claim__removed_at__isnull=True, claim__claim_set__is_active=True
)
"""Which judgments are on what is still asked: on a unit, or on a claim in the active list of its text."""

GIVEN_BLIND = Q(reading__assignment__may_have_seen=False)
"""Which judgments of units were given by somebody who could not have seen what others and the judge said."""


class UnitJudgment(PublicRow):
    """How much of one model unit the marked peer units express together.

    Judges a unit, or a claim where the claims stand in for units. A revision is a new row with the next version;
    the last one is current.
    """

    reading = models.ForeignKey(Reading, on_delete=models.CASCADE, related_name="unit_judgments")
    unit = models.ForeignKey(Unit, null=True, blank=True, on_delete=models.PROTECT, related_name="judgments")
    claim = models.ForeignKey(
        Claim, null=True, blank=True, on_delete=models.PROTECT, related_name="judgments"
    )
    percent = models.PositiveSmallIntegerField(null=True, blank=True, help_text="Empty while a draft.")
    marks = models.JSONField(default=list, blank=True, help_text="Numbers of the marked peer units.")
    note = models.TextField(blank=True)
    version = models.PositiveIntegerField(
        default=1, help_text="Counts the rows on this unit in this reading."
    )
    active_ms = models.PositiveIntegerField(
        default=0, help_text="Time at the unit since the act before, in ms, idle time left out."
    )
    guideline = models.ForeignKey(
        Guideline, null=True, blank=True, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    is_current = models.BooleanField(default=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("id",)
        constraints = (
            either("unit_judgment_of_unit_or_claim", "unit", "claim"),
            bounded("unit_judgment_percent_0_100", "percent", 100, may_be_empty=True),
            models.UniqueConstraint(
                fields=("reading", "unit"),
                condition=Q(is_current=True, unit__isnull=False),
                name="unit_judgment_one_current_per_unit",
            ),
            models.UniqueConstraint(
                fields=("reading", "claim"),
                condition=Q(is_current=True, claim__isnull=False),
                name="unit_judgment_one_current_per_claim",
            ),
            models.UniqueConstraint(
                fields=("reading", "unit", "version"),
                condition=Q(unit__isnull=False),
                name="unit_judgment_unit_version",
            ),
            models.UniqueConstraint(
                fields=("reading", "claim", "version"),
                condition=Q(claim__isnull=False),
                name="unit_judgment_claim_version",
            ),
        )

    def __str__(self) -> str:
        return f"{self.percent} %" if self.percent is not None else "no percent yet"
