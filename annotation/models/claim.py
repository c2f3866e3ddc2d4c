"""Claims, checks of claims against texts, verdicts and looks."""

from __future__ import annotations

import re
import secrets
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Coalesce

from annotation.models.answer import Answer
from annotation.models.base import Leased, PublicRow
from annotation.models.constraints import bounded, either, has_text, together
from annotation.models.document import DocumentSet
from annotation.models.judge import Judge
from annotation.models.project import Project
from annotation.models.summary import Summary, Unit

if TYPE_CHECKING:
    from django.db.models import QuerySet


QUEUE_KEY_BITS = 62
BY_SET = ("document_set", "side", "of_summary", "-uncertainty", "queue_key")
"""The order of checks by document set."""


def has_number(text: str) -> bool:
    """Return True if a claim contains a digit of any script."""
    return re.search(r"\d", text) is not None


def new_queue_key() -> int:
    """Make a random position in [0, 2^62) for queues."""
    return secrets.randbits(QUEUE_KEY_BITS)


class Label(models.TextChoices):
    """The labels of `evaluation`, with their names on screen."""

    YES = "yes", "Yes"
    NO = "no", "No"
    UNSURE = "unsure", "Unsure"


SIGNS = {Label.YES: "✓", Label.NO: "✕", Label.UNSURE: "?"}
"""The sign beside each label."""
NOT_YES = tuple(label for label in Label if label != Label.YES)
LABEL_LENGTH = max(map(len, Label.values))


class ClaimOrigin(models.TextChoices):
    IMPORTED = "imported", "Imported"
    JUDGE = "judge", "Judge"
    PERSON = "person", "Person"


