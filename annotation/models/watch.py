"""Watches of streams of summaries, and their periods."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.utils import timezone

from annotation.models.assignment import Sample
from annotation.models.base import PublicRow
from annotation.models.project import Project
from annotation.models.run import Job, Run
from annotation.models.summary import System

LONGEST = timedelta(days=2 * 366)


def _asked(default: float, least: float, most: float, help_text: str) -> dict[str, Any]:
    limits = (MinValueValidator(least), MaxValueValidator(most))
    return {"default": default, "validators": limits, "help_text": help_text}


def _today() -> date:
    return timezone.now().date()


def _no_report() -> dict[str, object]:
    return {"state": "unknown", "sentence": "", "means": {}, "alarms": []}


def _near(day: date) -> None:
    # Limit the first day, because all periods since then are closed one by one.
    if abs(day - _today()) > LONGEST:
        raise ValidationError("Choose a first day at most two years from today.")


class Watch(PublicRow):
    """A stream of summaries whose scores are compared with those of its first periods.

    `anchors` describes the checks that the judge is asked again: `checks` has the judge's first label by public id, and
    `basis` is the basis of these labels (see `WatchPeriod`). `latest` has the state, sentence and means of the last
    report, and names its alarms.
    """

    class Length(models.TextChoices):
        DAY = "day", "Day"
        WEEK = "week", "Week"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="watches", db_index=False)
    name = models.CharField(max_length=60)
    length = models.CharField("Period", max_length=4, choices=Length, default=Length.WEEK)
    scores = models.JSONField(default=list)
    summaries = models.PositiveIntegerField(
        "Summaries to judge", **_asked(100, 1, 2000, "In each period, at random.")
    )
    checks = models.PositiveIntegerField(
        "Claims for people",
        **_asked(
            100, 0, 2000, "Reviewers answer this many in each period. Enter 0 to watch the judge alone."
        ),
    )
    smallest_drop = models.FloatField(**_asked(0.05, 0, 1, "A smaller drop of a score is never reported."))
    reference_periods = models.PositiveSmallIntegerField(
        "Periods of the reference",
        **_asked(13, 1, 60, "The first periods, with which later ones are compared."),
    )
    starts_on = models.DateField(
        "First day",
        default=_today,
        validators=(_near,),
        help_text="It may be in the past: summaries that are here already then make the reference.",
    )
    yearly_rate = models.FloatField(
        "Chance of a false alarm",
        **_asked(0.05, 0.001, 0.5, "The probability of a false alarm in a year, from 0 to 1."),
    )
    group_by = models.CharField(
        "Compare within",
        max_length=200,
        blank=True,
        help_text="A metadata key such as topic, or language: a changed mix of its values is then no drop.",
    )
    systems = models.ManyToManyField(System, blank=True, related_name="+", help_text="None: all systems.")
    anchors = models.JSONField(default=dict, blank=True)
    latest = models.JSONField(default=_no_report, blank=True)
    job = models.OneToOneField(Job, on_delete=models.CASCADE, related_name="watch")
    archived_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name_plural = "watches"
        ordering = ("project_id", "name")
        constraints = (models.UniqueConstraint(fields=("project", "name"), name="watch_name"),)

    def __str__(self) -> str:
        return self.name

    @property
    def step(self) -> timedelta:
        return timedelta(days=7 if self.length == Watch.Length.WEEK else 1)


class WatchPeriod(PublicRow):
    """A closed period of a watch.

    - `total`: the number of summaries of the watched systems when the period was closed
    - `run`: the run that judges the chosen summaries; null if there is none
    - `sample`: the checks for people; `answers` counts their answers once the sample is complete
    - `basis`: the guidelines, the criteria and the judge's signature; periods of different bases are not compared
    - `values`: by score and document, the numbers of `evaluation.statistics.SampledValue` and the group
    - `asked`: the results of the repeated questions to the judge, in order; `anchor_run`: the run that asks the anchors
      again
    """

    class State(models.TextChoices):
        JUDGING = "judging", "Being judged"
        ANSWERING = "answering", "Waiting for people's answers"
        SETTLED = "settled", "Complete"

    watch = models.ForeignKey(Watch, on_delete=models.CASCADE, related_name="periods", db_index=False)
    start = models.DateTimeField()
    state = models.CharField(max_length=9, choices=State, default=State.JUDGING)
    total = models.PositiveIntegerField(default=0)
    answers = models.PositiveIntegerField(default=0)
    basis = models.CharField(max_length=300, blank=True)
    values = models.JSONField(default=dict, blank=True)
    asked = models.JSONField(default=list, blank=True)
    run = models.ForeignKey(Run, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    anchor_run = models.ForeignKey(Run, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    sample = models.OneToOneField(
        Sample, null=True, blank=True, on_delete=models.SET_NULL, related_name="watch_period"
    )
    settled_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("watch_id", "start")
        constraints = (models.UniqueConstraint(fields=("watch", "start"), name="watch_period_once"),)

    def __str__(self) -> str:
        return f"{self.watch} from {self.start:%Y-%m-%d}"
