"""Disputes about answers."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from annotation.models.base import Leased, PublicRow
from annotation.models.claim import Check, Claim
from annotation.models.constraints import bounded
from annotation.models.criterion import Criterion
from annotation.models.project import Project
from annotation.models.summary import Comparison, Summary, Unit
from evaluation.judging import LABEL_VALUES_IN_WORDS

_ITEM = ("check_row", "comparison", "unit", "claim", "summary", "criterion")


def _only(*columns: str) -> Q:
    return Q(**{f"{name}__isnull": name not in columns for name in _ITEM})


class Dispute(PublicRow, Leased):
    """A check, a unit of a comparison, or a criterion about a summary in the adjudicators' queue.

    The row is derived from answers. When the answers agree or an adjudicator has decided, the row remains with another
    state. The decision itself is an answer with the role *adjudicator*.
    """

    class State(models.TextChoices):
        OPEN = "open", "Open"
        SETTLED = "settled", "Resolved"
        AGREED = "agreed", "Agreed since"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="disputes")
    check_row = models.ForeignKey(
        Check, null=True, blank=True, on_delete=models.CASCADE, related_name="disputes"
    )
    comparison = models.ForeignKey(
        Comparison, null=True, blank=True, on_delete=models.CASCADE, related_name="disputes"
    )
    unit = models.ForeignKey(Unit, null=True, blank=True, on_delete=models.CASCADE, related_name="disputes")
    claim = models.ForeignKey(Claim, null=True, blank=True, on_delete=models.CASCADE, related_name="disputes")
    summary = models.ForeignKey(
        Summary, null=True, blank=True, on_delete=models.CASCADE, related_name="disputes"
    )
    criterion = models.ForeignKey(
        Criterion, null=True, blank=True, on_delete=models.CASCADE, related_name="disputes"
    )
    state = models.CharField(max_length=7, choices=State, default=State.OPEN)
    spread = models.FloatField(
        help_text=f"Largest less smallest answer: {LABEL_VALUES_IN_WORDS}; others by their scale."
    )
    answers = models.PositiveIntegerField(help_text="The number of answers.")
    queue_key = models.PositiveBigIntegerField(help_text="Random, for tie-breaks.")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("-spread", "queue_key")
        constraints = (
            models.CheckConstraint(
                name="dispute_of_one_item",
                condition=_only("check_row")
                | _only("comparison", "unit")
                | _only("comparison", "claim")
                | _only("summary", "criterion"),
            ),
            bounded("dispute_spread_0_1", "spread"),
            models.UniqueConstraint(
                fields=("check_row",), condition=Q(check_row__isnull=False), name="dispute_once_per_check"
            ),
            models.UniqueConstraint(
                fields=("comparison", "unit"), condition=Q(unit__isnull=False), name="dispute_once_per_unit"
            ),
            models.UniqueConstraint(
                fields=("comparison", "claim"),
                condition=Q(claim__isnull=False),
                name="dispute_once_per_claim",
            ),
            models.UniqueConstraint(
                fields=("summary", "criterion"),
                condition=Q(summary__isnull=False),
                name="dispute_once_per_rating",
            ),
        )
        indexes = (
            models.Index(fields=("leased_to",), condition=Q(leased_to__isnull=False), name="dispute_leased"),
            models.Index(
                fields=("project", "-spread", "queue_key"), condition=Q(state="open"), name="dispute_open"
            ),
            models.Index(fields=("project", "state", "-id"), name="dispute_by_state"),
        )

    def __str__(self) -> str:
        return f"dispute {self.public_id}"

    @property
    def place(self) -> Check | Comparison | Summary:
        """Return the disputed check; for a dispute about a unit, the comparison; about a rating, the summary."""
        place: Check | Comparison | Summary | None = self.check_row or self.comparison or self.summary
        assert place is not None, "the database holds a dispute to one of the three"
        return place

    @property
    def unit_judged(self) -> Unit | Claim:
        """Return the disputed unit, or the claim that replaces it. Use it only for disputes about units."""
        unit: Unit | Claim | None = self.unit or self.claim
        assert unit is not None, "asked of a dispute over a unit, which the database holds to one of the two"
        return unit
