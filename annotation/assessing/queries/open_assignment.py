"""What saving an act needs to know of an assignment and its project, at every click of every assessor."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeVar

from django.db import connection, models

from annotation.assessing import sql
from annotation.core import by_hand
from annotation.models import Assignment, DocumentSet, Project

if TYPE_CHECKING:
    from django.contrib.auth.models import User

LoadedRow = TypeVar("LoadedRow", bound=models.Model)

_UNCLOSED = {"closed_at": None, "unassigned_at": None}
_OPEN = {"archived_at": None, "deleted_at": None}


def assignment_for_acts(slug: str, person: User, public_id: str) -> Assignment | None:
    """The person's own assignment, with what saving an act needs of it and its project loaded, in one query.

    A closed or unassigned one, or one of an archived project, takes one more, and comes with everything.
    """
    found = by_hand.rows(sql.OPEN_ASSIGNMENT, [public_id, person.pk, slug])
    if not found:
        own = Assignment.objects.filter(
            assessor=person, document_set__project__slug=slug, public_id=public_id
        )
        own = own.filter(document_set__project__deleted_at__isnull=True)
        return own.select_related("document_set__project").first()
    [row] = found
    of_assignment = dict(zip(sql.ASSIGNMENT, row, strict=False))
    of_project = dict(zip(sql.PROJECT, row[len(sql.ASSIGNMENT) :], strict=True))
    of_assignment |= _UNCLOSED
    of_project |= {"own_questions": json.loads(of_project["own_questions"]), **_OPEN}
    project = _loaded(Project, of_project)
    assignment = _loaded(Assignment, of_assignment)
    assignment.document_set = _loaded(
        DocumentSet, {"id": assignment.document_set_id, "project_id": project.pk}
    )
    assignment.document_set.project = project
    return assignment


def _loaded(kind: type[LoadedRow], values: Mapping[str, object]) -> LoadedRow:
    """A row of which these columns have been read; the others are when they are asked for."""
    names = [field.attname for field in kind._meta.concrete_fields if field.attname in values]
    return kind.from_db(connection.alias, names, [values[name] for name in names])
