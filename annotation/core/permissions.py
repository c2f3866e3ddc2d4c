"""Permissions: a table of roles and verbs.

A person with open assessor work in a project is *blind* there, and may use only BLIND_VERBS.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, TypeVar

from django.conf import settings
from django.db.models import Model, QuerySet

from annotation.core.by_hand import Part, rows
from annotation.core.refusals import NotAllowed, NotFound
from annotation.models import Judge, Membership, Project, Role

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from django.contrib.auth.models import AnonymousUser, User

    Person = User | AnonymousUser

Row = TypeVar("Row", bound=Model)

_ROLES = "SELECT roles FROM annotation_membership WHERE project_id = %s AND user_id = %s"

# Written by hand, because most requests need these two columns; tests/bench/answering.py measures it.
_STANDING = """
(SELECT roles FROM annotation_membership WHERE project_id = {project} AND user_id = %(person)s), EXISTS (
    SELECT 1
    FROM annotation_assignment
    JOIN annotation_documentset ON annotation_documentset.id = annotation_assignment.document_set_id
    WHERE annotation_assignment.assessor_id = %(person)s AND annotation_assignment.closed_at IS NULL
      AND annotation_assignment.unassigned_at IS NULL AND annotation_documentset.project_id = {project}
)
"""

# One query loads a project, its deciding judge and the person's permissions, because most requests need them;
# tests/bench/answering.py measures it.
_ENTERED = """
SELECT {standing}, {project}, {judge}{beside}
FROM annotation_project project LEFT JOIN annotation_judge judge ON judge.id = project.deciding_judge_id {join}
WHERE project.slug = %(slug)s AND project.deleted_at IS NULL
"""
_BESIDE = "LEFT JOIN {table} beside ON beside.project_id = project.id AND beside.public_id = %(name)s"


class Verb(StrEnum):
    VIEW_PROJECT = "view project"
    VIEW_SCORES = "view scores"
    VIEW_RUNS = "view runs"
    VIEW_EVENTS = "view events"
    IMPORT = "import"
    RUN = "run"
    ASSIGN = "assign"
    CHANGE_UNITS = "change units"
    EXPORT = "export"
    ASSESS = "assess"
    REVIEW = "review"
    ADJUDICATE = "adjudicate"
    CHANGE_CLAIMS = "change claims"
    COMMENT = "comment"
    CHANGE_PROJECT = "change project"
    SET_KEYS = "set keys"
    MANAGE_MEMBERS = "manage members"
    CLOSE_PROJECT = "archive or delete the project"


_WATCH = frozenset({Verb.VIEW_PROJECT, Verb.VIEW_SCORES, Verb.VIEW_RUNS})
_REVIEW = frozenset({Verb.VIEW_PROJECT, Verb.REVIEW, Verb.CHANGE_CLAIMS, Verb.COMMENT})

ROLE_VERBS: dict[Role, frozenset[Verb]] = {
    Role.OWNER: frozenset(Verb),
    Role.MANAGER: _WATCH
    | {
        Verb.VIEW_EVENTS,
        Verb.IMPORT,
        Verb.CHANGE_UNITS,
        Verb.RUN,
        Verb.ASSIGN,
        Verb.EXPORT,
        Verb.CHANGE_PROJECT,
        Verb.COMMENT,
    },
    Role.ADJUDICATOR: _REVIEW | {Verb.ADJUDICATE},
    Role.REVIEWER: _REVIEW,
    Role.ASSESSOR: frozenset({Verb.VIEW_PROJECT, Verb.ASSESS}),
    Role.VIEWER: _WATCH | {Verb.EXPORT},
}

BLIND_VERBS = frozenset(
    {
        Verb.VIEW_PROJECT,
        Verb.ASSESS,
        Verb.CHANGE_UNITS,
        Verb.RUN,
        Verb.VIEW_RUNS,
        Verb.ASSIGN,
        Verb.CHANGE_PROJECT,
        Verb.SET_KEYS,
        Verb.MANAGE_MEMBERS,
        Verb.CLOSE_PROJECT,
    }
)
"""The verbs that a blind person may still use."""

ARCHIVED_VERBS = frozenset(
    {
        Verb.VIEW_PROJECT,
        Verb.VIEW_SCORES,
        Verb.VIEW_RUNS,
        Verb.VIEW_EVENTS,
        Verb.EXPORT,
        Verb.MANAGE_MEMBERS,
        Verb.CLOSE_PROJECT,
    }
)
"""The verbs that remain open in an archived project."""


READ_CONTENT = (Verb.VIEW_SCORES, Verb.REVIEW)
"""Either of these verbs opens summaries, claims and checks."""


def roles_with(verb: Verb) -> frozenset[Role]:
    return frozenset(role for role, verbs in ROLE_VERBS.items() if verb in verbs)


def verbs_of(roles: Iterable[Role]) -> frozenset[Verb]:
    """Return the verbs that these roles allow together, ignoring blindness."""
    return frozenset[Verb]().union(*(ROLE_VERBS[role] for role in roles))


def visible_projects(person: Person) -> QuerySet[Project]:
    """Select the projects in which the person is a member, or all for a superuser; never deleted projects."""
    if not person.is_authenticated:
        return Project.objects.none()
    if person.is_superuser:
        return Project.objects.all()
    return Project.objects.filter(memberships__user=person)


def deleted_projects(person: Person) -> QuerySet[Project]:
    """Select the deleted projects that the person may restore: the person's own, or all for a superuser."""
    deleted = Project.all_projects.filter(deleted_at__isnull=False)
    if not person.is_authenticated:
        return deleted.none()
    if person.is_superuser:
        return deleted
    keys = [
        membership.project_id
        for membership in Membership.objects.filter(user=person, project__in=deleted)
        if Role.OWNER in membership.role_set
    ]
    return deleted.filter(pk__in=keys)


