"""The current criteria of a project."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from annotation.models import Criterion

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from annotation.models import Project
    from evaluation import metrics


def criteria_in_force(project: Project) -> QuerySet[Criterion]:
    """Return the project's own criteria that are asked, in order.

    Criteria of the scale share are left out.
    """
    asked = Criterion.objects.filter(project=project, retired_at=None).order_by("position", "pk")
    return asked.exclude(scale=Criterion.Scale.SHARE)


def asked_of_people(project: Project) -> QuerySet[Criterion]:
    """Return the criteria that people rate for each summary, in order."""
    return criteria_in_force(project).exclude(answered_by=Criterion.AnsweredBy.JUDGE)


def asked_of_reviewers(project: Project) -> QuerySet[Criterion]:
    """Return the criteria that reviewers answer; those about unmarked units belong to the form of assessors."""
    return asked_of_people(project).exclude(reads=Criterion.Reads.UNMARKED)


def asked_of_judges(project: Project) -> QuerySet[Criterion]:
    """Return the project's own criteria that judges rate for each summary, in order."""
    return criteria_in_force(project).exclude(answered_by=Criterion.AnsweredBy.PEOPLE)


def criterion_of(project: Project, fact: metrics.Criterion) -> Criterion:
    """Return the project's current criterion with the name of `fact`, and create a missing one."""
    return Criterion.objects.get_or_create(
        project=project, name=fact.name, retired_at=None, defaults=asdict(fact)
    )[0]
