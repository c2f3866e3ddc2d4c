"""Who has which document sets to judge, and how far they are: a manager's view, without systems or judgments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING

from django.contrib.auth.models import User
from django.db.models import Count, Exists, F, OuterRef, Q
from django.utils import timezone

from annotation.assessing.queries.effort import Effort, effort_by_person, effort_by_sitting
from annotation.assessing.queries.waiting import HAS_HAD_IT, stranded
from annotation.core.paging import page_after
from annotation.core.permissions import Verb, roles_with
from annotation.core.refusals import Invalid, NotFound
from annotation.models import (
    Assignment,
    Comparison,
    DocumentSet,
    Membership,
    Role,
    Sitting,
    System,
)

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from annotation.models import Project

SETS_SHOWN = 500
HELD_SHOWN = 100
AUTHORS_SHOWN = 200


class WorkState(StrEnum):
    """What may be listed: work in somebody's hands, in the queue, submitted, taken away; or everything."""

    OPEN = "open"
    WAITING = "waiting"
    CLOSED = "closed"
    RECALLED = "recalled"
    ALL = "all"


@dataclass(frozen=True, slots=True)
class GivenSitting:
    """One assessor on one set, or a set that waits for one.

    `summaries` counts peer summaries, those that come twice once; `judged_units` the units that have a percent,
    `active_ms` the time at work. `judged_units` is None for somebody who has the set open themselves and looks at
    another's: how long a model summary is shows only after the quality questions. `is_own` says that the assessor
    wrote one of the summaries, `went_on` that its work goes on in another sitting.
    """

    sitting_id: str
    assessor: str | None
    document_set: str
    summaries: int
    judged_units: int | None
    active_ms: int
    is_own: bool
    is_pulled: bool
    lease_until: datetime | None
    created_at: datetime
    closed_at: datetime | None
    recalled_at: datetime | None
    recalled_as: str
    went_on: bool

    @property
    def state(self) -> WorkState:
        if self.recalled_at:
            return WorkState.RECALLED
        if self.closed_at:
            return WorkState.CLOSED
        return WorkState.OPEN if self.assessor is not None else WorkState.WAITING

    @property
    def is_changeable(self) -> bool:
        """Whether it may still be taken away or given to somebody else."""
        return self.state in (WorkState.OPEN, WorkState.WAITING)


@dataclass(frozen=True, slots=True)
class SittingPage:
    """Newest first; `after` names the next page, "" at the end."""

    rows: tuple[GivenSitting, ...]
    after: str


@dataclass(frozen=True, slots=True)
class AssignableSet:
    """A document set with comparisons, and how many assessors have it open, closed or could pull it."""

    set_id: str
    name: str
    comparisons: int
    sittings: int


@dataclass(frozen=True, slots=True)
class AssessorLoad:
    """What one person has to do and has done. Sittings, of which `drafts` are open ones that are begun.

    `is_assessor` says that a role of theirs lets them be given sets.
    `hours` is the time at work in all of them, idle time left out, taken away ones included; `units_per_hour` the
    pace in it, None where no time was recorded.
    """

    person: str
    is_assessor: bool
    open: int
    drafts: int
    closed: int
    recalled: int
    judged_units: int
    hours: float
    units_per_hour: float | None


@dataclass(frozen=True, slots=True)
class HeldSitting:
    """A pulled set in somebody's hands; `is_stalled` once nobody has worked at it in time."""

    sitting_id: str
    assessor: str
    document_set: str
    lease_until: datetime
    is_stalled: bool


@dataclass(frozen=True, slots=True)
class SetQueue:
    """What waits to be pulled, and what is held; `lapsed` counts sets that were begun and lost to the lease.

    `stranded` of the waiting sittings nobody is left to pull, on the sets named; `for_authors_alone` only people who
    wrote a summary in the set.
    """

    waiting: int
    waiting_sets: int
    held: tuple[HeldSitting, ...]
    lapsed: int
    stranded: int = 0
    stranded_sets: tuple[str, ...] = ()
    for_authors_alone: int = 0

    @property
    def stalled(self) -> int:
        return sum(row.is_stalled for row in self.held)


