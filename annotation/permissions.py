"""Who may do what: one table of role x verb, read by every door and by the tests.

A person outside a project learns nothing of it: every door answers as if it were not there.
A person with open assessor work in a project is blind to it: whatever their other roles, no
verb that shows systems, other people's judgments or a judge's verdicts is open to them until
their document sets are closed.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from django.db.models import Q, QuerySet

from annotation.models import Assignment, Membership, Project, Role
from annotation.refusals import NotAllowed, NotFound

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User

    Person = User | AnonymousUser


class Verb(StrEnum):
    VIEW_PROJECT = "view project"
    VIEW_SCORES = "view scores"
    VIEW_RUNS = "view runs"
    VIEW_EVENTS = "view events"
    IMPORT = "import"
    RUN = "run"
    ASSIGN = "assign"
    NAME_AUTHORS = "name authors"
    VIEW_FLAGS = "view flags"
    REOPEN_UNITS = "reopen units"
    EXPORT = "export"
    ASSESS = "assess"
    REVIEW = "review"
    ADJUDICATE = "adjudicate"
    CHANGE_PROJECT = "change project"
    MANAGE_MEMBERS = "manage members"


_WATCH = frozenset({Verb.VIEW_PROJECT, Verb.VIEW_SCORES, Verb.VIEW_RUNS})

ROLE_VERBS: dict[Role, frozenset[Verb]] = {
    Role.OWNER: frozenset(Verb),
    Role.MANAGER: _WATCH
    | {
        Verb.VIEW_EVENTS,
        Verb.IMPORT,
        Verb.RUN,
        Verb.ASSIGN,
        Verb.NAME_AUTHORS,
        Verb.VIEW_FLAGS,
        Verb.EXPORT,
        Verb.CHANGE_PROJECT,
    },
    Role.ADJUDICATOR: _WATCH | {Verb.REVIEW, Verb.ADJUDICATE, Verb.EXPORT, Verb.VIEW_EVENTS},
    Role.REVIEWER: frozenset({Verb.VIEW_PROJECT, Verb.REVIEW}),
    Role.ASSESSOR: frozenset({Verb.VIEW_PROJECT, Verb.ASSESS}),
    Role.VIEWER: _WATCH | {Verb.EXPORT},
}

BLIND_VERBS = frozenset(
    {
        Verb.VIEW_PROJECT,
        Verb.ASSESS,
        Verb.IMPORT,
        Verb.RUN,
        Verb.VIEW_RUNS,
        Verb.ASSIGN,
        Verb.CHANGE_PROJECT,
        Verb.MANAGE_MEMBERS,
    }
)
"""What stays open to a person with open assessor work."""


def visible_projects(person: Person) -> QuerySet[Project]:
    """The projects that a person is a member of; all of them for a superuser."""
    if not person.is_authenticated:
        return Project.objects.none()
    if person.is_superuser:
        return Project.objects.all()
    return Project.objects.filter(memberships__user=person)


def roles_in(person: Person, project: Project) -> frozenset[Role]:
    """The person's roles in a project; every role for a superuser; none outside of it."""
    if not person.is_authenticated:
        return frozenset()
    if person.is_superuser:
        return frozenset(Role)
    # Asked at every request: the roles alone, and without an order, which would join both tables.
    memberships = Membership.objects.filter(project=project, user=person).order_by()
    return frozenset(Role(role) for roles in memberships.values_list("roles", flat=True) for role in roles)


def is_blind(person: Person, project: Project) -> bool:
    """Whether the person holds assessor work in the project that is not closed yet."""
    if not person.is_authenticated:
        return False
    open_work = Q(sitting__closed_at__isnull=True) & ~Q(state=Assignment.State.RECALLED)
    return Assignment.objects.filter(
        open_work, sitting__assessor=person, sitting__document_set__project=project
    ).exists()


def verbs_in(person: Person, project: Project) -> frozenset[Verb]:
    """What the person may do in the project at this moment, blindness included."""
    roles = roles_in(person, project)
    allowed = frozenset[Verb]().union(*(ROLE_VERBS[role] for role in roles))
    if allowed - BLIND_VERBS and is_blind(person, project):
        return allowed & BLIND_VERBS
    return allowed


def require(person: Person | None, project: Project, verb: Verb) -> None:
    """Refuse unless the person may carry out the verb in the project.

    None stands for the operator at the machine's own shell, who may do everything. Raises NotFound to
    people outside of the project, NotAllowed to members whose roles do not hold the verb (code
    `not_allowed`) or who are blind at this moment (code `blind`).
    """
    if person is None:
        return
    roles = roles_in(person, project)
    if not roles:
        raise NotFound("There is no such project.")
    if not any(verb in ROLE_VERBS[role] for role in roles):
        raise NotAllowed(f"Your roles in {project.name} do not let you {verb}.")
    if verb not in BLIND_VERBS and is_blind(person, project):
        raise NotAllowed(
            f"You have open assessor work in {project.name}, so this stays closed until you have "
            "closed your document sets: it would show you what others and the judge said.",
            code="blind",
        )


def project_for(person: Person, slug: str, verb: Verb) -> Project:
    """The project of that slug, for a person who may carry out the verb in it.

    Raises NotFound where there is none or the person is outside of it; NotAllowed as `require`.
    """
    project = Project.objects.select_related("deciding_judge").filter(slug=slug).first()
    if project is None:
        raise NotFound("There is no such project.")
    require(person, project, verb)
    return project
