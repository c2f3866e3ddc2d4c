"""A project as one person sees it, with the person's permissions and the navigation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from annotation.core.guidelines import InForce, in_force
from annotation.core.permissions import Verb, project_and_verbs
from annotation.core.refusals import NotFound

if TYPE_CHECKING:
    from django.db.models import Model, QuerySet

    from annotation.models import Project
    from annotation.web.htmx import Request

Row = TypeVar("Row", bound="Model")

GROUPS: tuple[tuple[str, tuple[tuple[str, str, Verb], ...]], ...] = (
    (
        "Work",
        (
            ("My work", "work", Verb.ASSESS),
            ("Review", "review", Verb.REVIEW),
            ("Adjudicate", "adjudicate", Verb.ADJUDICATE),
            ("Assignments", "assignments", Verb.ASSIGN),
        ),
    ),
    (
        "Results",
        (
            ("Leaderboard", "scores", Verb.VIEW_SCORES),
            ("Documents", "document-sets", Verb.VIEW_SCORES),
            ("Judge", "judge", Verb.VIEW_SCORES),
            ("Agreement", "agreement", Verb.VIEW_SCORES),
            ("Watch", "watches", Verb.VIEW_SCORES),
        ),
    ),
    (
        "Data",
        (
            ("Import", "import", Verb.IMPORT),
            ("Texts", "unit-texts", Verb.CHANGE_UNITS),
            ("Runs", "runs", Verb.VIEW_RUNS),
            ("Export", "exports", Verb.EXPORT),
        ),
    ),
    (
        "Settings",
        (
            ("Project", "project-settings", Verb.CHANGE_PROJECT),
            ("Judges", "judges", Verb.VIEW_RUNS),
            ("Guidelines and criteria", "guidelines", Verb.VIEW_PROJECT),
            ("People", "people", Verb.MANAGE_MEMBERS),
            ("Log", "log", Verb.VIEW_EVENTS),
        ),
    ),
)
"""The pages of a project by group: displayed name, URL name, and the verb that opens the page.

The overview comes before these pages and is not included.
"""


@dataclass(frozen=True, slots=True)
class Door:
    name: str
    url_name: str
    is_here: bool


@dataclass(frozen=True, slots=True)
class Group:
    """A group of pages that the person may open."""

    name: str
    doors: list[Door]

    @property
    def is_here(self) -> bool:
        return any(door.is_here for door in self.doors)


@dataclass(frozen=True, slots=True)
class Room:
    """A project with the person's current permissions and the current page."""

    project: Project
    verbs: frozenset[Verb]
    here: str

    @property
    def groups(self) -> list[Group]:
        groups = (
            Group(
                name,
                [Door(words, url, url == self.here) for words, url, verb in doors if verb in self.verbs],
            )
            for name, doors in GROUPS
        )
        return [group for group in groups if group.doors]

    @property
    def guidelines(self) -> InForce | None:
        """Return the current guidelines; None if there are none."""
        return in_force(self.project)

    @property
    def may(self) -> dict[str, bool]:
        """Return the permissions for templates, such as `room.may.view_scores`."""
        return {verb.name.lower(): verb in self.verbs for verb in Verb}


def enter(request: Request, slug: str, verb: Verb, *, here: str) -> Room:
    """Return the room of the project with this slug if the person may carry out the verb. Raises the errors of
    `project_for`.
    """
    project, verbs = project_and_verbs(request.user, slug, verb)
    return Room(project=project, verbs=verbs, here=here)


def found(rows: QuerySet[Row], public_id: str, what: str) -> Row:
    """Return the row with this public id among `rows`. Raises NotFound; `what` names the kind of row in its message."""
    row = rows.filter(public_id=public_id).first()
    if row is None:
        raise NotFound(f"There is no such {what} in this project.")
    return row