@dataclass(frozen=True, slots=True)
class QueueOffer:
    """What the queue has for one person: how many sets, and the pulled one that they must close first."""

    sets: int
    in_hand: str | None


@dataclass(frozen=True, slots=True)
class LapsedSet:
    """A set that a person began and lost to the lease; they may take it up again while it waits."""

    sitting_id: str
    document_set: str
    lapsed_at: datetime


@dataclass(frozen=True, slots=True)
class Author:
    """A system, and the member who wrote its summaries where it is a person."""

    system_id: str
    system: str
    kind: str
    person: str | None


def sittings_of(project: Project, *, state: WorkState = WorkState.ALL, person: str = "") -> QuerySet[Sitting]:
    """The project's sittings in one state, or of one person alone."""
    sittings = Sitting.objects.filter(document_set__project=project)
    if person:
        sittings = sittings.filter(assessor__username=person)
    match state:
        case WorkState.OPEN:
            return sittings.filter(assessor__isnull=False, closed_at__isnull=True, recalled_at__isnull=True)
        case WorkState.WAITING:
            return sittings.filter(assessor__isnull=True, recalled_at__isnull=True)
        case WorkState.CLOSED:
            return sittings.filter(closed_at__isnull=False)
        case WorkState.RECALLED:
            return sittings.filter(recalled_at__isnull=False)
        case WorkState.ALL:
            return sittings


def sitting_page(
    project: Project,
    *,
    viewer: User | None,
    state: WorkState = WorkState.OPEN,
    person: str = "",
    after: str = "",
) -> SittingPage:
    """One page of sittings, the newest first, found by the one it starts after. A fixed number of queries.

    Raises Invalid where that one is not there.
    """
    # Its start is looked up in the project: that sitting may have left the state that is listed.
    shown, after = page_after(
        sittings_of(project, state=state, person=person).select_related("assessor", "document_set"),
        order=("-pk",),
        after=after,
        scope=sittings_of(project),
    )
    return SittingPage(rows=tuple(progress_of(shown, viewer=viewer)), after=after)


def progress_of(sittings: Sequence[Sitting], *, viewer: User | None) -> list[GivenSitting]:
    """How far these sittings are, in their order, as the viewer may know it. Four queries, however many.

    None as the viewer stands for the operator at the machine itself, who may know everything.
    """
    keys = [sitting.pk for sitting in sittings]
    assignments = Assignment.objects.filter(sitting_id__in=keys)
    held = {
        key: (summaries, own, went_on)
        for key, summaries, own, went_on in assignments.values_list("sitting_id")
        .annotate(
            peers=Count("comparison__peer", distinct=True),
            own=Count("pk", filter=Q(is_own_peer=True) | Q(is_own_model=True)),
            went_on=Count("sitting__replaced_by", distinct=True),
        )
        .order_by()
    }
    efforts = effort_by_sitting(Sitting.objects.filter(pk__in=keys))
    judging = _judged_by(viewer, sittings)
    return [
        GivenSitting(
            sitting_id=sitting.public_id,
            assessor=sitting.assessor.username if sitting.assessor else None,
            document_set=sitting.document_set.external_id,
            summaries=held.get(sitting.pk, (0, 0, 0))[0],
            judged_units=(
                None
                if viewer is not None
                and sitting.assessor_id != viewer.pk
                and sitting.document_set_id in judging
                else efforts.get(sitting.pk, Effort()).judged_units
            ),
            active_ms=efforts.get(sitting.pk, Effort()).active_ms,
            is_own=held.get(sitting.pk, (0, 0, 0))[1] > 0,
            is_pulled=sitting.is_pulled,
            lease_until=sitting.lease_until,
            created_at=sitting.created_at,
            closed_at=sitting.closed_at,
            recalled_at=sitting.recalled_at,
            recalled_as=sitting.recalled_as,
            went_on=held.get(sitting.pk, (0, 0, 0))[2] > 0,
        )
        for sitting in sittings
    ]


