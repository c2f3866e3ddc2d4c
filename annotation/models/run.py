"""Runs, exports, imports, jobs and workers."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotation.models.base import PublicRow, current_request_id
from annotation.models.constraints import bounded
from annotation.models.document import DocumentSet
from annotation.models.judge import Judge
from annotation.models.project import Project
from annotation.models.prompt import PromptVersion

MOST_QUESTIONS_MADE = 50
"""The maximum of `Run.n_questions`."""


class Run(PublicRow):
    """A run of a judge over document sets of a project.

    `stop_reason` is the reason for an incomplete run, if any.
    """

    class State(models.TextChoices):
        ACTIVE = "active", "Under way"
        CANCELLED = "cancelled", "Cancelled"
        STOPPED = "stopped", "Stopped"
        FAILED = "failed", "Failed"
        FINISHED = "finished", "Finished"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="runs")
    judge = models.ForeignKey(Judge, on_delete=models.PROTECT, related_name="runs")
    metrics = models.JSONField(default=list)
    n_questions = models.PositiveSmallIntegerField(
        null=True,
        blank=True,
        help_text="The number of questions of each document set: the judge adds the missing ones. If it is "
        "empty, it adds some only to sets without questions.",
    )
    state = models.CharField(max_length=9, choices=State, default=State.ACTIVE)
    stop_reason = models.CharField(max_length=500, blank=True)
    cost = models.FloatField(
        default=0.0,
        help_text="The cost of its calls, at the judge's prices; with a cap also the most that open calls may "
        "cost.",
    )
    max_cost = models.FloatField(
        null=True, blank=True, help_text="The run stops before its calls would cost more; empty for no cap."
    )
    repeat_share = models.FloatField(
        null=True, blank=True, help_text="Share of the summaries that are asked about again; empty for none."
    )
    is_trial = models.BooleanField(
        default=False, help_text="It judges its own summaries only, to measure the judge or for a watch."
    )
    summaries = models.ManyToManyField(
        "annotation.Summary",
        blank=True,
        related_name="+",
        help_text="The texts that a trial judges; empty for other runs.",
    )
    prompt_versions = models.ManyToManyField(
        PromptVersion, blank=True, related_name="runs", help_text="Those of its judges when it started."
    )
    started_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="runs"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("-id",)
        constraints = (
            models.CheckConstraint(name="run_cost_not_negative", condition=Q(cost__gte=0)),
            models.CheckConstraint(
                name="run_max_cost_positive", condition=Q(max_cost__isnull=True) | Q(max_cost__gt=0)
            ),
            bounded("run_repeat_share_0_1", "repeat_share", may_be_empty=True),
            models.CheckConstraint(
                name="run_n_questions_bounded",
                condition=Q(n_questions__isnull=True) | Q(n_questions__lte=MOST_QUESTIONS_MADE),
            ),
        )

    def __str__(self) -> str:
        return f"run {self.public_id}"


class Export(PublicRow):
    """An export of a project's rows to a file, with its manifest."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="exports")
    level = models.CharField(max_length=10)
    format = models.CharField(max_length=8)
    named_people = models.BooleanField(default=False)
    path = models.CharField(max_length=500, blank=True, help_text="The file, below the folder of exports.")
    manifest = models.JSONField(default=dict, blank=True)
    requested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="exports"
    )
    job = models.OneToOneField("annotation.Job", on_delete=models.CASCADE, related_name="export")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("-id",)

    def __str__(self) -> str:
        return f"{self.level} as {self.format}"


class Import(PublicRow):
    """Files to check or import, with the result.

    `report` describes the check or import, and `refusal` the faults of the files.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="imports")
    files = models.JSONField(default=list, help_text="The names of the files, in order.")
    choices = models.JSONField(default=dict, blank=True)
    dry_run = models.BooleanField(default=False, help_text="The files are checked only.")
    report = models.JSONField(null=True, blank=True)
    refusal = models.JSONField(null=True, blank=True)
    requested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="imports"
    )
    job = models.OneToOneField(
        "annotation.Job", null=True, blank=True, on_delete=models.CASCADE, related_name="import_row"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("-id",)

    def __str__(self) -> str:
        return f"import {self.public_id}"


class Job(PublicRow):
    """A piece of background work.

    A job of a run judges one document set. Any other job belongs to the export, import, analysis or watch that refers
    to it. A worker owns a job in the state *working* that has the worker's token and a valid lease.
    """

    class Kind(models.TextChoices):
        RUN = "run", "Runs"
        EXPORT = "export", "Exports"
        IMPORT = "import", "Imports"
        ANALYSIS = "analysis", "Statistics"
        WATCH = "watch", "Watches"

    class State(models.TextChoices):
        WAITING = "waiting", "Waiting"
        WORKING = "working", "Working"
        DONE = "done", "Done"
        FAILED = "failed", "Failed"
        CANCELLED = "cancelled", "Cancelled"

    kind = models.CharField(max_length=8, choices=Kind)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="jobs")
    run = models.ForeignKey(Run, null=True, blank=True, on_delete=models.CASCADE, related_name="jobs")
    document_set = models.ForeignKey(
        DocumentSet, null=True, blank=True, on_delete=models.CASCADE, related_name="jobs"
    )
    state = models.CharField(max_length=9, choices=State, default=State.WAITING)
    token = models.CharField(max_length=32, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)
    attempt = models.PositiveIntegerField(default=0)
    total = models.PositiveIntegerField(
        default=0,
        help_text="Summaries to judge or export, or document sets to import; 0 until the number is known.",
    )
    done = models.PositiveIntegerField(default=0, help_text="The number done; for exports the rows written.")
    unscored = models.PositiveIntegerField(default=0, help_text="Answers of a judge that cannot be used.")
    usable = models.PositiveIntegerField(default=0, help_text="Its other answers.")
    rows_read = models.PositiveIntegerField(default=0)
    error = models.CharField(max_length=1000, blank=True)
    request_id = models.CharField(
        max_length=64,
        blank=True,
        default=current_request_id,
        db_default="",
        help_text="Id of the request that asked for it.",
    )
    queued_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("id",)
        constraints = (
            models.CheckConstraint(
                name="job_of_run_has_set",
                condition=Q(kind="run", run__isnull=False, document_set__isnull=False)
                | (~Q(kind="run") & Q(run__isnull=True, document_set__isnull=True)),
            ),
            models.UniqueConstraint(fields=("run", "document_set"), name="job_once_per_document_set"),
            models.CheckConstraint(
                name="job_working_has_lease",
                condition=~Q(state="working") | (Q(lease_until__isnull=False) & ~Q(token="")),
            ),
        )
        indexes = (models.Index(fields=("state", "lease_until"), name="job_by_state"),)

    def __str__(self) -> str:
        return f"job {self.public_id}"


class Worker(models.Model):
    """A worker process, and the time of its last report."""

    name = models.CharField(max_length=200, unique=True)
    version = models.CharField(
        max_length=40, blank=True, db_default="", help_text="Version of the program that it runs."
    )
    started_at = models.DateTimeField()
    seen_at = models.DateTimeField()

    class Meta:
        ordering = ("name",)

    def __str__(self) -> str:
        return self.name
