"""The contents of one project, and the list of a person's projects."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.db.models import Count, Exists, IntegerField, OuterRef, Q, Subquery

from annotation.core.lists import Column, Kind, List
from annotation.core.permissions import Standing, Verb, visible_projects
from annotation.models import (
    Assignment,
    Check,
    Dispute,
    DocumentSet,
    Membership,
    Project,
    Reading,
    Role,
    Summary,
    System,
)
from annotation.models.claim import OF_CLAIMS

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.db.models import QuerySet


CHECKS_COUNTED_UP_TO = 9999
"""The limit for counting checks."""


@dataclass(frozen=True, slots=True)
class ProjectCard:
    """A project in the list, with its size and the work that waits for this person.

    `open_summaries` counts the comparisons in the person's open assignments. `disputes` counts open disputes. `checks`
    counts the checks of claims without a human label, up to CHECKS_COUNTED_UP_TO + 1. `disputes` is 0 for a person who
    may not decide, and `checks` for a person who may not review.
    """

    project: Project
    roles: tuple[str, ...]
    document_sets: int
    summaries: int
    open_summaries: int
    disputes: int
    checks: int


@dataclass(frozen=True, slots=True)
class Contents:
    """The size of a project. `checks` are those of current claims; `answered` are those with a human label."""

    document_sets: int
    systems: int
    summaries: int
    checks: int
    answered: int


def project_cards(person: User) -> list[ProjectCard]:
    """Load the projects of a person that are not archived, ordered by name."""
    projects = list(visible_projects(person).filter(archived_at__isnull=True).order_by("name", "pk"))
    keys = [project.pk for project in projects]
    memberships = Membership.objects.filter(user=person, project_id__in=keys)
    roles = dict(memberships.values_list("project_id", "roles"))
    sets = _counted(DocumentSet.objects.all(), keys)
    summaries = _counted(Summary.objects.filter(is_summary=True), keys, "document_set__project")
    own = _open_readings().filter(assignment__assessor=person)
    work = _counted(own, keys, "assignment__document_set__project")
    verbs = {key: _verbs(person, roles.get(key, ()), is_blind=key in work) for key in keys}
    disputes = Dispute.objects.filter(state=Dispute.State.OPEN)
    disputed = _counted(disputes, [key for key in keys if Verb.ADJUDICATE in verbs[key]])
    waiting = Check.objects.filter(
        OF_CLAIMS, is_current=True, human_label__isnull=True, project=OuterRef("pk")
    )
    capped = Subquery(
        waiting.order_by().values("pk")[: CHECKS_COUNTED_UP_TO + 1],
        output_field=IntegerField(),
        template="(SELECT COUNT(*) FROM (%(subquery)s) AS capped)",
    )
    reviewed = Project.objects.filter(pk__in=[key for key in keys if Verb.REVIEW in verbs[key]])
    unanswered = dict(reviewed.values_list("pk", capped))
    return [
        ProjectCard(
            project=project,
            roles=tuple(Role(role).label for role in roles.get(project.pk, ())),
            document_sets=sets.get(project.pk, 0),
            summaries=summaries.get(project.pk, 0),
            open_summaries=work.get(project.pk, 0),
            disputes=disputed.get(project.pk, 0),
            checks=unanswered.get(project.pk, 0),
        )
        for project in projects
    ]


def contents(project: Project) -> Contents:
    """Count the contents of a project, without checks of closed questions."""
    summaries = Summary.objects.filter(document_set__project=project, is_summary=True)
    checks = Check.objects.filter(OF_CLAIMS, project=project, is_current=True)
    return Contents(
        document_sets=DocumentSet.objects.filter(project=project).count(),
        systems=System.objects.filter(
            Exists(summaries.filter(system=OuterRef("pk"))), project=project
        ).count(),
        summaries=summaries.count(),
        **checks.aggregate(checks=Count("pk"), answered=Count("pk", filter=Q(human_label__isnull=False))),
    )


def open_summaries(project: Project, person: User) -> int:
    """Count the comparisons of a summary with a reference in the person's open assignments, also judged ones."""
    own = _open_readings().filter(assignment__assessor=person)
    return own.filter(assignment__document_set__project=project).count()


def has_assignments(project: Project) -> bool:
    return Assignment.objects.filter(document_set__project=project, unassigned_at=None).exists()


def has_assessors(project: Project) -> bool:
    """Return True if a member has the role of an assessor."""
    members = Membership.objects.filter(project=project)
    return any(Role.ASSESSOR in roles for roles in members.values_list("roles", flat=True))


def open_disputes(project: Project) -> int:
    return Dispute.objects.filter(project=project, state=Dispute.State.OPEN).count()


def _verbs(person: User, roles: Iterable[str], *, is_blind: bool) -> frozenset[Verb]:
    held = frozenset(Role) if person.is_superuser else frozenset(Role(role) for role in roles)
    return Standing(roles=held, is_blind=is_blind).verbs


def _counted(rows: QuerySet[Any], keys: Collection[int], project: str = "project") -> dict[int, int]:
    kept = rows.filter(**{f"{project}__in": keys}).order_by()
    return dict(kept.values_list(project).annotate(Count("pk")))


def _open_readings() -> QuerySet[Reading]:
    return Reading.objects.filter(assignment__closed_at__isnull=True, assignment__unassigned_at__isnull=True)


PROJECTS = List(
    name="projects",
    verbs=(),
    rows=lambda viewer: visible_projects(viewer.person).filter(archived_at=None),
    order=("slug",),
    columns=(
        Column("id", "public_id"),
        Column("slug", order=True),
        Column("name", order=True, search=True),
        Column("description", search=True),
        Column("created_at", kind=Kind.MOMENT, order=True),
    ),
)