def _judged_by(viewer: User | None, sittings: Sequence[Sitting]) -> set[int]:
    """The document sets of these sittings that the viewer has open to judge."""
    if viewer is None:
        return set()
    sets = {sitting.document_set_id for sitting in sittings}
    theirs = Sitting.objects.filter(
        document_set__in=sets, assessor=viewer, closed_at__isnull=True, recalled_at__isnull=True
    )
    return set(theirs.values_list("document_set_id", flat=True))


def sitting_counts(project: Project) -> dict[WorkState, int]:
    """How many sittings are in each state, in one query."""
    live = Q(recalled_at__isnull=True)
    counts = Sitting.objects.filter(document_set__project=project).aggregate(
        open=Count("pk", filter=live & Q(assessor__isnull=False, closed_at__isnull=True)),
        waiting=Count("pk", filter=live & Q(assessor__isnull=True)),
        closed=Count("pk", filter=Q(closed_at__isnull=False)),
        recalled=Count("pk", filter=~live),
    )
    return {WorkState(name): count for name, count in counts.items()}


def sitting_in(project: Project, public_id: str) -> Sitting:
    """Anybody's sitting of that public id, for a manager. Raises NotFound."""
    sitting = (
        Sitting.objects.filter(document_set__project=project, public_id=public_id)
        .select_related("document_set__project", "assessor")
        .first()
    )
    if sitting is None:
        raise NotFound("There is no such assignment in this project.")
    return sitting


def member_named(project: Project, username: str, *, field: str) -> User:
    """The member of that name. Raises Invalid, with the `field` that named them."""
    person = User.objects.filter(username=username, memberships__project=project).first()
    if person is None:
        raise Invalid(f"{username or 'Nobody'} is not a member of {project.name}.", field=field)
    return person


def assignable_sets(project: Project) -> list[AssignableSet]:
    """The sets that have something to compare, those with fewest assessors first; no more than 500."""
    compared = dict(
        Comparison.objects.filter(peer__document_set__project=project)
        .values_list("peer__document_set_id")
        .annotate(Count("pk"))
        .order_by()
    )
    live = Count("sittings", filter=Q(sittings__recalled_at__isnull=True))
    sets = (
        DocumentSet.objects.filter(project=project)
        .filter(Exists(Comparison.objects.filter(peer__document_set=OuterRef("pk"))))
        .annotate(assessors=live)
        .order_by("assessors", "external_id")[:SETS_SHOWN]
    )
    return [
        AssignableSet(
            set_id=row.public_id, name=row.external_id, comparisons=compared[row.pk], sittings=row.assessors
        )
        for row in sets
    ]


def assessors_in(project: Project) -> list[str]:
    """The names of those who may be given sets: assessors, then others whose roles let them assess."""
    able = _who_may_assess(project)
    return sorted(able, key=lambda name: (Role.ASSESSOR not in able[name], name))


def loads(project: Project) -> list[AssessorLoad]:
    """Every assessor, and whoever has been given sets, by name. Four queries, however many."""
    able = _who_may_assess(project)
    assessors = {name for name, roles in able.items() if Role.ASSESSOR in roles}
    of_sittings = _sittings_by_person(project)
    efforts = effort_by_person(Sitting.objects.filter(document_set__project=project, assessor__isnull=False))
    rows = []
    for person in sorted(assessors | set(of_sittings)):
        key, counts = of_sittings.get(person, (0, (0, 0, 0, 0)))
        effort = efforts.get(key, Effort())
        rows.append(
            AssessorLoad(
                person,
                person in able,
                *counts,
                judged_units=effort.judged_units,
                hours=effort.hours,
                units_per_hour=effort.units_per_hour,
            )
        )
    return rows


def queue_of(project: Project) -> SetQueue:
    """What waits in the project's queue, who holds what of it, and what waits for nobody. A fixed number of queries."""
    now = timezone.now()
    left_over = stranded(project)
    sittings = Sitting.objects.filter(document_set__project=project)
    waiting = Q(assessor__isnull=True, recalled_at__isnull=True)
    counts = sittings.aggregate(
        waiting=Count("pk", filter=waiting),
        sets=Count("document_set", filter=waiting, distinct=True),
        lapsed=Count("pk", filter=Q(recalled_as=Sitting.Recalled.LAPSED)),
    )
    held = (
        sittings_of(project, state=WorkState.OPEN)
        .filter(is_pulled=True, lease_until__isnull=False)
        .order_by("lease_until", "pk")
        .values_list("public_id", "assessor__username", "document_set__external_id", "lease_until")
    )
    return SetQueue(
        waiting=counts["waiting"],
        waiting_sets=counts["sets"],
        lapsed=counts["lapsed"],
        stranded=len(left_over.sittings),
        stranded_sets=left_over.document_sets,
        for_authors_alone=left_over.for_authors_alone,
        held=tuple(
            HeldSitting(public_id, name, document_set, until, is_stalled=until < now)
            for public_id, name, document_set, until in held[:HELD_SHOWN]
            if until is not None
        ),
    )