class ClaimSet(PublicRow):
    """A version of the claims of a text. Only the claims of the active version are checked.

    Closed questions about a document set are claims in sets of kind `questions`.
    """

    class Kind(models.TextChoices):
        CLAIMS = "claims", "Claims"
        QUESTIONS = "questions", "Questions"

    kind = models.CharField(max_length=9, choices=Kind, default=Kind.CLAIMS)
    summary = models.ForeignKey(
        Summary, null=True, blank=True, on_delete=models.CASCADE, related_name="claim_sets"
    )
    document_set = models.ForeignKey(
        DocumentSet, null=True, blank=True, on_delete=models.CASCADE, related_name="claim_sets"
    )
    origin = models.CharField(max_length=8, choices=ClaimOrigin)
    origin_name = models.CharField(max_length=200, help_text="The file, the judge's signature or the person.")
    version = models.PositiveIntegerField(default=1)
    is_active = models.BooleanField(default=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("id",)
        constraints = (
            either("claim_set_of_one_text", "summary", "document_set"),
            models.UniqueConstraint(
                fields=("summary",),
                condition=Q(is_active=True, summary__isnull=False),
                name="claim_set_one_active_per_summary",
            ),
            models.UniqueConstraint(
                fields=("document_set",),
                condition=Q(is_active=True, document_set__isnull=False, kind="claims"),
                name="claim_set_one_active_per_document_set",
            ),
            models.UniqueConstraint(
                fields=("summary", "version"),
                condition=Q(summary__isnull=False),
                name="claim_set_version_of_summary",
            ),
            models.UniqueConstraint(
                fields=("document_set", "version"),
                condition=Q(document_set__isnull=False, kind="claims"),
                name="claim_set_version_of_document_set",
            ),
            models.CheckConstraint(
                name="claim_set_questions_of_documents", condition=Q(kind="claims") | Q(summary__isnull=True)
            ),
        )

    def __str__(self) -> str:
        return f"claims {self.public_id} v{self.version}"


class CurrentClaims(models.Manager["Claim"]):
    """Claims that were not removed, including claims of older claim sets."""

    def get_queryset(self) -> QuerySet[Claim]:
        return super().get_queryset().filter(removed_at__isnull=True)


class Claim(PublicRow):
    """An atomic, checkable statement from a text, or a closed question about a document set.

    A removed claim, or a retired question, keeps its row and verdicts; `objects` does not contain it.
    """

    claim_set = models.ForeignKey(ClaimSet, on_delete=models.CASCADE, related_name="claims")
    unit = models.ForeignKey(Unit, null=True, blank=True, on_delete=models.PROTECT, related_name="claims")
    position = models.PositiveIntegerField()
    text = models.TextField()
    start = models.PositiveIntegerField(null=True, blank=True)
    end = models.PositiveIntegerField(null=True, blank=True)
    weight = models.FloatField(default=1.0)
    origin = models.CharField(max_length=8, choices=ClaimOrigin)
    removed_at = models.DateTimeField(null=True, blank=True)

    objects = CurrentClaims()
    all_claims: models.Manager[Claim] = models.Manager()

    class Meta:
        ordering = ("claim_set_id", "position")
        constraints = (
            models.UniqueConstraint(
                fields=("claim_set", "position"),
                condition=Q(removed_at__isnull=True),
                name="claim_position_once",
            ),
            models.CheckConstraint(name="claim_weight_positive", condition=Q(weight__gt=0)),
            has_text("claim_has_text"),
            models.CheckConstraint(
                name="claim_offsets_both_or_none",
                condition=Q(start__isnull=True, end__isnull=True)
                | Q(start__isnull=False, end__isnull=False, end__gt=F("start")),
            ),
        )

    def __str__(self) -> str:
        return self.text[:80]


QUESTIONS = Q(claim_set__kind=ClaimSet.Kind.QUESTIONS)
"""Claims that are closed questions."""
CHANGED_BY_PEOPLE = Q(removed_at__isnull=False) | Q(origin=ClaimOrigin.PERSON)
"""Claims that were removed, or that a person wrote."""

DISPUTED = Q(is_disputed=True)
AGAINST_JUDGE = Q(is_current=True, human_label__isnull=False, judge_label__isnull=False) & ~Q(
    human_label=F("judge_label")
)


class Check(PublicRow, Leased):
    """The question whether a text expresses or supports a claim.

    - Reference side: a claim of the reference (of the documents if there is no reference) is compared with the summary.
    - Summary side: a claim of the summary is compared with its source documents.
    - Question side: a closed question is answered from the summary alone. Without a `summary` it is answered from the
      source documents, and the answer can change the scores of all summaries of the set.

    `summary` is the summary whose score the answer can change. The columns from `judge_label` to `impact` are derived.
    """

    class Side(models.TextChoices):
        REFERENCE = "reference", "Reference"
        SUMMARY = "summary", "Summary"
        QUESTION = "question", "Question"

    class Decider(models.TextChoices):
        ADJUDICATOR = "adjudicator", "Adjudicator"
        REVIEWER = "reviewer", "Reviewer"
        RULE = "rule", "Rule"
        JUDGE = "judge", "Judge"

    # Other indexes begin with these two columns.
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="checks", db_index=False)
    claim = models.ForeignKey(Claim, on_delete=models.CASCADE, related_name="checks", db_index=False)
    summary = models.ForeignKey(
        Summary, null=True, blank=True, on_delete=models.CASCADE, related_name="checks"
    )
    # The column repeats the summary's set, because an index of the queues covers only one table.
    document_set = models.ForeignKey(
        DocumentSet, on_delete=models.DO_NOTHING, related_name="checks", db_constraint=False, db_index=False
    )
    side = models.CharField(max_length=9, choices=Side)
    is_current = models.BooleanField(default=True, help_text="Its claim is in the active claims of its text.")
    has_number = models.BooleanField(default=False, help_text="The claim contains a number.")
    judge_label = models.CharField(max_length=LABEL_LENGTH, choices=Label, null=True, blank=True)
    judge_probability = models.FloatField(
        null=True, blank=True, help_text="Probability of yes, by the deciding judge."
    )
    human_label = models.CharField(max_length=LABEL_LENGTH, choices=Label, null=True, blank=True)
    final_label = models.CharField(max_length=LABEL_LENGTH, choices=Label, null=True, blank=True)
    final_source = models.CharField(max_length=11, choices=Decider, null=True, blank=True)
    unscored_reason = models.CharField(max_length=500, blank=True)
    is_disputed = models.BooleanField(default=False)
    uncertainty = models.FloatField(
        default=1.0, help_text="1 if the judge cannot decide, 0 if it is certain."
    )
    impact = models.FloatField(default=0.0, help_text="Change of the summary's coverage if the answer flips.")
    queue_key = models.PositiveBigIntegerField(default=0, help_text="Random, for samples and tie-breaks.")
    of_summary = models.GeneratedField(
        expression=Coalesce("summary", 0),
        output_field=models.BigIntegerField(),
        db_persist=True,
        help_text="The key of `summary`, or 0: an order of lists must not contain null.",
    )

    class Meta:
        ordering = ("id",)
        constraints = (
            models.UniqueConstraint(fields=("claim", "summary"), name="check_once"),
            # The index of this constraint also finds the checks against a set's source.
            models.UniqueConstraint(
                fields=("document_set", "claim"),
                condition=Q(summary__isnull=True),
                name="check_of_source_once",
            ),
            models.CheckConstraint(
                name="check_of_source_is_question", condition=Q(summary__isnull=False) | Q(side="question")
            ),
            models.CheckConstraint(
                name="check_lease_has_person",
                condition=Q(leased_to__isnull=True, lease_until__isnull=True) | Q(lease_until__isnull=False),
            ),
            together("check_final_has_source", "final_label", "final_source"),
            bounded("check_judge_probability_0_1", "judge_probability", may_be_empty=True),
        )
        indexes = (
            models.Index(fields=("leased_to",), condition=Q(leased_to__isnull=False), name="check_leased"),
            models.Index(fields=("project", *BY_SET), name="check_by_set"),
            models.Index(fields=("project", "-uncertainty", "queue_key"), name="check_by_uncertainty"),
            models.Index(fields=("project", "-impact", "queue_key"), name="check_by_impact"),
            models.Index(
                fields=("project", *BY_SET),
                condition=DISPUTED,
                name="check_disputed_by_set",
            ),
            models.Index(
                fields=("project", "-impact", "queue_key"),
                condition=DISPUTED,
                name="check_disputed_by_impact",
            ),
            models.Index(
                fields=("project", "summary", "claim"), condition=DISPUTED, name="check_disputed_by_summary"
            ),
            models.Index(fields=("project", "summary", "queue_key"), name="check_by_summary"),
            # The indexes of waiting checks leave out answered checks.
            models.Index(
                fields=("project", *BY_SET),
                condition=Q(human_label__isnull=True, is_current=True),
                name="check_waits_by_set",
            ),
            models.Index(
                fields=("project", "-uncertainty", "queue_key"),
                condition=Q(human_label__isnull=True, is_current=True),
                name="check_waits_by_uncertainty",
            ),
            models.Index(
                fields=("project", "-impact", "queue_key"),
                condition=Q(human_label__isnull=True, is_current=True),
                name="check_waits_by_impact",
            ),
            models.Index(
                fields=("project", "summary", "claim"),
                condition=Q(human_label__isnull=True, is_current=True),
                name="check_waits_by_summary",
            ),
            models.Index(
                fields=("project", "queue_key"),
                condition=Q(human_label__isnull=False, is_current=True),
                name="check_answered",
            ),
            models.Index(
                fields=("project", *BY_SET),
                condition=Q(human_label__isnull=True, is_current=True, has_number=True),
                name="check_waits_with_number",
            ),
            models.Index(
                fields=("project", *BY_SET),
                condition=AGAINST_JUDGE,
                name="check_against_by_set",
            ),
            models.Index(
                fields=("project", "-impact", "queue_key"),
                condition=AGAINST_JUDGE,
                name="check_against_by_impact",
            ),
            models.Index(
                fields=("project", "summary", "claim"),
                condition=AGAINST_JUDGE,
                name="check_against_by_summary",
            ),
        )

    def __str__(self) -> str:
        return f"check {self.public_id}"

    @property
    def reads_source(self) -> bool:
        """Return True if the source documents decide the check; False if the text of the summary does."""
        return self.side == self.Side.SUMMARY or self.summary_id is None


