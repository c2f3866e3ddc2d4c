"""Percents of reference units, from assessors and adjudicators."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from annotation.models.answer import Answer
from annotation.models.assignment import Reading
from annotation.models.claim import Claim
from annotation.models.constraints import bounded, either
from annotation.models.summary import Comparison, Unit

COUNTING = Q(
    reading__state=Reading.State.SUBMITTED,
    is_current=True,
    percent__isnull=False,
)
"""The current percents of submitted readings."""
ASKED_AT_PRESENT = Q(unit__isnull=False) | Q(
    claim__isnull=False, claim__removed_at__isnull=True, claim__claim_set__is_active=True
)
"""Judgments on current items: a unit, or a claim of the active claim set."""


class CoverageJudgment(Answer):
    """The percent of a reference unit that the marked summary units express.

    The judgment is about a unit, or about a claim if claims replace units. Without a percent, it is a draft. An
    assessor's row belongs to a reading of the comparison.
    """

    comparison = models.ForeignKey(Comparison, on_delete=models.CASCADE, related_name="judgments")
    reading = models.ForeignKey(
        Reading, null=True, blank=True, on_delete=models.CASCADE, related_name="judgments"
    )
    unit = models.ForeignKey(Unit, null=True, blank=True, on_delete=models.PROTECT, related_name="judgments")
    claim = models.ForeignKey(
        Claim, null=True, blank=True, on_delete=models.PROTECT, related_name="judgments"
    )
    percent = models.PositiveSmallIntegerField(null=True, blank=True, help_text="Empty for a draft.")
    version = models.PositiveIntegerField(
        default=1, help_text="Counts the rows on this unit in this reading."
    )
    is_current = models.BooleanField(default=True)

    class Meta:
        ordering = ("id",)
        constraints = (
            either("judgment_of_unit_or_claim", "unit", "claim"),
            bounded("judgment_percent_0_100", "percent", 100, may_be_empty=True),
            models.CheckConstraint(
                name="judgment_in_reading_or_decision",
                condition=Q(role="assessor", reading__isnull=False, person__isnull=False)
                | Q(role="adjudicator", reading__isnull=True, person__isnull=False, percent__isnull=False),
            ),
            models.UniqueConstraint(
                fields=("reading", "unit"),
                condition=Q(is_current=True, unit__isnull=False),
                name="judgment_one_current_per_unit",
            ),
            models.UniqueConstraint(
                fields=("reading", "claim"),
                condition=Q(is_current=True, claim__isnull=False),
                name="judgment_one_current_per_claim",
            ),
            models.UniqueConstraint(
                fields=("reading", "unit", "version"),
                condition=Q(unit__isnull=False),
                name="judgment_unit_version",
            ),
            models.UniqueConstraint(
                fields=("reading", "claim", "version"),
                condition=Q(claim__isnull=False),
                name="judgment_claim_version",
            ),
        )

    def __str__(self) -> str:
        return f"{self.percent} %" if self.percent is not None else "no percent yet"

    @property
    def value(self) -> int | None:
        return self.percent

    @property
    def place(self) -> Comparison:
        return self.comparison

    @property
    def unit_judged(self) -> Unit | Claim:
        """Return the judged unit, or the claim that replaces it."""
        unit: Unit | Claim | None = self.unit or self.claim
        assert unit is not None, "the database holds a judgment to one of the two"
        return unit