def may_create_projects(person: Person | None) -> bool:
    """Return True if the person may create projects: staff, or everybody if the operator allows it.

    `person` is None for the operator at the server's shell, as in `require`.
    """
    if person is None:
        return True
    return person.is_authenticated and (
        person.is_staff or person.is_superuser or settings.COVERDICT_NEW_PROJECTS == "everybody"
    )


def roles_in(person: Person, project: Project) -> frozenset[Role]:
    """Load the person's roles in a project: all roles for a superuser, none for a person who is no member."""
    if not person.is_authenticated:
        return frozenset()
    if person.is_superuser:
        return frozenset(Role)
    found = rows(_ROLES, [project.pk, person.pk])
    return frozenset(Role(role) for (roles,) in found for role in json.loads(roles))


def verbs_there(standing: Standing, project: Project) -> frozenset[Verb]:
    """Return the verbs that a standing allows in the project; an archived project allows fewer."""
    return standing.verbs if project.archived_at is None else standing.verbs & ARCHIVED_VERBS


def has_sight(person: Person, project: Project) -> bool:
    """Return True if the person's roles let them see others' answers when they are not blind."""
    return bool(verbs_of(roles_in(person, project)) - BLIND_VERBS - {Verb.COMMENT})


@dataclass(frozen=True, slots=True)
class Standing:
    """A person's current roles in a project. `is_blind` is True if they have open assessor work there."""

    roles: frozenset[Role]
    is_blind: bool

    @property
    def verbs(self) -> frozenset[Verb]:
        """Return the allowed verbs. While the person is blind, these are only the BLIND_VERBS of their roles."""
        allowed = verbs_of(self.roles)
        return allowed & BLIND_VERBS if self.is_blind else allowed


def standing_in(person: Person, project: Project) -> Standing:
    """Load the person's roles and blindness in a project."""
    if not person.is_authenticated:
        return Standing(roles=frozenset(), is_blind=False)
    [found] = rows(f"SELECT {STANDING}", standing_values(person, project))
    return _standing(person, *found)


def standing_values(person: Person, project: Project) -> dict[str, int | None]:
    """Return the query parameters of `STANDING`."""
    return {"person": person.pk, "project": project.pk}


def _standing(person: Person, roles: str | None, is_blind_now: bool) -> Standing:
    if person.is_authenticated and person.is_superuser:
        return Standing(roles=frozenset(Role), is_blind=bool(is_blind_now))
    held = frozenset(Role(role) for role in json.loads(roles or "[]"))
    return Standing(roles=held, is_blind=bool(is_blind_now))


