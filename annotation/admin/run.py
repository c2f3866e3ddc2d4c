"""Runs, their jobs and workers, the words that judges are asked with, exports and imports."""

from __future__ import annotations

from collections.abc import Callable

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest

from annotation.admin.reach import may_somewhere, person_of
from annotation.admin.rows import Rows
from annotation.core.permissions import Verb
from annotation.core.refusals import Refusal
from annotation.judging.services.start_run import cancel_run, resume_run
from annotation.models import Export, Import, Job, PromptVersion, Run, Worker


@admin.register(Run)
class RunAdmin(Rows):
    """Runs change by their own verbs alone, offered as actions."""

    project_paths = ("project",)
    view_verbs = (Verb.VIEW_RUNS,)
    list_display = ("public_id", "project", "judge", "state", "started_by", "created_at", "finished_at")
    list_filter = ("state",)
    list_select_related = ("project", "judge", "started_by")
    search_fields = ("public_id__exact", "judge__name", "started_by__username")
    actions = ("cancel", "resume")

    def has_run_permission(self, request: HttpRequest) -> bool:
        """For the actions; the service decides again for each run."""
        return may_somewhere(request, Verb.RUN)

    @admin.action(description="Cancel the selected runs", permissions=["run"])
    def cancel(self, request: HttpRequest, queryset: QuerySet[Run]) -> None:
        self._each(request, queryset, cancel_run, "cancelled")

    @admin.action(description="Resume the selected runs", permissions=["run"])
    def resume(self, request: HttpRequest, queryset: QuerySet[Run]) -> None:
        self._each(request, queryset, resume_run, "resumed")

    def _each(self, request: HttpRequest, runs: QuerySet[Run], verb: Callable[..., Run], done: str) -> None:
        for run in runs.select_related("project", "judge"):
            try:
                verb(run=run, by=person_of(request))
            except Refusal as refusal:
                self.message_user(request, f"{run}: {refusal.message}", messages.ERROR)
            else:
                self.message_user(request, f"{run} is {done}.", messages.SUCCESS)


@admin.register(Job)
class JobAdmin(Rows):
    project_paths = (
        "run__project",
        "export__project",
        "import_row__project",
    )
    view_verbs = (Verb.VIEW_RUNS,)
    list_display = (
        "public_id",
        "run",
        "document_set",
        "export",
        "import_row",
        "state",
        "attempt",
        "done",
        "total",
        "error",
    )
    list_filter = ("state",)
    list_select_related = ("run", "document_set", "export", "import_row")
    search_fields = (
        "public_id__exact",
        "run__public_id__exact",
        "document_set__external_id__exact",
        "request_id__exact",
    )
    exclude = ("token",)  # whoever knows it can end the job in the worker's name


@admin.register(Export)
class ExportAdmin(Rows):
    project_paths = ("project",)
    view_verbs = (Verb.EXPORT,)
    list_display = ("public_id", "project", "level", "format", "named_people", "requested_by", "finished_at")
    list_filter = ("named_people",)
    list_select_related = ("project", "requested_by")
    search_fields = ("public_id__exact", "level", "requested_by__username")


@admin.register(Import)
class ImportAdmin(Rows):
    project_paths = ("project",)
    view_verbs = (Verb.IMPORT,)
    list_display = ("public_id", "project", "dry_run", "sets_written", "sets", "requested_by", "finished_at")
    list_filter = ("dry_run",)
    list_select_related = ("project", "requested_by")
    search_fields = ("public_id__exact", "requested_by__username")


@admin.register(Worker)
class WorkerAdmin(Rows):
    """Workers belong to the machine, not to a project: for superusers."""

    list_display = ("name", "version", "started_at", "seen_at")
    search_fields = ("name",)


@admin.register(PromptVersion)
class PromptVersionAdmin(Rows):
    project_paths = ("project",)
    view_verbs = (Verb.VIEW_RUNS,)
    list_display = ("project", "step", "number", "version", "note", "created_by", "created_at")
    list_filter = ("step",)
    list_select_related = ("project", "created_by")
    search_fields = ("public_id__exact", "step__exact", "version__exact", "created_by__username__exact")