class Verdict(Answer):
    """The answer of a judge, reviewer, file or adjudicator to a check.

    A null label marks a judge's unusable answer, which does not count as a verdict.
    """

    # The field cannot be named `check`, because every Django model has a class method with this name.
    check_row = models.ForeignKey(Check, on_delete=models.CASCADE, related_name="verdicts")
    judge = models.ForeignKey(Judge, null=True, blank=True, on_delete=models.PROTECT, related_name="verdicts")
    origin_name = models.CharField(
        max_length=200, blank=True, help_text="The source of an imported verdict, or the judge's signature."
    )
    label = models.CharField(max_length=LABEL_LENGTH, choices=Label, null=True, blank=True)
    probability = models.FloatField(
        null=True, blank=True, help_text="Probability of yes, as the judge gave it."
    )
    confidence = models.FloatField(null=True, blank=True, help_text="The person's own confidence, 0 to 1.")
    uncertainty = models.FloatField(
        null=True,
        blank=True,
        help_text="For a panel: the share of its votes that differ from the label; 1 if a repetition changed it.",
    )
    votes = models.JSONField(
        default=list, blank=True, help_text="For a panel, or raters in a file: names and labels."
    )
    repeated = models.CharField(
        max_length=LABEL_LENGTH,
        choices=Label,
        blank=True,
        help_text="The judge's label when it was asked again at the same settings; empty if it was not.",
    )
    run = models.ForeignKey(
        "annotation.Run", null=True, blank=True, on_delete=models.SET_NULL, related_name="verdicts"
    )

    class Meta:
        ordering = ("id",)
        constraints = (
            models.CheckConstraint(
                name="verdict_has_author",
                condition=Q(role="judge", judge__isnull=False, person__isnull=True)
                | (Q(role="reviewer", judge__isnull=True) & (Q(person__isnull=False) | ~Q(origin_name="")))
                | Q(role="adjudicator", judge__isnull=True, person__isnull=False),
            ),
            models.CheckConstraint(
                name="verdict_only_judges_fail",
                condition=Q(label__isnull=False) | Q(role="judge"),
            ),
            bounded("verdict_probability_0_1", "probability", may_be_empty=True),
            bounded("verdict_confidence_0_1", "confidence", may_be_empty=True),
        )

    def __str__(self) -> str:
        return self.label or "unscored"

    @property
    def value(self) -> str | None:
        return self.label

    @property
    def place(self) -> Check:
        return self.check_row

    @property
    def author(self) -> str:
        """Return the name of the judge, the person or the imported source."""
        if self.judge is not None:
            return self.judge.name
        return self.person.get_username() if self.person else self.origin_name


