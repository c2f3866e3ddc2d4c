"""The assignments of a project and their progress."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.contrib.auth.models import User
from django.db.models import Count, Exists, Max, OuterRef, Q

from annotation.core.lists import Choices, Column, Filter, Kind, List, Viewer
from annotation.core.permissions import Verb, roles_with
from annotation.core.refusals import Invalid, NotFound
from annotation.models import Assignment, Comparison, DocumentSet, Membership, Role

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from annotation.models import Project

OPEN = Q(closed_at=None, unassigned_at=None)


IN_STATE = {
    "open": OPEN,
    "closed": Q(closed_at__isnull=False),
    "unassigned": Q(unassigned_at__isnull=False),
    "all": Q(),
}


@dataclass(frozen=True, slots=True)
class AssessorProgress:
    """The progress of one person, in numbers of assignments.

    `is_assessor` is True if the person's roles allow sets to be assigned to them.
    """

    person: str
    is_assessor: bool
    open: int
    closed: int
    last_saved: datetime | None


@dataclass(frozen=True, slots=True)
class QueueOffer:
    """The number of `sets` that the person can take from the queue.

    `in_hand` is the id of the assignment that the person must close or return first; None if there is none.
    """

    sets: int
    in_hand: str | None


@dataclass(frozen=True, slots=True)
class LapsedSet:
    """A set from the queue that a person returned, or whose lease ended."""

    assignment_id: str
    document_set: str
    lapsed_at: datetime


def assignments_of(project: Project) -> QuerySet[Assignment]:
    return Assignment.objects.filter(document_set__project=project).select_related("assessor", "document_set")


def _counted_states(viewer: Viewer) -> list[tuple[str, str]]:
    counts = Assignment.objects.filter(document_set__project=viewer.project).aggregate(
        **{state: Count("pk", filter=condition) for state, condition in IN_STATE.items()}
    )
    return [(state, f"{words} {counts[state]:,}") for state, words in STATES.words]


STATES = Choices("WorkState", [(state, state.capitalize()) for state in IN_STATE])

ASSIGNMENTS = List(
    name="assignments",
    verbs=(Verb.ASSIGN,),
    rows=lambda viewer: assignments_of(viewer.project),
    order=("-pk",),
    title="Assignments",
    empty="No assignments.",
    filters=(
        Filter(
            "state",
            lambda viewer, state: IN_STATE[state],
            choices=STATES,
            options=_counted_states,
            title="State",
            default="open",
        ),
        Filter("assessor", "assessor__username", help="Only this person's assignments."),
    ),
    columns=(
        Column("document_id", "document_set.external_id", head="Document set", order=True, search=True),
        Column("id", "public_id"),
        Column("assessor", "assessor.username", head="Assessor", order=True, search=True),
        Column("created_at", kind=Kind.MOMENT, head="Assigned", order="pk"),
        Column(
            "lease_until",
            kind=Kind.MOMENT,
            nullable=True,
            help="Time at which a set from the queue returns to it if inactive.",
        ),
        Column("closed_at", kind=Kind.MOMENT, nullable=True),
        Column(
            "unassigned_at",
            kind=Kind.MOMENT,
            nullable=True,
            head="State",
            cell="assessing/assignments/_state.html",
        ),
    ),
)


def assignment_in(project: Project, public_id: str) -> Assignment:
    """Return any person's assignment with this public id. Raises NotFound if there is none."""
    assignment = assignments_of(project).filter(public_id=public_id).first()
    if assignment is None:
        raise NotFound("There is no such assignment in this project.")
    assignment.document_set.project = project
    return assignment


def member_named(project: Project, username: str, *, field: str) -> User:
    """Return the member with this username. Raises Invalid (field `field`) if there is no such member."""
    person = User.objects.filter(username=username, memberships__project=project).first()
    if person is None:
        raise Invalid(f"{username or 'Nobody'} is not a member of {project.name}.", field=field)
    return person


def set_named(project: Project, external_id: str) -> DocumentSet:
    """Return the document set with this external id. Raises Invalid if there is no such set."""
    document_set = DocumentSet.objects.filter(project=project, external_id=external_id).first()
    if document_set is None:
        raise Invalid(f"There is no document set {external_id!r}.", field="document_set")
    document_set.project = project
    return document_set


def comparable_sets(project: Project) -> QuerySet[Any]:
    """Select the document sets that have comparisons, annotated with the number of their `assessors`."""
    compared = Comparison.objects.filter(summary__document_set=OuterRef("pk"))
    return DocumentSet.objects.filter(Exists(compared), project=project).annotate(
        assessors=Count("assignments", filter=Q(assignments__unassigned_at=None))
    )


def lacking_sets(project: Project) -> QuerySet[Any]:
    """Select the sets in the queue, which have fewer assessors than the project requires."""
    return comparable_sets(project).filter(assessors__lt=project.assessors_per_set)


def queued_sets(project: Project, person: User) -> QuerySet[Any]:
    """Select the sets in the queue that were never assigned to the person."""
    had = Assignment.objects.filter(assessor=person, document_set=OuterRef("pk"))
    return lacking_sets(project).filter(~Exists(had))


def queue_offer(project: Project, person: User) -> QueueOffer:
    """Load the queue's present offer for this person."""
    in_hand = Assignment.objects.filter(
        OPEN, document_set__project=project, assessor=person, lease_until__isnull=False
    )
    return QueueOffer(
        sets=queued_sets(project, person).count(), in_hand=in_hand.values_list("public_id", flat=True).first()
    )


def lapsed_work(project: Project, person: User) -> list[LapsedSet]:
    """Return the sets that the person may continue, newest first."""
    lost = Assignment.objects.filter(
        document_set__in=lacking_sets(project).values("pk"),
        assessor=person,
        unassigned_at__isnull=False,
        lease_until__isnull=False,
    )
    columns = ("public_id", "document_set__external_id", "unassigned_at")
    return [LapsedSet(*row) for row in lost.order_by("-unassigned_at").values_list(*columns)]


def assessors_in(project: Project) -> list[str]:
    """Return the usernames of people who can get sets: assessors first, then others whose roles include assessing."""
    able = _who_may_assess(project)
    return sorted(able, key=lambda name: (Role.ASSESSOR not in able[name], name))


def assessor_progress(project: Project) -> list[AssessorProgress]:
    """Load the progress of every assessor and of everybody who has or had an assignment, sorted by name."""
    able = _who_may_assess(project)
    rows = (
        Assignment.objects.filter(document_set__project=project)
        .order_by()
        .values_list("assessor__username")
        .annotate(
            open=Count("pk", filter=OPEN),
            closed=Count("pk", filter=Q(closed_at__isnull=False)),
            last_saved=Max("worked_at"),
        )
    )
    counts = {name: (opened, closed, last_saved) for name, opened, closed, last_saved in rows}
    people = {name for name, roles in able.items() if Role.ASSESSOR in roles} | counts.keys()
    return [
        AssessorProgress(person, person in able, *counts.get(person, (0, 0, None)))
        for person in sorted(people)
    ]


def _who_may_assess(project: Project) -> dict[str, frozenset[Role]]:
    members = Membership.objects.filter(project=project).select_related("user")
    able = roles_with(Verb.ASSESS)
    return {member.user.username: member.role_set for member in members if member.role_set & able}
