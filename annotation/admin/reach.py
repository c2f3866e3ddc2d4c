"""Which projects a person may see in the admin, decided by the same table as everywhere else."""

from __future__ import annotations

from collections.abc import Collection
from typing import cast

from django.contrib.auth.models import User
from django.http import HttpRequest

from annotation.core.permissions import Verb, is_blind, verbs_in, visible_projects
from annotation.models import Project

_KEPT = "_verbs_by_project"


def person_of(request: HttpRequest) -> User:
    """Whoever asks. The admin site lets nobody in who is not signed in."""
    return cast("User", request.user)


def verbs_by_project(request: HttpRequest) -> dict[int, frozenset[Verb]]:
    """What a member may do at this moment in each project of theirs, by its key; asked once a request."""
    kept: dict[int, frozenset[Verb]] | None = getattr(request, _KEPT, None)
    if kept is None:
        person = person_of(request)
        kept = {project.pk: verbs_in(person, project) for project in visible_projects(person)}
        setattr(request, _KEPT, kept)
    return kept


def projects_allowing(request: HttpRequest, verbs: Collection[Verb]) -> list[int]:
    """Keys of the member's projects in which one of the verbs is open to them now."""
    return [key for key, open_verbs in verbs_by_project(request).items() if open_verbs & set(verbs)]


def may_somewhere(request: HttpRequest, *verbs: Verb) -> bool:
    """Whether one of the verbs is open to the person in any project; to superusers every verb is."""
    return person_of(request).is_superuser or bool(projects_allowing(request, verbs))


def is_allowed(request: HttpRequest, project: Project, verb: Verb) -> bool:
    """Whether the person may carry out the verb in the project now."""
    return verb in verbs_in(person_of(request), project)


def blind_projects(request: HttpRequest) -> list[str]:
    """Names of the projects in which the person holds open assessor work."""
    person = person_of(request)
    theirs = Project.objects.filter(document_sets__sittings__assessor=person).distinct()
    return [project.name for project in theirs if is_blind(person, project)]
