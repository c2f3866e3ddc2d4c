"""A project: one evaluation with its own protocol, people and scores."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q, QuerySet

from annotation.models.base import PublicRow
from annotation.models.constraints import bounded
from evaluation.judging import LABEL_VALUES_IN_WORDS
from evaluation.metrics import USUAL_METRICS

MOST_SCALE = 1_000_000
"""The largest factor for summarization."""


class Role(models.TextChoices):
    OWNER = "owner", "Owner"
    MANAGER = "manager", "Manager"
    ADJUDICATOR = "adjudicator", "Adjudicator"
    REVIEWER = "reviewer", "Reviewer"
    ASSESSOR = "assessor", "Assessor"
    VIEWER = "viewer", "Viewer"


class ShownProjects(models.Manager["Project"]):
    """All projects except deleted ones."""

    def get_queryset(self) -> QuerySet[Project]:
        return super().get_queryset().filter(deleted_at__isnull=True)


class Project(PublicRow):
    """Documents, summaries and answers that are scored together by one set of rules."""

    class Blend(models.TextChoices):
        HUMAN_FIRST = "human_first", "Human first"
        WEIGHTED = "weighted", "Weighted"

    class AssessorAverage(models.TextChoices):
        MEAN = "mean", "Mean"
        MEDIAN = "median", "Median"

    class LengthUnit(models.TextChoices):
        WORDS = "words", "Words"
        CHARACTERS = "characters", "Characters"
        BYTES = "bytes", "Bytes"

    class OverLength(models.TextChoices):
        ZERO = "zero", "Brevity is 0 (DUC)"
        TRUNCATE = "truncate", "Cut to the target before judging"

    class PercentScale(models.TextChoices):
        SIX = "six", "0, 20, 40, 60, 80, 100 %"
        FIVES = "fives", "Steps of 5 %"
        FREE = "free", "Any whole percent"

    class Reveal(models.TextChoices):
        AFTER_ANSWER = "after_answer", "After own answer"
        SHOWN = "shown", "Shown"

    class DisputeAnswers(models.TextChoices):
        PEOPLE = "people", "People"
        JUDGE = "judge", "People and the deciding judge"

    class Compares(models.TextChoices):
        REFERENCE = "reference", "Summaries with a reference summary"
        SOURCE = "source", "Summaries with their source alone"
        CLAIMS = "claims", "Summaries whose claims are there already"

    slug = models.SlugField(max_length=60, unique=True)
    name = models.CharField(max_length=120)
    description = models.TextField(blank=True)
    compares = models.CharField(
        "what to compare",
        max_length=9,
        choices=Compares,
        default=Compares.REFERENCE,
        help_text="The content of the project's files; pages choose their suggestions by it.",
    )
    blend = models.CharField(max_length=12, choices=Blend, default=Blend.HUMAN_FIRST)
    blend_human_weight = models.FloatField(
        "weight of people (w)",
        default=0.5,
        help_text="Weight of people's percents if the blend is weighted (0 to 1).",
    )
    assessor_average = models.CharField(
        "average of several assessors", max_length=6, choices=AssessorAverage, default=AssessorAverage.MEAN
    )
    composite_weight = models.FloatField(
        "weight of coverage (a)", default=2 / 3, help_text="a in X = a·coverage + (1 - a)·brevity (0 to 1)."
    )
    own_weights = models.JSONField(
        "weights of the own composite",
        default=dict,
        blank=True,
        help_text='Weights by score or own criterion: {"coverage": 2, "tone": 1}. Empty: no such composite.',
    )
    summarization_threshold = models.FloatField(
        default=0.5, help_text="Summarization passes if the lower of its two parts reaches this (0 to 1)."
    )
    summarization_strict = models.BooleanField(
        "strict summarization", default=False, help_text="Summarization is 1 if both parts are 1, else 0."
    )
    summarization_scale = models.FloatField(
        default=1.0,
        help_text="Summarization is multiplied by this, except in the comparison with the threshold (above 0).",
    )
    least_scored = models.FloatField(
        "least share of scored claims",
        default=0.5,
        help_text="If a smaller share of claims or questions is scored, the scores from them are blank (0 to 1).",
    )
    length_unit = models.CharField(max_length=10, choices=LengthUnit, default=LengthUnit.WORDS)
    target_length = models.PositiveIntegerField(
        "default target length",
        null=True,
        blank=True,
        help_text="For summaries without a target length of their own, in the project's length unit.",
    )
    over_length = models.CharField(
        "summaries over the target length", max_length=8, choices=OverLength, default=OverLength.ZERO
    )
    percent_scale = models.CharField(
        "percent scale of the SEE form", max_length=5, choices=PercentScale, default=PercentScale.SIX
    )
    assessors_per_set = models.PositiveSmallIntegerField(
        "assessors per set from the queue",
        default=0,
        help_text="Assessors take sets themselves until each has this many assessors; 0 for no queue.",
    )
    lease_minutes = models.PositiveIntegerField(
        "lease in minutes",
        default=30,
        help_text="Idle minutes after which a set pulled from the queue returns to it.",
    )
    reveal = models.CharField(
        "reviewers see the judge's verdict", max_length=12, choices=Reveal, default=Reveal.AFTER_ANSWER
    )
    dispute_threshold = models.FloatField(
        "answers differ beyond",
        default=0.2,
        help_text=f"Answers further apart than this go to the adjudicators: {LABEL_VALUES_IN_WORDS}, "
        "100 % is 1 (0 to 1).",
    )
    dispute_answers = models.CharField(
        "whose answers are compared with each other",
        max_length=6,
        choices=DisputeAnswers,
        default=DisputeAnswers.PEOPLE,
        help_text="The answers that are compared with each other for disputes.",
    )
    deciding_judge = models.ForeignKey(
        "annotation.Judge",
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="deciding_in",
        help_text="The judge whose verdicts count if no person has decided.",
    )
    rescore_due_at = models.DateTimeField(
        null=True,
        editable=False,
        help_text="All scores are to be rebuilt since then; empty once they are.",
    )
    archived_at = models.DateTimeField(
        null=True, editable=False, help_text="The project is read-only and out of lists since then."
    )
    deleted_at = models.DateTimeField(
        null=True,
        editable=False,
        help_text="Nobody sees the project since then. It can be restored for 30 days and is then removed for "
        "good.",
    )
    created_at = models.DateTimeField(auto_now_add=True)

    objects = ShownProjects()
    all_projects: models.Manager[Project] = models.Manager()

    class Meta:
        ordering = ("name",)
        constraints = (
            bounded("project_blend_human_weight_0_1", "blend_human_weight"),
            bounded("project_composite_weight_0_1", "composite_weight"),
            bounded("project_dispute_threshold_0_1", "dispute_threshold"),
            bounded("project_summarization_threshold_0_1", "summarization_threshold"),
            bounded("project_least_scored_0_1", "least_scored"),
            models.CheckConstraint(name="project_lease_from_1", condition=Q(lease_minutes__gte=1)),
            models.CheckConstraint(
                name="project_target_from_1",
                condition=Q(target_length__isnull=True) | Q(target_length__gte=1),
            ),
            models.CheckConstraint(
                name="project_summarization_scale_above_0",
                condition=Q(summarization_scale__gt=0, summarization_scale__lte=MOST_SCALE),
            ),
        )

    def __str__(self) -> str:
        return self.name

    @property
    def usual_metrics(self) -> list[str]:
        """Return the metrics that a run has by default.

        The metrics contain "criteria" if judges answer a criterion in force.
        """
        usual = ["coverage"] if self.compares == self.Compares.CLAIMS else list(USUAL_METRICS)
        own = self.criteria.filter(retired_at=None, answered_by__in=("judge", "both")).exclude(scale="share")
        return [*usual, "criteria"] if own.exists() else usual

    @property
    def percent_step(self) -> int:
        """Return the step between the percents that assessors can give."""
        steps: dict[str, int] = {self.PercentScale.SIX: 20, self.PercentScale.FIVES: 5}
        return steps.get(self.percent_scale, 1)


def rule_name(name: str) -> str:
    """Return the displayed name of a rule, from the name of its column."""
    return next(str(field.verbose_name) for field in Project._meta.concrete_fields if field.name == name)


class Membership(PublicRow):
    """A person's roles in a project."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships")
    roles = models.JSONField(default=list, help_text='A list such as ["manager", "reviewer"].')
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("project_id", "user_id")
        constraints = (
            models.UniqueConstraint(fields=("project", "user"), name="membership_once_per_project"),
        )

    def __str__(self) -> str:
        return f"{self.user} in {self.project}"

    @property
    def role_set(self) -> frozenset[Role]:
        return frozenset(Role(role) for role in self.roles)
