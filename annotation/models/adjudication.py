"""Decisions that settle disagreements."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotation.models.base import PublicRow
from annotation.models.claim import LABEL_LENGTH, Check, Claim, ErrorType, Label
from annotation.models.guideline import Guideline
from annotation.models.summary import Comparison, Unit


class Adjudication(PublicRow):
    """An adjudicator's decision on a check (a label) or on a unit of a comparison (a percent).

    The latest one not withdrawn stands. Where claims stand in for units, `claim` is the unit.
    """

    comparison = models.ForeignKey(
        Comparison, null=True, blank=True, on_delete=models.CASCADE, related_name="adjudications"
    )
    unit = models.ForeignKey(
        Unit, null=True, blank=True, on_delete=models.PROTECT, related_name="adjudications"
    )
    claim = models.ForeignKey(
        Claim, null=True, blank=True, on_delete=models.PROTECT, related_name="adjudications"
    )
    check_row = models.ForeignKey(
        Check, null=True, blank=True, on_delete=models.CASCADE, related_name="adjudications"
    )
    percent = models.PositiveSmallIntegerField(null=True, blank=True)
    label = models.CharField(max_length=LABEL_LENGTH, choices=Label, null=True, blank=True)
    reason = models.TextField(blank=True)
    error_type = models.CharField(max_length=13, choices=ErrorType, blank=True)
    guideline = models.ForeignKey(
        Guideline, null=True, blank=True, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="adjudications"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    withdrawn_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("id",)
        constraints = (
            models.CheckConstraint(
                name="adjudication_of_check_or_unit",
                condition=Q(
                    check_row__isnull=False,
                    label__isnull=False,
                    comparison__isnull=True,
                    unit__isnull=True,
                    claim__isnull=True,
                    percent__isnull=True,
                )
                | (
                    Q(
                        check_row__isnull=True,
                        label__isnull=True,
                        comparison__isnull=False,
                        percent__isnull=False,
                        percent__gte=0,
                        percent__lte=100,
                    )
                    & (Q(unit__isnull=False, claim__isnull=True) | Q(unit__isnull=True, claim__isnull=False))
                ),
            ),
        )

    def __str__(self) -> str:
        return self.label or f"{self.percent} %"

    @property
    def place(self) -> Check | Comparison:
        """The check that is settled, or the comparison of which a unit is."""
        place: Check | Comparison | None = self.check_row or self.comparison
        assert place is not None, "the database holds a decision to one of the two"
        return place

    @property
    def unit_judged(self) -> Unit | Claim:
        """The unit of the comparison, or the claim that stands in for one; a check has none."""
        unit: Unit | Claim | None = self.unit or self.claim
        assert unit is not None, "asked of a decision on a unit, which the database holds to one of the two"
        return unit