STANDING = _STANDING.format(project="%(project)s")
"""The SQL of two columns, roles and blindness, for other statements. `require_as_read` takes their values."""

_PROJECT, _JUDGE = Part(Project, "project"), Part(Judge, "judge")


def is_blind(person: Person, project: Project) -> bool:
    """Return True if the person has open assessor work in the project."""
    return standing_in(person, project).is_blind


def verbs_in(person: Person, project: Project) -> frozenset[Verb]:
    """Load the verbs that the person may carry out in the project now, considering blindness and archiving."""
    return verbs_there(standing_in(person, project), project)


def require(person: Person | None, project: Project, verb: Verb) -> None:
    """Raise an error unless the person may carry out the verb in the project.

    `person` is None for the operator at the server's shell, who may do everything. Raises NotFound if the person has no
    role in the project. Raises NotAllowed if the person lacks the verb (code `not_allowed`) or is blind (code `blind`),
    and if the project is archived (code `archived`).
    """
    if person is not None:
        _require(standing_in(person, project), project, verb)


def require_as_read(
    person: Person, project: Project, verb: Verb, roles: str | None, is_blind_now: bool
) -> None:
    """Raise the errors of `require`, from values that a statement has read with `STANDING`."""
    _require(_standing(person, roles, is_blind_now), project, verb)


def _require(standing: Standing, project: Project, verb: Verb) -> None:
    if not standing.roles:
        raise NotFound("There is no such project.")
    if verb not in verbs_of(standing.roles):
        able = [f"{role}s" for role in Role if role in roles_with(verb)]
        who = " and ".join(filter(None, (", ".join(able[:-1]), able[-1])))
        raise NotAllowed(f"Only {who} of {project.name} may do this ({verb}).")
    if verb not in BLIND_VERBS and standing.is_blind:
        raise NotAllowed(
            f"You have open assessor work in {project.name}, so this stays closed until you have "
            "closed your document sets: it would show you what others and the judge said.",
            code="blind",
        )
    if verb not in ARCHIVED_VERBS and project.archived_at is not None:
        raise NotAllowed(
            f"{project.name} is archived: it can be read, and nothing in it changes. An owner can open it again.",
            code="archived",
        )


def project_for(person: Person, slug: str, verb: Verb) -> Project:
    """Return the project with this slug if the person may carry out the verb.

    Raises NotFound if there is no such project or the person has no role in it, and NotAllowed as `require` does.
    """
    return project_and_verbs(person, slug, verb)[0]


def project_and_verbs(person: Person, slug: str, verb: Verb) -> tuple[Project, frozenset[Verb]]:
    """Return the project and the person's verbs in it. Raises the errors of `project_for`."""
    project, verbs, _ = _entered(person, slug, verb)
    return project, verbs


def project_verbs_and(
    person: Person, slug: str, verb: Verb, beside: Part[Row], name: str
) -> tuple[Project, frozenset[Verb], Row | None]:
    """Return the project, the person's verbs, and a further row of the project, which is None if it does not exist.

    `beside` has the columns of the further row, with the table alias `beside`; `name` is the row's public id. Raises
    the errors of `project_for`.
    """
    join = _BESIDE.format(table=beside.table)
    project, verbs, values = _entered(person, slug, verb, f", {beside.columns}", join, name=name)
    row = beside.read(values)
    return project, verbs, row if row.pk else None


def _entered(
    person: Person, slug: str, verb: Verb, beside: str = "", join: str = "", **more: str
) -> tuple[Project, frozenset[Verb], Iterator[object]]:
    statement = _ENTERED.format(
        standing=_STANDING.format(project="project.id"),
        project=_PROJECT.columns,
        judge=_JUDGE.columns,
        beside=beside,
        join=join,
    )
    found = rows(statement, {"person": person.pk, "slug": slug, **more})
    if not found:
        raise NotFound("There is no such project.")
    roles, is_blind_now, *columns = found[0]
    values = iter(columns)
    project = _PROJECT.read(values)
    # Read the judge's values even if there is no judge, because the iterator must move on to the further columns.
    judge = _JUDGE.read(values)
    project.deciding_judge = judge if project.deciding_judge_id else None
    standing = _standing(person, roles, is_blind_now)
    _require(standing, project, verb)
    return project, verbs_there(standing, project), values
