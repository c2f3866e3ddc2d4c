"""Make the erasures of the journal again in a database that was restored from a backup."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.contrib.auth.models import User
from django.db import DatabaseError

from annotation.core.refusals import Refusal
from annotation.core.shared.clock import shared_now
from annotation.models import Project, administrators
from annotation.operator_commands import as_typed
from annotation.privacy.erase_person import erase_person
from annotation.privacy.journal import mark_of, noted_erasures
from annotation.privacy.purge_project import purge
from annotation.projects.services.close_project import RESTORABLE

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class ErasuresMade:
    """How many of each kind; `done` is what is erased already or was never there.

    `failures` are lines that could not be repeated, in words. `lacks_administrator` is that the last one was erased.
    """

    people: int = 0
    projects: int = 0
    done: int = 0
    failures: tuple[str, ...] = ()
    lacks_administrator: bool = False

    @property
    def left_to_do(self) -> list[str]:
        """What the operator has to do now, in words."""
        left = []
        if self.failures:
            repeat = as_typed("apply_erasures")
            left = [
                *self.failures,
                f"These erasures are missing. Repeat them before people come back: {repeat}",
            ]
        if self.lacks_administrator:
            left.append(f"No administrator is left. Print a link to make one: {as_typed('setup_link')}")
        return left


def apply_erasures() -> ErasuresMade:
    """Erase again whom and what the journal names and a restored backup holds, as far as each line can be repeated.

    Nobody else is touched: a row of the same key that is another person's has another mark. Raises ValueError where
    the journal cannot be read, before anything is erased.
    """
    made, failures = Counter[str](), []
    for number, line in enumerate(noted_erasures(), start=1):
        try:
            made[_person(line) if line["kind"] == "person" else _project(line)] += 1
        except (Refusal, DatabaseError, OSError) as error:
            failures.append(f"Line {number} of the journal of erasures: {error}")
    lacks = bool(made["people"]) and not administrators().exists()
    return ErasuresMade(**made, failures=tuple(failures), lacks_administrator=lacks)


def _person(line: Mapping[str, Any]) -> str:
    person = User.objects.filter(pk=line["user"]).first()
    if person is None or mark_of(person) != line["mark"]:
        return "done"
    erase_person(person=person, by=None, remove_texts=line["remove_texts"], again=line)
    return "people"


def _project(line: Mapping[str, Any]) -> str:
    project = Project.all_projects.filter(public_id=line["project"]).first()
    if project is None:
        return "done"
    Project.all_projects.filter(pk=project.pk).update(deleted_at=shared_now() - RESTORABLE)
    purge(project)
    return "projects"
