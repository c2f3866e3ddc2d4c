"""Make the erasures of the journal again in a database that was restored from a backup."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from django.contrib.auth.models import User
from django.utils import timezone

from annotation.models import Project
from annotation.privacy.erase_person import erase_person
from annotation.privacy.journal import mark_of, noted_erasures
from annotation.privacy.purge_project import purge

if TYPE_CHECKING:
    from collections.abc import Mapping


def apply_erasures() -> Mapping[str, int]:
    """Erase again whom and what the journal names and a restored backup holds; how many of each kind.

    `people`, `projects`; `done` is what is erased already or was never there. Nobody else is touched: a row of the same
    key that is another person's has another mark.
    """
    made = Counter[str]()
    for line in noted_erasures():
        made[_person(line) if line["kind"] == "person" else _project(line)] += 1
    return made


def _person(line: Mapping[str, Any]) -> str:
    person = User.objects.filter(pk=line["user"]).first()
    if person is None or mark_of(person) != line["mark"]:
        return "done"
    erase_person(person=person, by=None, remove_texts=line["remove_texts"], pseudonym=line["pseudonym"])
    return "people"


def _project(line: Mapping[str, Any]) -> str:
    project = Project.all_projects.filter(public_id=line["project"]).first()
    if project is None:
        return "done"
    Project.all_projects.filter(pk=project.pk, deleted_at__isnull=True).update(deleted_at=timezone.now())
    purge(project)
    return "projects"