def waiting_for(project: Project, person: User) -> QuerySet[Sitting]:
    """What waits in the queue and the person may have: no set that they have, closed, gave back or lost to
    a manager. A set that they lost to the lease they may have again.
    """
    theirs = Sitting.objects.filter(HAS_HAD_IT, assessor=person, document_set=OuterRef("document_set"))
    return sittings_of(project, state=WorkState.WAITING).filter(~Exists(theirs))


def queue_offer(project: Project, person: User) -> QueueOffer:
    """What the queue has for the person at this moment. Two queries."""
    in_hand = (
        sittings_of(project, state=WorkState.OPEN)
        .filter(assessor=person, is_pulled=True)
        .values_list("public_id", flat=True)
        .first()
    )
    sets = waiting_for(project, person).aggregate(n=Count("document_set", distinct=True))["n"]
    return QueueOffer(sets=sets, in_hand=in_hand)


def lapsed_work(project: Project, person: User) -> list[LapsedSet]:
    """The sets that the person began, lost to the lease and may take up again, the newest first."""
    waiting = Sitting.objects.filter(
        document_set=OuterRef("document_set"), assessor__isnull=True, recalled_at__isnull=True
    )
    live = Sitting.objects.filter(
        document_set=OuterRef("document_set"), assessor=person, recalled_at__isnull=True
    )
    lost = sittings_of(project, state=WorkState.RECALLED).filter(
        Exists(waiting), ~Exists(live), assessor=person, recalled_as=Sitting.Recalled.LAPSED
    )
    columns = ("public_id", "document_set__external_id", "recalled_at")
    return [LapsedSet(*row) for row in lost.order_by("-recalled_at").values_list(*columns)]


def authors_in(project: Project) -> list[Author]:
    """The systems that are persons, or whose summaries a member wrote. For people who may know systems."""
    systems = (
        System.objects.filter(project=project)
        .filter(Q(kind=System.Kind.PERSON) | Q(person__isnull=False))
        .order_by("name")
        .values_list("public_id", "name", "kind", "person__username")
    )
    return [Author(*row) for row in systems[:AUTHORS_SHOWN]]


def _who_may_assess(project: Project) -> dict[str, frozenset[Role]]:
    """By name the roles of the members who hold one that lets them assess."""
    members = Membership.objects.filter(project=project).select_related("user")
    able = roles_with(Verb.ASSESS)
    return {member.user.username: member.role_set for member in members if member.role_set & able}


def _sittings_by_person(project: Project) -> Mapping[str, tuple[int, tuple[int, int, int, int]]]:
    """By name the person's key, and their open, begun, closed and recalled ones."""
    is_open = Q(closed_at__isnull=True, recalled_at__isnull=True)
    begun = Assignment.objects.filter(sitting=OuterRef("pk"), state=Assignment.State.DRAFT)
    rows = (
        Sitting.objects.filter(document_set__project=project, assessor__isnull=False)
        .annotate(name=F("assessor__username"), is_begun=Exists(begun))
        .values_list("name", "assessor_id")
        .annotate(
            open=Count("pk", filter=is_open),
            drafts=Count("pk", filter=is_open & Q(is_begun=True)),
            closed=Count("pk", filter=Q(closed_at__isnull=False)),
            recalled=Count("pk", filter=Q(recalled_at__isnull=False)),
        )
        .order_by()
    )
    return {
        name: (key, (opened, drafts, closed, recalled))
        for name, key, opened, drafts, closed, recalled in rows
        if key is not None
    }
