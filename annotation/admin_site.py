"""Access to the admin site."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from django.contrib.admin import AdminSite

from annotation.core.permissions import Verb, is_blind, verbs_in, visible_projects

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.http import HttpRequest


class Site(AdminSite):
    """The admin is open to staff: to superusers who are blind in no project, and to those who may adjudicate in a
    project.
    """

    def has_permission(self, request: HttpRequest) -> bool:
        person = cast("User", request.user)
        if not super().has_permission(request):
            return False
        if person.is_superuser:
            return not any(is_blind(person, project) for project in visible_projects(person))
        return bool(adjudicated_projects(person))


def adjudicated_projects(person: User) -> list[int]:
    """Return the keys of the visible projects in which the person may adjudicate."""
    return [
        project.pk for project in visible_projects(person) if Verb.ADJUDICATE in verbs_in(person, project)
    ]
