"""What there is in the projects of a person, and in one project."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db.models import Count, Exists, OuterRef, Q

from annotation.adjudicating.queries.disputes import DisputeFilter, left_in
from annotation.assessing.queries.assignments import queue_offer
from annotation.core.permissions import Standing, Verb, visible_projects
from annotation.models import (
    Assignment,
    Check,
    Claim,
    Comparison,
    Document,
    DocumentSet,
    Draw,
    Membership,
    Project,
    Role,
    Run,
    Sitting,
    Summary,
    System,
)
from annotation.sampling.queries.check_samples import CheckSample, open_samples
from annotation.scoring.own_answers import where_some_wait

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.db.models import QuerySet


@dataclass(frozen=True, slots=True)
class ProjectCard:
    """A project in the list: what it holds and what waits in it for this person.

    `open_summaries` are theirs to judge; `has_disputes` tells that some wait to be settled by them, `has_claims`
    that claims wait for a reviewer. `runs` counts the runs that there were, `active_runs` those under way; `verbs` is
    what they may do there now.
    """

    project: Project
    roles: tuple[str, ...]
    document_sets: int
    peer_summaries: int
    open_summaries: int
    has_disputes: bool
    has_claims: bool
    runs: int
    active_runs: int
    verbs: frozenset[Verb]


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
    """Checks by who has answered them; `unscored` have no usable answer of anybody.

    What a reviewer answered or an adjudicator decided, `by_people`, is what stands.
    """

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


@dataclass(frozen=True, slots=True)
class Waits:
    """What waits for a person beside the work that is in their hands.

    `disputes` are those that they could settle, counted no further than 100 (`is_counted_out` where that is all);
    `sets_in_queue` those that they could take; `draws` those of checks that lack answers. `lacks_sample` tells that
    they may take a random sample of checks and nobody has.
    """

    disputes: int = 0
    is_counted_out: bool = True
    sets_in_queue: int = 0
    draws: tuple[CheckSample, ...] = ()
    lacks_sample: bool = False


def project_cards(person: User) -> list[ProjectCard]:
    """The projects that the person is a member of, in order of their names. Eight queries, however many."""
    projects = list(visible_projects(person).filter(archived_at__isnull=True).order_by("name", "pk"))
    keys = [project.pk for project in projects]
    roles = {
        membership.project_id: membership.roles
        for membership in Membership.objects.filter(user=person, project_id__in=keys)
    }
    sets = dict(
        DocumentSet.objects.filter(project_id__in=keys).values_list("project_id").annotate(Count("pk"))
    )
    peers = dict(
        Summary.objects.filter(document_set__project_id__in=keys, is_peer=True)
        .values_list("document_set__project_id")
        .annotate(Count("pk"))
        .order_by()
    )
    work = dict(
        _open_assignments()
        .filter(sitting__assessor=person, sitting__document_set__project_id__in=keys)
        .values_list("sitting__document_set__project_id")
        .annotate(Count("pk"))
        .order_by()
    )
    verbs = {key: _verbs(person, roles.get(key, ()), is_blind=key in work) for key in keys}
    disputes = where_some_wait(person, [key for key in keys if Verb.ADJUDICATE in verbs[key]])
    runs = {
        key: (every, active)
        for key, every, active in Run.objects.filter(project_id__in=keys)
        .order_by()
        .values_list("project_id")
        .annotate(every=Count("pk"), active=Count("pk", filter=Q(state=Run.State.ACTIVE)))
    }
    claims = _with_open_claims([key for key in keys if Verb.REVIEW in verbs[key]])
    return [
        ProjectCard(
            project=project,
            roles=tuple(Role(role).label for role in roles.get(project.pk, ())),
            document_sets=sets.get(project.pk, 0),
            peer_summaries=peers.get(project.pk, 0),
            open_summaries=work.get(project.pk, 0),
            has_disputes=project.pk in disputes,
            has_claims=project.pk in claims,
            runs=runs.get(project.pk, (0, 0))[0],
            active_runs=runs.get(project.pk, (0, 0))[1],
            verbs=verbs[project.pk],
        )
        for project in projects
    ]


def contents(project: Project) -> Contents:
    """How much there is of everything in a project."""
    summaries = Summary.objects.filter(document_set__project=project).aggregate(
        models=Count("pk", filter=Q(is_model=True)), peers=Count("pk", filter=Q(is_peer=True))
    )
    peers = Summary.objects.filter(system=OuterRef("pk"), is_peer=True)
    return Contents(
        document_sets=DocumentSet.objects.filter(project=project).count(),
        documents=Document.objects.filter(document_set__project=project).count(),
        systems=System.objects.filter(Exists(peers), project=project).count(),
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
        open=Count("pk", filter=Q(closed_at__isnull=True, unassigned_at__isnull=True)),
        closed=Count("pk", filter=Q(closed_at__isnull=False)),
    )
    own = _open_assignments().filter(sitting__assessor=person, sitting__document_set__project=project)
    return SittingCounts(open=sittings["open"], closed=sittings["closed"], own_open_summaries=own.count())


def waits_for(project: Project, person: User, verbs: Collection[Verb]) -> Waits:
    """What waits in a project for somebody who may do so much there; at most seven queries."""
    disputes, is_counted_out = 0, True
    if Verb.ADJUDICATE in verbs:
        disputes, is_counted_out = left_in(project, person, DisputeFilter())
    offer = queue_offer(project, person) if Verb.ASSESS in verbs else None
    return Waits(
        disputes=disputes,
        is_counted_out=is_counted_out,
        sets_in_queue=offer.sets if offer and offer.in_hand is None else 0,
        draws=tuple(open_samples(project, but=person)) if Verb.REVIEW in verbs else (),
        # Where reviewers are shown the judge's verdict at once, no sample can be taken.
        lacks_sample=Verb.ASSIGN in verbs
        and project.reveal != Project.Reveal.SHOWN
        and not Draw.objects.filter(project=project, item=Draw.Item.CHECK, cancelled_at=None).exists(),
    )


def _verbs(person: User, roles: Iterable[str], *, is_blind: bool) -> frozenset[Verb]:
    held = frozenset(Role) if person.is_superuser else frozenset(Role(role) for role in roles)
    return Standing(roles=held, is_blind=is_blind).verbs


def _with_open_claims(projects: Sequence[int]) -> set[int]:
    """Those of some projects, by key, in which a check waits for a reviewer."""
    waiting = Check.objects.filter(project=OuterRef("pk"), is_current=True, human_label__isnull=True)
    return set(Project.objects.filter(Exists(waiting), pk__in=projects).values_list("pk", flat=True))


def _open_assignments() -> QuerySet[Assignment]:
    return Assignment.objects.filter(sitting__closed_at__isnull=True, sitting__unassigned_at__isnull=True)


def _active_claims(project: Project) -> QuerySet[Claim]:
    return Claim.objects.filter(claim_set__is_active=True).filter(
        Q(claim_set__summary__document_set__project=project) | Q(claim_set__document_set__project=project)
    )
