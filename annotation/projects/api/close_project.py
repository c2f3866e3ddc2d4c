"""An owner archives a project, opens it again, deletes it, and restores it within 30 days."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db.models import Q
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.access import ApiView, PageQuery
from annotation.api.schema import operation
from annotation.core.permissions import Verb, deleted_projects, visible_projects
from annotation.core.refusals import NotFound
from annotation.models import Project
from annotation.projects.api.projects import ProjectRow
from annotation.projects.services import close_project as service


class ClosedProject(ProjectRow):
    archived_at = serializers.DateTimeField(allow_null=True)
    deleted_at = serializers.DateTimeField(allow_null=True)
    removed_at = serializers.SerializerMethodField(
        help_text="When a deleted project is removed for good; until then it can be restored."
    )

    def get_removed_at(self, project: Project) -> datetime | None:
        return project.deleted_at and service.removed_at(project.deleted_at)


class NameAgain(serializers.Serializer[Any]):
    name = serializers.CharField(max_length=120, help_text="The project's name, so that no other is deleted.")


class ProjectArchive(ApiView):
    tag = "projects"

    @operation("archive_project", responses=ClosedProject)
    def post(self, request: Request, slug: str) -> Response:
        """Archive a project: it is read-only and out of lists.

        Needs the verb "archive or delete the project". A conflict (409) says that its summaries are being judged.
        """
        project = self.enter(Verb.CLOSE_PROJECT)
        return Response(ClosedProject(service.archive_project(project=project, by=self.person)).data)


class ProjectUnarchive(ApiView):
    tag = "projects"

    @operation("unarchive_project", responses=ClosedProject)
    def post(self, request: Request, slug: str) -> Response:
        """Open an archived project again.

        Needs the verb "archive or delete the project".
        """
        project = self.enter(Verb.CLOSE_PROJECT)
        return Response(ClosedProject(service.unarchive_project(project=project, by=self.person)).data)


class ProjectDelete(ApiView):
    tag = "projects"

    @operation("delete_project", request=NameAgain, responses=ClosedProject)
    def post(self, request: Request, slug: str) -> Response:
        """Delete a project: nobody sees it, and after 30 days it is removed for good.

        Needs the verb "archive or delete the project". A conflict (409) says that its summaries are being judged.
        """
        project = self.enter(Verb.CLOSE_PROJECT)
        deleted = service.delete_project(project=project, by=self.person, **self.body(NameAgain))
        return Response(ClosedProject(deleted).data)


class ClosedProjects(ApiView):
    tag = "projects"

    @operation("list_closed_projects", parameters=[PageQuery], responses=ClosedProject(many=True))
    def get(self, request: Request) -> Response:
        """List the caller's archived projects, and the deleted ones that they may restore."""
        archived = visible_projects(self.person).filter(archived_at__isnull=False)
        found = Project.all_projects.filter(
            Q(pk__in=archived.values("pk")) | Q(pk__in=deleted_projects(self.person).values("pk"))
        )
        return self.page(found, ClosedProject, query=self.query(PageQuery), order=("slug",))


class ProjectRestore(ApiView):
    tag = "projects"

    @operation("restore_project", responses=ClosedProject)
    def post(self, request: Request, public_id: str) -> Response:
        """Restore a deleted project.

        For its owners. A conflict (409) says that its 30 days are over.
        """
        project = deleted_projects(self.person).filter(public_id=public_id).first()
        if project is None:
            raise NotFound("There is no such deleted project.")
        return Response(ClosedProject(service.restore_project(project=project, by=self.person)).data)