SIDE_SCORES = {Check.Side.REFERENCE: "coverage", Check.Side.SUMMARY: "alignment"}
"""The score to which the answers of a side belong."""
OF_CLAIMS = Q(side__in=tuple(SIDE_SCORES))
"""Checks of claims, without the checks of closed questions."""
SCORE_SIDES = {score: side for side, score in SIDE_SCORES.items()}


class Look(PublicRow):
    """A record that a person saw a check, or a summary with all its units and ratings.

    `revealed_at` is the time at which others' answers were on the screen; null means that they were not.
    """

    check_row = models.ForeignKey(
        Check, null=True, blank=True, on_delete=models.CASCADE, related_name="looks"
    )
    summary = models.ForeignKey(
        Summary, null=True, blank=True, on_delete=models.CASCADE, related_name="looks"
    )
    # This column alone is not indexed: PostgreSQL would use that index to find one look among all looks of a person.
    person = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="looks", db_index=False
    )
    opened_at = models.DateTimeField(auto_now_add=True)
    revealed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("id",)
        constraints = (
            either("look_at_check_or_summary", "check_row", "summary"),
            models.UniqueConstraint(fields=("person", "check_row"), name="look_once_at_check"),
            models.UniqueConstraint(fields=("person", "summary"), name="look_once_at_summary"),
        )

    def __str__(self) -> str:
        return f"{self.person} at {self.check_row or self.summary}"
