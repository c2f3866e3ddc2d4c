"""What there is in the projects of a person, and in one project."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db.models import Count, Q

from annotation.models import (
    Assignment,
    Check,
    Claim,
    Comparison,
    Document,
    DocumentSet,
    Membership,
    Project,
    Role,
    Sitting,
    Summary,
    System,
)
from annotation.permissions import visible_projects

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.db.models import QuerySet


@dataclass(frozen=True, slots=True)
class ProjectCard:
    """A project in the list: what it holds and what waits in it for this person."""

    project: Project
    roles: tuple[str, ...]
    document_sets: int
    peer_summaries: int
    open_summaries: int


@dataclass(frozen=True, slots=True)
class Contents:
    document_sets: int
    documents: int
    systems: int
    model_summaries: int
    peer_summaries: int
    comparisons: int
    claims: int


@dataclass(frozen=True, slots=True)
class CheckCounts:
    """Checks by who has answered them; `unscored` have no usable answer of anybody."""

    total: int
    by_judge: int
    by_people: int
    disputed: int
    unscored: int

    @property
    def share_by_people(self) -> float | None:
        return self.by_people / self.total if self.total else None

    @property
    def waiting(self) -> int:
        return self.total - self.by_people


@dataclass(frozen=True, slots=True)
class SittingCounts:
    """Assessor work in the project: sittings that are open and closed, and the person's own open summaries."""

    open: int
    closed: int
    own_open_summaries: int


def project_cards(person: User) -> list[ProjectCard]:
    """The projects that the person is a member of, in order of their names. Five queries, however many."""
    projects = list(visible_projects(person).order_by("name", "pk"))
    keys = [project.pk for project in projects]
    roles = {
        membership.project_id: tuple(Role(role).label for role in membership.roles)
        for membership in Membership.objects.filter(user=person, project_id__in=keys)
    }
    sets = _counts(
        DocumentSet.objects.filter(project_id__in=keys).values_list("project_id").annotate(Count("pk"))
    )
    peers = _counts(
        Summary.objects.filter(document_set__project_id__in=keys, is_peer=True)
        .values_list("document_set__project_id")
        .annotate(Count("pk"))
        .order_by()
    )
    work = _counts(
        _open_assignments()
        .filter(sitting__assessor=person, sitting__document_set__project_id__in=keys)
        .values_list("sitting__document_set__project_id")
        .annotate(Count("pk"))
        .order_by()
    )
    return [
        ProjectCard(
            project=project,
            roles=roles.get(project.pk, ()),
            document_sets=sets.get(project.pk, 0),
            peer_summaries=peers.get(project.pk, 0),
            open_summaries=work.get(project.pk, 0),
        )
        for project in projects
    ]


def contents(project: Project) -> Contents:
    """How much there is of everything in a project."""
    summaries = Summary.objects.filter(document_set__project=project).aggregate(
        models=Count("pk", filter=Q(is_model=True)), peers=Count("pk", filter=Q(is_peer=True))
    )
    return Contents(
        document_sets=DocumentSet.objects.filter(project=project).count(),
        documents=Document.objects.filter(document_set__project=project).count(),
        systems=System.objects.filter(project=project, summaries__is_peer=True).distinct().count(),
        model_summaries=summaries["models"],
        peer_summaries=summaries["peers"],
        comparisons=Comparison.objects.filter(peer__document_set__project=project).count(),
        claims=_active_claims(project).count(),
    )


def check_counts(project: Project) -> CheckCounts:
    """Checks of a project by who has answered them, in one query."""
    counts = Check.objects.filter(project=project, is_current=True).aggregate(
        total=Count("pk"),
        by_judge=Count("pk", filter=Q(judge_label__isnull=False)),
        by_people=Count("pk", filter=Q(human_label__isnull=False)),
        disputed=Count("pk", filter=Q(is_disputed=True)),
        unscored=Count("pk", filter=Q(final_label__isnull=True)),
    )
    return CheckCounts(**counts)


def sitting_counts(project: Project, person: User) -> SittingCounts:
    """Assessor work that is open and closed, in two queries."""
    sittings = Sitting.objects.filter(document_set__project=project).aggregate(
        open=Count("pk", filter=Q(assessor__isnull=False, closed_at__isnull=True, recalled_at__isnull=True)),
        closed=Count("pk", filter=Q(closed_at__isnull=False)),
    )
    own = _open_assignments().filter(sitting__assessor=person, sitting__document_set__project=project)
    return SittingCounts(open=sittings["open"], closed=sittings["closed"], own_open_summaries=own.count())


def _open_assignments() -> QuerySet[Assignment]:
    return Assignment.objects.filter(sitting__closed_at__isnull=True).exclude(state=Assignment.State.RECALLED)


def _active_claims(project: Project) -> QuerySet[Claim]:
    return Claim.objects.filter(claim_set__is_active=True).filter(
        Q(claim_set__summary__document_set__project=project) | Q(claim_set__document_set__project=project)
    )


def _counts(pairs: Iterable[tuple[int, int]]) -> dict[int, int]:
    return dict(pairs)
